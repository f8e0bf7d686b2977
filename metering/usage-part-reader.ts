import { refuse } from '../billing/refusal.ts';
import type { Scope } from '../db/scope.ts';
import type { Sql } from '../db/transaction.ts';
import type { UsagePart, UsagePartQuestion, UsagePartReader } from '../db/usage-part-reader.ts';
import { seriesWindows } from './series.ts';
import { utcInstant } from './timestamp.ts';
import type { BreakdownQuestion, BreakdownRequest, BreakdownRow, PropertyCondition } from './usage-breakdown.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * The usage engine as analytics ask it: totals by the function that bills, groups and windows by one more statement, sources
 * by a third. Throws `validation_error` for too many windows or groups. spec: catalogue-and-metering §7.5, §7.6
 */
export function usagePartReader(store: UsageStore): UsagePartReader {
  return async (sql, scope, asked, partition) => {
    const questions = asked.filter(({ from, to }) => from < to).map(breakdownQuestion);
    const { bySource, byProperties, sources, window } = partition;
    const interval = { from: micros(partition.interval.from), to: micros(partition.interval.to) };
    const request: BreakdownRequest = {
      questions,
      windows: window ? seriesWindows(interval, { ...window, windowSize: window.size }) : [],
      bySource,
      byProperties,
      sources,
      everyMeasure: false,
    };
    const isGrouped = bySource || byProperties.length > 0;
    const isTakenApart = isGrouped || window !== null || sources.length > 0 || hasRepeatedKey(questions);
    const rows = isTakenApart ? await store.breakdown(sql, scope, request) : [];
    const parts = isGrouped ? groups(rows) : totals(asked, rows, await billedTotals(store, sql, scope, request));
    if (partition.listSources) await tellSources(store, sql, scope, request, parts);
    return parts;
  };
}

/** What `store.usage` cannot ask: sources, and two conditions on one property. */
function hasRepeatedKey(questions: readonly BreakdownQuestion[]): boolean {
  return questions.some(({ conditions = [] }) => new Set(conditions.map(({ key }) => key)).size < conditions.length);
}

/** The totals as billing reads them, by question; those it cannot ask are left out. */
async function billedTotals(store: UsageStore, sql: Sql, scope: Scope, request: BreakdownRequest) {
  if (request.sources.length > 0) return new Map<string, { value: string; eventCount: number }>();
  const askable = request.questions.filter((question) => !hasRepeatedKey([question]));
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
  asked: readonly UsagePartQuestion[],
  rows: readonly BreakdownRow[],
  billed: ReadonlyMap<string, { value: string; eventCount: number }>,
): Map<string, UsagePart[]> {
  const rowsOf = Map.groupBy(rows, ({ key }) => key);
  return new Map(
    asked.map(({ key }) => {
      const own = rowsOf.get(key) ?? [];
      const total = billed.get(key) ?? own.find(({ window }) => window === null);
      const part = { source: null, sources: null, properties: {}, points: pointsOf(own) };
      return [key, [{ ...part, usage: total?.value ?? '0', eventCount: total?.eventCount ?? 0 }]];
    }),
  );
}

function groups(rows: readonly BreakdownRow[]): Map<string, UsagePart[]> {
  const parts = new Map<string, UsagePart[]>();
  for (const own of Map.groupBy(rows, groupOf).values()) {
    const total = own.find(({ window }) => window === null);
    if (!total) throw new Error('a group has windows and no total');
    const { key, source, properties, value, eventCount } = total;
    const part = { source, sources: null, properties, usage: value, eventCount, points: pointsOf(own) };
    parts.set(key, [...(parts.get(key) ?? []), part]);
  }
  return parts;
}

function groupOf({ key, source, properties }: BreakdownRow): string {
  return JSON.stringify([key, source, ...Object.values(properties)]);
}

function pointsOf(rows: readonly BreakdownRow[]): UsagePart['points'] {
  return rows.flatMap(({ window, value, eventCount }) =>
    window === null || eventCount === 0 ? [] : [{ timestamp: window, usage: value, eventCount }],
  );
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
