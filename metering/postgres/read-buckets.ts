import { refuse } from '../../billing/refusal.ts';
import { type WindowGrid, windowGrid } from '../../billing/time/window.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import { type AggregationType, rollupMinutes } from '../meter.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger } from '../quantity.ts';
import { knownZone } from '../series.ts';
import type { UsageAnswer, UsageBucket, UsageQuestion } from '../usage-store.ts';
import type { MeterShape } from './meter-shape.ts';
import { droppedRefusal } from './retention.ts';
import { plainArray } from './text/array-text.ts';
import { bucketText } from './text/bucket-text.ts';

/** An answer is built in memory: a year of minutes, or a month of hours for several hundred groups. */
export const maxBucketRows = 600_000;
const maxGroups = 10_000;
const minuteMs = 60_000;

/** A bucket, or a group in it, as an engine adds it up. */
export interface BucketRow {
  readonly start: string;
  readonly grp: string;
  readonly n: string;
  readonly s: string;
  readonly mx: string;
}

interface FoundRow extends Omit<BucketRow, 'start'> {
  event_name: string | null;
  type: AggregationType;
  watermark: string | null;
  needs_dropped: boolean | null;
  start: string | null;
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
  sql: Sql,
  question: UsageQuestion,
  shape: MeterShape | undefined,
  parameters: readonly unknown[],
): Promise<UsageAnswer> {
  const began = (shape?.neverResets && question.startOfHistory) || question.from;
  const grid = gridOf(question, bucketSizeOf(question, shape), began);
  const values = [...parameters, ...gridParameters(question, shape, grid), maxBucketRows + 1];
  const found = await sql.rows<FoundRow & { [column: string]: unknown }>(bucketText, values, 'usage-buckets');
  const [head] = found;
  if (!head?.watermark || head.event_name === null) {
    throw refuse('not_found', `meter ${'meterId' in question ? question.meterId : ''} does not exist`);
  }
  if (head.needs_dropped) throw droppedRefusal(`event ${head.event_name}`);
  const rows = found.flatMap((row) => (row.start === null ? [] : [{ ...row, start: row.start }]));
  const { type, event_name: eventName, watermark } = head;
  return bucketAnswer(question, { type, eventName, watermark, began }, rows);
}

/**
 * The answer that the rows of one question give, by start and group; `began` is where its interval begins. Throws
 * `validation_error` for an aggregation without buckets, and above 600 000 rows or 10 000 groups. spec: catalogue-and-metering §7.1
 */
export function bucketAnswer(
  question: UsageQuestion,
  { began, ...head }: Pick<UsageAnswer, 'type' | 'eventName' | 'watermark'> & { began: string },
  found: readonly BucketRow[],
): UsageAnswer {
  if (head.type !== 'MAX' && head.type !== 'SUM') {
    throw refuse('validation_error', `bucket_size is accepted with MAX and SUM only, not with ${head.type}`, {
      fields: { bucket_size: 'is accepted with MAX and SUM only' },
    });
  }
  refuseTooMany(question, head.eventName, found);
  const interval = { from: began, to: question.to };
  let [eventCount, total] = [0, 0n];
  const buckets = found.map((row): UsageBucket => {
    const value = rowValue(row, head.type, interval);
    eventCount += Number(row.n);
    total += scaledInteger(value, quantityDecimals) ?? 0n;
    return { start: row.start, group: row.grp, value };
  });
  return { ...head, value: decimalOfScaled(total), eventCount, buckets };
}

/** Without a bucket size, which only groups can be, the whole interval is the one bucket. */
export function gridOf(question: UsageQuestion, windowSize: string | null, began: string): WindowGrid {
  const start = Date.parse(began);
  if (windowSize === null || began >= question.to) return { segments: [{ from: start, origin: start }], stepMs: null };
  const timezone = knownZone(question.timezone);
  const billingAnchor = question.billingAnchor ?? null;
  return windowGrid({ start: began, end: question.to }, { windowSize, timezone, billingAnchor }, maxBucketRows);
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

function rowValue(row: BucketRow, type: AggregationType, interval: { from: string; to: string }): string {
  const sums = {
    count: Number(row.n),
    sum: row.s,
    weightedSum: null,
    greatest: row.mx,
    latest: null,
    distinctCount: 0,
  };
  return aggregateValue(sums, { type, multiplier: null, ...interval });
}

function refuseTooMany(question: UsageQuestion, eventName: string, rows: readonly BucketRow[]): void {
  const about = 'meterId' in question ? `meter ${question.meterId}` : `event ${eventName}`;
  if (rows.length > maxBucketRows) {
    throw refuse(
      'validation_error',
      `${about} has more than ${maxBucketRows} buckets and groups from ${question.from} until ${question.to}: choose a shorter time, a larger bucket_size or a group_by with fewer values`,
      { fields: { bucket_size: `gives more than ${maxBucketRows} rows` } },
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
