import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import { type MeterShape, meterShapes } from '../postgres/meter-shape.ts';
import {
  type BucketRow,
  bucketAnswer,
  bucketSizeOf,
  gridOf,
  hasRows,
  maxBucketRows,
} from '../postgres/read-buckets.ts';
import { groupKey } from '../property-value.ts';
import { microsecondsOf } from '../timestamp.ts';
import type { UsageAnswer, UsageMeasure, UsageQuestion } from '../usage-store.ts';
import { type Prepared, prepare, readCuts, sumsOf } from './answer.ts';
import type { ClickHouse } from './connection.ts';
import type { Cut, CutGrid, CutRow } from './cut.ts';
import type { ResolvedQuestion } from './resolve.ts';

const usPerMs = 1000n;

/**
 * Answers questions as the PostgreSQL engine does, and refuses what it refuses; those that are one quantity in statements of a
 * hundred. Throws `NotAnswered` besides. spec: catalogue-and-metering §7.1
 */
export async function readUsage(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
): Promise<Map<string, UsageAnswer>> {
  if (questions.length === 0) return new Map();
  const shapes = await meterShapes(sql, scope, questions);
  const prepared = await prepare(clickhouse, sql, scope, questions);
  const shapeOf = (question: UsageQuestion) => shapes.get('meterId' in question ? question.meterId : '');
  const cuts = questions.map((question, ord) =>
    cutOf(question, shapeOf(question), resolvedAt(prepared, question, ord)),
  );
  const found = await readCuts(prepared, cuts, maxBucketRows + 1);
  return new Map(
    questions.map((question, ord) => {
      const resolved = resolvedAt(prepared, question, ord);
      const rows = found[ord] ?? [];
      const answer = hasRows(question, shapeOf(question))
        ? bucketAnswer(question, { ...headOf(resolved, prepared), began: resolved.beganText }, bucketRows(rows))
        : wholeAnswer(question, resolved, rows[0], prepared);
      return [question.key, answer];
    }),
  );
}

/** What the catalogue says of a question. Throws `not_found` for an unknown meter. */
export function resolvedAt({ resolved }: Prepared, question: UsageMeasure, ord: number): ResolvedQuestion {
  const found = resolved[ord];
  if (found && found.eventText !== null) return found;
  throw refuse('not_found', `meter ${'meterId' in question ? question.meterId : ''} does not exist`);
}

function cutOf(question: UsageQuestion, shape: MeterShape | undefined, resolved: ResolvedQuestion): Cut {
  const isCut = hasRows(question, shape);
  const property = 'eventName' in question ? question.groupBy : resolved.groupBy;
  return {
    question: resolved,
    from: BigInt(resolved.began),
    to: microsecondsOf(question.to),
    grid: isCut ? gridInMicroseconds(gridOf(question, bucketSizeOf(question, shape), resolved.beganText)) : null,
    sources: [],
    groups: isCut && property ? [{ property }] : [],
    isDistinct: resolved.type === 'COUNT_UNIQUE',
    watermark: question.watermark ?? null,
  };
}

/** A grid of windows as ClickHouse is given it. */
export function gridInMicroseconds({ segments, stepMs }: ReturnType<typeof gridOf>): CutGrid {
  return {
    starts: segments.map(({ from }) => BigInt(from) * usPerMs),
    origins: segments.map(({ origin }) => BigInt(origin) * usPerMs),
    stepUs: stepMs === null ? null : BigInt(stepMs) * usPerMs,
  };
}

function headOf({ type, eventText }: ResolvedQuestion, { recent }: Prepared) {
  return { type, eventName: eventText ?? '', watermark: recent.watermark };
}

/** The rows of a bucketed answer, by start and group. */
function bucketRows(rows: readonly CutRow[]): BucketRow[] {
  return rows
    .map(([, win, [group = ''], n, s, , mx]) => ({ at: Number(BigInt(win) / usPerMs), grp: groupKey(group), n, s, mx }))
    .sort((a, b) => a.at - b.at || Buffer.compare(Buffer.from(a.grp), Buffer.from(b.grp)))
    .map(({ at, ...row }) => ({ ...row, start: new Date(at).toISOString() }));
}

/** The answer of usage that is one quantity. */
export function wholeAnswer(
  question: UsageQuestion,
  resolved: ResolvedQuestion,
  row: CutRow | undefined,
  prepared: Prepared,
): UsageAnswer {
  const sums = sumsOf(row);
  const interval = question.weighedOver ?? { from: resolved.beganText, to: question.to };
  return {
    value: aggregateValue(sums, { type: resolved.type, multiplier: resolved.multiplier, ...interval }),
    eventCount: sums.count,
    ...headOf(resolved, prepared),
    buckets: null,
  };
}
