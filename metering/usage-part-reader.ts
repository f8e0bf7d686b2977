import { decimal, decimalString, sum } from '../billing/money/money.ts';
import { refuse } from '../billing/refusal.ts';
import { windowBounds, windowSizes } from '../billing/time/window.ts';
import type { Scope } from '../db/scope.ts';
import type { Sql } from '../db/transaction.ts';
import type {
  MeasuredUsage,
  UsageBucketing,
  UsagePart,
  UsagePartQuestion,
  UsagePartReader,
} from '../services/usage-part-reader.ts';
import { knownZone, seriesWindows } from './series.ts';
import type { SeriesWindows } from './series-window.ts';
import { utcInstant } from './timestamp.ts';
import type {
  BreakdownQuestion,
  BreakdownRequest,
  BreakdownRow,
  BucketBreakdownRow,
  PropertyCondition,
} from './usage-breakdown.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * The usage engine as analytics ask it: totals by the function that bills, groups and windows by one more statement, buckets by
 * one for each of their grids, sources by another. Throws `validation_error` for too many windows or groups.
 * spec: catalogue-and-metering §7.5, §7.6
 */
export function usagePartReader(store: UsageStore): UsagePartReader {
  return async (sql, scope, asked, partition) => {
    const { bySource, byProperties, sources, window } = partition;
    const interval = { from: micros(partition.interval.from), to: micros(partition.interval.to) };
    const windowing = window && {
      windowSize: window.size,
      timezone: window.timezone,
      billingAnchor: window.billingAnchor,
    };
    const shared = { bySource, byProperties, sources };
    const whole = asked.filter(({ from, to, bucketing }) => from < to && !bucketing).map(breakdownQuestion);
    // Buckets have points of their own, however small the windows.
    const bucketedOnly = asked.length > 0 && asked.every(({ bucketing }) => bucketing);
    const windows = windowing && !bucketedOnly ? seriesWindows(interval, windowing) : [];
    const request = { ...shared, questions: whole, windows, everyMeasure: false };
    const parts = await wholeParts(store, sql, scope, request);
    const bucketed = asked.filter(({ from, to, bucketing }) => from < to && bucketing);
    for (const own of Map.groupBy(bucketed, ({ bucketing }) => JSON.stringify(bucketing)).values()) {
      const bucketing = own[0]!.bucketing!;
      const questions = own.map(breakdownQuestion);
      const rows = await store.bucketBreakdown(sql, scope, { ...shared, questions, bucketing });
      const pointOf = windowing ? pointFinder(bucketing, windowing, interval) : null;
      for (const [key, part] of bucketParts(rows, pointOf)) parts.set(key, part);
    }
    if (!isGrouped(shared)) for (const { key } of asked) if (!parts.has(key)) parts.set(key, [nothing()]);
    const questions = asked.filter(({ from, to }) => from < to).map(breakdownQuestion);
    if (partition.listSources) await tellSources(store, sql, scope, { ...request, questions }, parts);
    return parts;
  };
}

function isGrouped({ bySource, byProperties }: Pick<BreakdownRequest, 'bySource' | 'byProperties'>): boolean {
  return bySource || byProperties.length > 0;
}

/** Parts of usage that is one quantity. */
async function wholeParts(
  store: UsageStore,
  sql: Sql,
  scope: Scope,
  request: BreakdownRequest,
): Promise<Map<string, UsagePart[]>> {
  const { questions, windows, sources } = request;
  const isTakenApart = isGrouped(request) || windows.length > 0 || sources.length > 0 || hasRepeatedKey(questions);
  const rows = isTakenApart ? await store.breakdown(sql, scope, request) : [];
  if (isGrouped(request)) return groups(rows);
  return totals(questions, rows, await billedTotals(store, sql, scope, request, rows));
}

/** What `store.usage` cannot ask: sources, and two conditions on one property. */
function hasRepeatedKey(questions: readonly BreakdownQuestion[]): boolean {
  return questions.some(({ conditions = [] }) => new Set(conditions.map(({ key }) => key)).size < conditions.length);
}

/**
 * The totals as billing reads them, by question. Left out are those it cannot ask, and those with conditions where `rows` have them:
 * both are added up from the same events, which need not be read twice.
 */
async function billedTotals(
  store: UsageStore,
  sql: Sql,
  scope: Scope,
  request: BreakdownRequest,
  rows: readonly BreakdownRow[],
) {
  if (request.sources.length > 0) return new Map<string, { value: string; eventCount: number }>();
  const known = new Set(rows.map(({ key }) => key));
  const askable = request.questions.filter(
    (question) => !hasRepeatedKey([question]) && !(question.conditions?.length && known.has(question.key)),
  );
  return store.usage(
    sql,
    scope,
    askable.map(({ conditions = [], ...question }) => ({
      ...question,
      ...(conditions.length > 0
        ? { filters: Object.fromEntries(conditions.map(({ key, values }) => [key, values])) }
        : {}),
    })),
  );
}

function totals(
  asked: readonly BreakdownQuestion[],
  rows: readonly BreakdownRow[],
  billed: ReadonlyMap<string, { value: string; eventCount: number }>,
): Map<string, UsagePart[]> {
  const rowsOf = Map.groupBy(rows, ({ key }) => key);
  return new Map(
    asked.map(({ key }) => {
      const own = rowsOf.get(key) ?? [];
      const total = billed.get(key) ?? own.find(({ window }) => window === null);
      const measured = total && { usage: total.value, eventCount: total.eventCount };
      return [key, [{ ...nothing(), ...measured, points: pointsOf(own) }]];
    }),
  );
}

function groups(rows: readonly BreakdownRow[]): Map<string, UsagePart[]> {
  const parts = new Map<string, UsagePart[]>();
  for (const own of Map.groupBy(rows, groupOf).values()) {
    const total = own.find(({ window }) => window === null);
    if (!total) throw new Error('a group has windows and no total');
    const { key, source, properties, value, eventCount } = total;
    const part = { ...nothing(), source, properties, usage: value, eventCount, points: pointsOf(own) };
    parts.set(key, [...(parts.get(key) ?? []), part]);
  }
  return parts;
}

function groupOf({ key, source, properties }: Pick<BreakdownRow, 'key' | 'source' | 'properties'>): string {
  return JSON.stringify([key, source, ...Object.values(properties)]);
}

function pointsOf(rows: readonly BreakdownRow[]): UsagePart['points'] {
  return rows.flatMap(({ window, value, eventCount }) =>
    window === null || eventCount === 0 ? [] : [{ timestamp: window, usage: value, eventCount, buckets: null }],
  );
}

/** A part without usage. */
function nothing(): UsagePart {
  return { source: null, sources: null, properties: {}, usage: '0', eventCount: 0, buckets: null, points: [] };
}

/** Each group's buckets added up, as a whole and by point. Rows are by group, then start. */
function bucketParts(
  rows: readonly BucketBreakdownRow[],
  pointOf: ((start: string) => string | null) | null,
): Map<string, UsagePart[]> {
  const parts = new Map<string, UsagePart[]>();
  for (const own of Map.groupBy(rows, groupOf).values()) {
    const { key, source, properties } = own[0]!;
    const byPoint = pointOf ? Map.groupBy(own, ({ start }) => pointOf(start)) : new Map<null, typeof own>();
    const points = [...byPoint].flatMap(([timestamp, of]) => (timestamp === null ? [] : [{ timestamp, ...added(of) }]));
    parts.set(key, [...(parts.get(key) ?? []), { ...nothing(), source, properties, ...added(own), points }]);
  }
  return parts;
}

function added(rows: readonly BucketBreakdownRow[]): MeasuredUsage {
  return {
    usage: decimalString(sum(rows.map(({ value }) => decimal(value)))),
    eventCount: rows.reduce((count, row) => count + row.eventCount, 0),
    buckets: rows.map(({ start, value }) => ({ start, value })),
  };
}

/**
 * The point a bucket belongs to: itself where windows are not larger, else the window in which its start, clipped to the
 * interval, falls; null for one of a running meter's history. spec: catalogue-and-metering §7.2
 */
function pointFinder(
  bucketing: UsageBucketing,
  windows: SeriesWindows,
  interval: { from: string; to: string },
): (start: string) => string | null {
  const isLarger = windowSizes.indexOf(windows.windowSize) > windowSizes.indexOf(bucketing.size);
  const larger = isLarger ? seriesWindows(interval, windows) : null;
  const timezone = knownZone(bucketing.timezone);
  const first = windowBounds({ ...bucketing, timezone, windowSize: bucketing.size, timestamp: interval.from });
  return (start) => {
    if (micros(start) < micros(first.start)) return null;
    if (!larger) return start;
    const clipped = micros(start) < interval.from ? interval.from : micros(start);
    return larger.findLast(({ from }) => from <= clipped)?.start ?? null;
  };
}

/** Fills in which sources each part has, from one more statement, which groups by them. */
async function tellSources(
  store: UsageStore,
  sql: Sql,
  scope: Scope,
  request: BreakdownRequest,
  parts: Map<string, UsagePart[]>,
): Promise<void> {
  if (request.bySource) {
    for (const part of [...parts.values()].flat()) part.sources = part.source === null ? [] : [part.source];
    return;
  }
  const rows = await store.breakdown(sql, scope, { ...request, windows: [], bySource: true });
  const sourcesOf = Map.groupBy(rows, (row) => groupOf({ ...row, source: null }));
  for (const [key, own] of parts) {
    for (const part of own) {
      const found = sourcesOf.get(JSON.stringify([key, null, ...Object.values(part.properties)])) ?? [];
      part.sources = found.flatMap(({ source }) => source || []);
    }
  }
}

function breakdownQuestion(question: UsagePartQuestion): BreakdownQuestion {
  const { key, meterId, customerIds, from, to, startOfHistory, filters } = question;
  const conditions: PropertyCondition[] = filters.flatMap((filter) =>
    Object.entries(filter).map(([name, values]) => ({ key: name, values })),
  );
  return {
    key,
    meterId,
    ...(customerIds ? { customerIds } : {}),
    from: micros(from),
    to: micros(to),
    ...(startOfHistory ? { startOfHistory: micros(startOfHistory) } : {}),
    conditions,
  };
}

function micros(instant: string): string {
  const text = utcInstant(instant);
  if (text === null) throw refuse('validation_error', `${instant} is no instant`);
  return text;
}
