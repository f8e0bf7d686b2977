import { refuse } from '../../billing/refusal.ts';
import { type WindowGrid, windowGrid } from '../../billing/time/window.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import type { AggregationType } from '../meter.ts';
import { knownZone } from '../series.ts';
import type {
  BreakdownQuestion,
  BreakdownRequest,
  BreakdownRow,
  BucketBreakdownRequest,
  BucketBreakdownRow,
} from '../usage-breakdown.ts';
import { environmentNumber } from './environment-number.ts';
import { droppedRefusal } from './retention.ts';
import { breakdownText, needsDroppedText } from './text/breakdown-text.ts';
import { bucketBreakdownText } from './text/bucket-breakdown-text.ts';

/** Above it is a clear error, never a group called "other". design: usage.md Reading */
export const maxBreakdownRows = 100_000;
const hourMs = 3_600_000;

/** One group of a question, in one window or whole, as an engine adds it up. */
export interface SummedGroup {
  readonly grp: readonly string[];
  /** Counted from one; null for the whole. */
  readonly win: number | null;
  readonly type: AggregationType;
  readonly multiplier: string | null;
  readonly began: string;
  readonly n: string;
  readonly s: string | null;
  readonly st: string | null;
  readonly mx: string | null;
  readonly latest: string | null;
  readonly distinct_count: string;
}

interface SummedRow extends SummedGroup {
  ord: number;
  [column: string]: unknown;
}

/**
 * The groups and windows of questions that have events, by question, then group by code point, each group's total before its
 * windows. One statement, whatever the number of questions, groups and windows. Throws `validation_error` for more than
 * 100 000 rows. spec: catalogue-and-metering §7.1, §7.2, §7.5, §7.6
 */
export async function readBreakdown(sql: Sql, scope: Scope, request: BreakdownRequest): Promise<BreakdownRow[]> {
  if (request.questions.length === 0) return [];
  const env = await environmentNumber(sql, scope);
  const starts = request.windows.map(({ start }) => start);
  const liesOn = (stepMs: number) => starts.every((start) => Date.parse(start) % stepMs === 0);
  const grid = { starts, fitsHours: liesOn(hourMs), fitsDays: liesOn(24 * hourMs) };
  const values = parameters(env, scope, request, grid);
  await refuseDropped(sql, values);
  const rows = await sql.rows<SummedRow>(breakdownText, values);
  refuseTooMany(rows);
  return rows.flatMap((row) => {
    const question = request.questions[row.ord];
    return question ? [breakdownRow(row, question, request)] : [];
  });
}

/** One bucket of a group as an engine adds it up. */
export interface SummedBucket {
  readonly type: AggregationType;
  readonly start: string;
  readonly n: string;
  readonly s: string;
  readonly mx: string;
}

interface BucketRow extends SummedBucket {
  ord: number;
  grp: string[];
  [column: string]: unknown;
}

/**
 * The buckets of each group of questions, by question, then group, then start. One statement for all questions of one grid.
 * Throws `validation_error` for more than 100 000 rows. spec: catalogue-and-metering §7.1, §7.2, §4.4
 */
export async function readBucketBreakdown(
  sql: Sql,
  scope: Scope,
  request: BucketBreakdownRequest,
): Promise<BucketBreakdownRow[]> {
  const { questions } = request;
  if (questions.length === 0) return [];
  const env = await environmentNumber(sql, scope);
  const { segments, stepMs } = breakdownGrid(request);
  const fits = [stepMs ?? 0, ...segments.flatMap(({ from, origin }) => [from, origin])].every(
    (at) => at % hourMs === 0,
  );
  const starts = segments.map(({ from }) => new Date(from).toISOString());
  const grid = { starts, fitsHours: fits, fitsDays: false };
  const values = parameters(env, scope, { ...request, everyMeasure: false }, grid);
  await refuseDropped(sql, values);
  const rows = await sql.rows<BucketRow>(bucketBreakdownText, [
    ...values,
    segments.map(({ origin }) => new Date(origin).toISOString()),
    stepMs === null ? null : `${stepMs} milliseconds`,
  ]);
  refuseTooMany(rows);
  return rows.flatMap((row) => {
    const question = questions[row.ord];
    return question ? [{ key: question.key, ...groupOf(row.grp, request), ...bucketOf(row) }] : [];
  });
}

/** The grid of the buckets of all questions. */
export function breakdownGrid({ questions, bucketing }: BucketBreakdownRequest): WindowGrid {
  const interval = {
    start: questions.map(({ from, startOfHistory }) => startOfHistory ?? from).reduce((a, b) => (a < b ? a : b)),
    end: questions.map(({ to }) => to).reduce((a, b) => (a > b ? a : b)),
  };
  const timezone = knownZone(bucketing.timezone);
  return windowGrid(interval, { ...bucketing, timezone, windowSize: bucketing.size }, maxBreakdownRows);
}

/** The value of a bucket. */
export function bucketOf({ type, start, n, s, mx }: SummedBucket) {
  const sums = { count: Number(n), sum: s, weightedSum: null, greatest: mx, latest: null, distinctCount: 0 };
  const value = aggregateValue(sums, { type, multiplier: null, from: start, to: start });
  return { start, value, eventCount: sums.count };
}

/** Where retention dropped nothing, which is known at once, the question is not looked at. */
async function refuseDropped(sql: Sql, values: readonly unknown[]): Promise<void> {
  const [dropped] = await sql.rows('select from usage.dropped_usage where env = $1 limit 1', values.slice(0, 1));
  if (!dropped) return;
  const [row] = await sql.rows<{ needs_dropped: boolean }>(needsDroppedText, values);
  if (row?.needs_dropped) throw droppedRefusal('this answer');
}

/** Refuses more than 100 000 rows. */
export function refuseTooMany(rows: readonly unknown[]): void {
  if (rows.length <= maxBreakdownRows) return;
  throw refuse(
    'validation_error',
    `group_by and window_size give more than ${maxBreakdownRows} rows: group by less, choose a larger window_size or a shorter time`,
    { fields: { group_by: 'gives too many groups', window_size: 'gives too many windows' } },
  );
}

function parameters(
  env: number,
  scope: Scope,
  request: Omit<BreakdownRequest, 'windows'>,
  grid: { starts: string[]; fitsHours: boolean; fitsDays: boolean },
): unknown[] {
  const { questions } = request;
  const members = questions.flatMap(({ customerIds = [] }, ord) => customerIds.map((id) => ({ ord, id })));
  return [
    env,
    scope.environmentId,
    questions.map((_, ord) => ord),
    questions.map(({ meterId }) => meterId),
    questions.map(({ from }) => from),
    questions.map(({ startOfHistory }) => startOfHistory ?? null),
    questions.map(({ to }) => to),
    questions.map(({ conditions }) => JSON.stringify(conditions ?? [])),
    request.sources,
    members.map(({ ord }) => ord),
    members.map(({ id }) => id),
    grid.starts,
    request.bySource,
    request.byProperties,
    grid.fitsHours,
    grid.fitsDays,
    request.everyMeasure,
    maxBreakdownRows + 1,
    questions.map(({ customerIds }) => customerIds === undefined),
  ];
}

/** What a group is, by the names that were asked for. */
export function groupOf(
  grp: readonly string[],
  { bySource, byProperties }: Pick<BreakdownRequest, 'bySource' | 'byProperties'>,
) {
  const values = bySource ? grp.slice(1) : grp;
  return {
    source: bySource ? (grp[0] ?? '') : null,
    properties: Object.fromEntries(byProperties.map((name, index) => [name, values[index] ?? ''])),
  };
}

/** The answer that a group gives. */
export function breakdownRow(row: SummedGroup, question: BreakdownQuestion, request: BreakdownRequest): BreakdownRow {
  const sums = {
    count: Number(row.n),
    sum: row.s,
    weightedSum: row.st,
    greatest: row.mx,
    latest: row.latest,
    distinctCount: Number(row.distinct_count),
  };
  // A window's weights are those of the whole interval, so that windows add up to it; history belongs to the total only.
  const interval = { from: row.win === null ? row.began : question.from, to: question.to };
  const valueAs = (type: AggregationType) => aggregateValue(sums, { type, multiplier: row.multiplier, ...interval });
  return {
    key: question.key,
    ...groupOf(row.grp, request),
    window: row.win === null ? null : (request.windows[row.win - 1]?.start ?? null),
    type: row.type,
    value: valueAs(row.type),
    eventCount: sums.count,
    greatest: valueAs('MAX'),
    latest: valueAs('LATEST'),
    distinctCount: sums.distinctCount,
  };
}
