import { refuse } from '../../billing/refusal.ts';
import { type WindowGrid, windowGrid } from '../../billing/window.ts';
import type { Sql, SqlTransaction } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import { type AggregationType, rollupMinutes } from '../meter.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger } from '../quantity.ts';
import { knownZone } from '../series.ts';
import type { UsageAnswer, UsageBucket, UsageQuestion } from '../usage-store.ts';
import { plainArray } from './array-text.ts';
import { bucketText } from './bucket-text.ts';
import type { MeterShape } from './meter-shape.ts';
import { droppedRefusal } from './retention.ts';

/** An answer is built in memory: a year of minutes, or a month of hours for several hundred groups. */
const maxRows = 600_000;
const maxGroups = 10_000;
const minuteMs = 60_000;

interface BucketRow {
  event_name: string | null;
  type: AggregationType;
  watermark: string | null;
  needs_dropped: boolean | null;
  start: string | null;
  grp: string;
  n: string;
  s: string;
  mx: string;
}

/** The bucket size a question is answered by: its own, else the meter's; null for usage that is one quantity. */
export function bucketSizeOf(question: UsageQuestion, shape: MeterShape | undefined): string | null {
  return question.bucketSize || shape?.bucketSize || null;
}

/** True for a question whose answer is made of rows: by bucket, or by group. spec: catalogue-and-metering §7.1 */
export function hasRows(question: UsageQuestion, shape: MeterShape | undefined): boolean {
  return bucketSizeOf(question, shape) !== null || ('eventName' in question && Boolean(question.groupBy));
}

/**
 * Answers one question by buckets: the aggregate of every bucket (and group) with an event, and their sum. Roll-up rows
 * that lie whole in a bucket are read in place of their events; where the local clock cuts through them (a meter whose
 * roll-ups are hours, asked for minutes or in a zone of half hours), all is read from events. `parameters` are those of
 * the plain statement for this question alone. Throws `not_found` for an unknown meter, `validation_error` above 600 000
 * rows or 10 000 groups. spec: catalogue-and-metering §7.1, §7.2
 */
export async function readBuckets(
  sql: Sql | SqlTransaction,
  question: UsageQuestion,
  shape: MeterShape | undefined,
  parameters: readonly unknown[],
): Promise<UsageAnswer> {
  const began = (shape?.neverResets && question.startOfHistory) || question.from;
  const grid = gridOf(question, shape, began);
  const values = [...parameters, ...gridParameters(question, shape, grid), maxRows + 1];
  const found = await bucketRows(sql, values);
  const [head] = found;
  if (!head?.watermark || head.event_name === null) {
    throw refuse('not_found', `meter ${'meterId' in question ? question.meterId : ''} does not exist`);
  }
  if (head.needs_dropped) throw droppedRefusal(`event ${head.event_name}`);
  if (head.type !== 'MAX' && head.type !== 'SUM') {
    throw refuse('validation_error', `bucket_size is accepted with MAX and SUM only, not with ${head.type}`, {
      fields: { bucket_size: 'is accepted with MAX and SUM only' },
    });
  }
  refuseTooMany(question, head, found);
  const interval = { from: began, to: question.to };
  let [eventCount, total] = [0, 0n];
  const buckets = found.flatMap((row): UsageBucket[] => {
    if (row.start === null) return [];
    const value = rowValue(row, interval);
    eventCount += Number(row.n);
    total += scaledInteger(value, quantityDecimals) ?? 0n;
    return [{ start: row.start, group: row.grp, value }];
  });
  return {
    value: decimalOfScaled(total),
    eventCount,
    watermark: head.watermark,
    type: head.type,
    eventName: head.event_name,
    buckets,
  };
}

/** Planning costs more than a small answer: where the connection is at hand, the plan is kept there. */
async function bucketRows(sql: Sql | SqlTransaction, values: unknown[]): Promise<BucketRow[]> {
  if (!('client' in sql)) return sql.rows<BucketRow & { [column: string]: unknown }>(bucketText, values);
  return (await sql.client.query<BucketRow>({ name: 'usage-buckets', text: bucketText, values })).rows;
}

/** Without a bucket size, which only groups can be, the whole interval is the one bucket. */
function gridOf(question: UsageQuestion, shape: MeterShape | undefined, began: string): WindowGrid {
  const windowSize = bucketSizeOf(question, shape);
  const start = Date.parse(began);
  if (windowSize === null || began >= question.to) return { segments: [{ from: start, origin: start }], stepMs: null };
  const timezone = knownZone(question.timezone);
  const billingAnchor = question.billingAnchor ?? null;
  return windowGrid({ start: began, end: question.to }, { windowSize, timezone, billingAnchor }, maxRows);
}

function gridParameters(question: UsageQuestion, shape: MeterShape | undefined, grid: WindowGrid): unknown[] {
  return [
    plainArray(grid.segments.map(({ from }) => instantText(from))),
    plainArray(grid.segments.map(({ origin }) => instantText(origin))),
    grid.stepMs === null ? null : `${grid.stepMs} milliseconds`,
    fits(grid, rollupMinutes(shape?.bucketSize) * minuteMs),
    ('eventName' in question && question.groupBy) || null,
  ];
}

/** True where no bucket begins inside a roll-up row. */
function fits({ segments, stepMs }: WindowGrid, rowMs: number): boolean {
  const aligned = (instant: number): boolean => instant % rowMs === 0;
  if (stepMs === null) return segments.every(({ from }) => aligned(from));
  return aligned(stepMs) && segments.every(({ from, origin }) => aligned(from) && aligned(origin));
}

function rowValue(row: BucketRow, interval: { from: string; to: string }): string {
  const sums = {
    count: Number(row.n),
    sum: row.s,
    weightedSum: null,
    greatest: row.mx,
    latest: null,
    distinctCount: 0,
  };
  return aggregateValue(sums, { type: row.type, multiplier: null, ...interval });
}

function refuseTooMany(question: UsageQuestion, head: BucketRow, rows: readonly BucketRow[]): void {
  const about = 'meterId' in question ? `meter ${question.meterId}` : `event ${head.event_name}`;
  if (rows.length > maxRows) {
    throw refuse(
      'validation_error',
      `${about} has more than ${maxRows} buckets and groups from ${question.from} until ${question.to}: choose a shorter time, a larger bucket_size or a group_by with fewer values`,
      { fields: { bucket_size: `gives more than ${maxRows} rows` } },
    );
  }
  if (rows.length > maxGroups && new Set(rows.map((row) => row.grp)).size > maxGroups) {
    throw refuse(
      'validation_error',
      `${about} has more than ${maxGroups} groups from ${question.from} until ${question.to}: group by a property with fewer values, or choose a shorter time`,
      { fields: { group_by: `gives more than ${maxGroups} groups` } },
    );
  }
}

function instantText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
