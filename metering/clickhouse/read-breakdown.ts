import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import {
  breakdownGrid,
  breakdownRow,
  bucketOf,
  groupOf,
  maxBreakdownRows,
  refuseTooMany,
} from '../postgres/read-breakdown.ts';
import { groupKey } from '../property-value.ts';
import { microsecondsOf } from '../timestamp.ts';
import type {
  BreakdownQuestion,
  BreakdownRequest,
  BreakdownRow,
  BucketBreakdownRequest,
  BucketBreakdownRow,
} from '../usage-breakdown.ts';
import { type Prepared, prepare, readCuts, secondsOf } from './answer.ts';
import type { ClickHouse } from './connection.ts';
import type { Cut, CutGrid, CutRow } from './cut.ts';
import { gridInMicroseconds } from './read-usage.ts';
import type { ResolvedQuestion } from './resolve.ts';

/**
 * The groups and windows of questions that have events, as the PostgreSQL engine answers them and refuses them. Throws
 * `NotAnswered` besides. spec: catalogue-and-metering §7.1, §7.2, §7.5, §7.6
 */
export async function readBreakdown(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  request: BreakdownRequest,
): Promise<BreakdownRow[]> {
  const { questions, windows } = request;
  if (questions.length === 0) return [];
  const prepared = await prepare(clickhouse, sql, scope, questions.map(plainQuestion));
  const starts = windows.map(({ start }) => microsecondsOf(start));
  const grid = windows.length === 0 ? null : { starts, origins: starts, stepUs: null };
  const known = [...questions.entries()].filter(([ord]) => prepared.resolved[ord]?.eventText !== null);
  const cuts = known.flatMap(([ord, question]) => {
    const resolved = resolvedWith(prepared, question, ord);
    const whole = cutOf(question, resolved, BigInt(resolved.began), null, request);
    return grid ? [whole, cutOf(question, resolved, microsecondsOf(question.from), grid, request)] : [whole];
  });
  const found = await readCuts(prepared, cuts, maxBreakdownRows + 1);
  refuseTooMany(found.flat());
  const place = new Map(starts.map((start, index) => [String(start), index + 1]));
  const cutsAQuestion = grid ? 2 : 1;
  return known.flatMap(([ord, question], index) => {
    const resolved = resolvedWith(prepared, question, ord);
    return found
      .slice(index * cutsAQuestion, (index + 1) * cutsAQuestion)
      .flatMap((rows, part) =>
        rows.map((row) => summed(row, part === 0 ? null : (place.get(row[1]) ?? null), resolved, request)),
      )
      .sort((a, b) => compareGroups(a.grp, b.grp) || (a.win ?? 0) - (b.win ?? 0))
      .map((row) => breakdownRow(row, question, request));
  });
}

/** A row with what was asked for: the latest and the distinct values of a measure that is neither are nobody's. */
function summed(row: CutRow, win: number | null, resolved: ResolvedQuestion, { everyMeasure }: BreakdownRequest) {
  const [, , grp, n, s, st, mx, latest, distinct] = row;
  const { type, multiplier, beganText: began } = resolved;
  const sums = { grp, win, type, multiplier, began, n, s, st: secondsOf(st), mx };
  return {
    ...sums,
    latest: everyMeasure || type === 'LATEST' ? latest : null,
    distinct_count: everyMeasure || type === 'COUNT_UNIQUE' ? distinct : '0',
  };
}

/**
 * The buckets of each group of questions, as the PostgreSQL engine answers them and refuses them. Throws `NotAnswered` besides.
 * spec: catalogue-and-metering §4.4, §7.1, §7.6
 */
export async function readBucketBreakdown(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  request: BucketBreakdownRequest,
): Promise<BucketBreakdownRow[]> {
  const { questions } = request;
  if (questions.length === 0) return [];
  const prepared = await prepare(clickhouse, sql, scope, questions.map(plainQuestion));
  const grid = gridInMicroseconds(breakdownGrid(request));
  const known = [...questions.entries()].filter(([ord]) => prepared.resolved[ord]?.eventText !== null);
  const cuts = known.map(([ord, question]) => {
    const resolved = resolvedWith(prepared, question, ord);
    const cut = cutOf(question, resolved, BigInt(resolved.began), grid, request);
    return resolved.groupBy === null ? cut : { ...cut, groups: [...cut.groups, { property: resolved.groupBy }] };
  });
  const found = await readCuts(prepared, cuts, maxBreakdownRows + 1);
  refuseTooMany(found.flat());
  return known.flatMap(([ord, question], index) => {
    const { type, groupBy } = resolvedWith(prepared, question, ord);
    return (found[index] ?? [])
      .map(([, win, groups, n, s, , mx]) => {
        const grp = groupBy === null ? groups : groups.slice(0, -1);
        const own = groupBy === null ? '' : groupKey(groups.at(-1));
        return { grp, own, type, at: BigInt(win), start: instantOf(win), n, s, mx };
      })
      .sort((a, b) => compareGroups(a.grp, b.grp) || Number(a.at - b.at) || compareGroups([a.own], [b.own]))
      .map((row) => ({ key: question.key, ...groupOf(row.grp, request), ...bucketOf(row) }));
  });
}

function plainQuestion({ conditions: _, ...question }: BreakdownQuestion) {
  return question;
}

/** With the conditions of the question, of which several may be on one property. */
function resolvedWith({ resolved }: Prepared, { conditions = [] }: BreakdownQuestion, ord: number): ResolvedQuestion {
  const found = resolved[ord]!;
  return { ...found, filters: [...found.filters, ...conditions] };
}

function cutOf(
  question: BreakdownQuestion,
  resolved: ResolvedQuestion,
  from: bigint,
  grid: CutGrid | null,
  request: Omit<BreakdownRequest, 'windows' | 'everyMeasure'> & { everyMeasure?: boolean },
): Cut {
  return {
    question: resolved,
    from,
    to: microsecondsOf(question.to),
    grid,
    sources: request.sources,
    groups: [
      ...(request.bySource ? [{ source: true } as const] : []),
      ...request.byProperties.map((property) => ({ property })),
    ],
    isDistinct: request.everyMeasure === true || resolved.type === 'COUNT_UNIQUE',
    watermark: null,
  };
}

/** By code point, member by member. */
function compareGroups(a: readonly string[], b: readonly string[]): number {
  for (const [index, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text), Buffer.from(b[index] ?? ''));
    if (order !== 0) return order;
  }
  return 0;
}

function instantOf(microseconds: string): string {
  return new Date(Number(BigInt(microseconds) / 1000n)).toISOString();
}
