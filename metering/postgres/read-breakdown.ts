import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import type { AggregationType } from '../meter.ts';
import type { BreakdownQuestion, BreakdownRequest, BreakdownRow } from '../usage-breakdown.ts';
import { breakdownText } from './breakdown-text.ts';
import { environmentNumber } from './environment-number.ts';

/** Above it is a clear error, never a group called "other". design: usage.md Reading */
const maxRows = 100_000;
const hourMs = 3_600_000;

interface SummedRow {
  ord: number;
  grp: string[];
  win: number | null;
  type: AggregationType;
  multiplier: string | null;
  began: string;
  n: string;
  s: string | null;
  st: string | null;
  mx: string | null;
  latest: string | null;
  distinct_count: string;
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
  const rows = await sql.rows<SummedRow>(breakdownText, parameters(env, scope, request));
  if (rows.length > maxRows) {
    throw refuse(
      'validation_error',
      `group_by and window_size give more than ${maxRows} rows: group by less, choose a larger window_size or a shorter time`,
      { fields: { group_by: 'gives too many groups', window_size: 'gives too many windows' } },
    );
  }
  return rows.flatMap((row) => {
    const question = request.questions[row.ord];
    return question ? [breakdownRow(row, question, request)] : [];
  });
}

function parameters(env: number, scope: Scope, request: BreakdownRequest): unknown[] {
  const { questions, windows } = request;
  const members = questions.flatMap(({ customerIds = [] }, ord) => customerIds.map((id) => ({ ord, id })));
  const starts = windows.map(({ start }) => start);
  const liesOn = (stepMs: number) => starts.every((start) => Date.parse(start) % stepMs === 0);
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
    starts,
    request.bySource,
    request.byProperties,
    liesOn(hourMs),
    liesOn(24 * hourMs),
    request.everyMeasure,
    maxRows + 1,
    questions.map(({ customerIds }) => customerIds === undefined),
  ];
}

function breakdownRow(row: SummedRow, question: BreakdownQuestion, request: BreakdownRequest): BreakdownRow {
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
  const values = request.bySource ? row.grp.slice(1) : row.grp;
  return {
    key: question.key,
    source: request.bySource ? (row.grp[0] ?? '') : null,
    properties: Object.fromEntries(request.byProperties.map((name, index) => [name, values[index] ?? ''])),
    window: row.win === null ? null : (request.windows[row.win - 1]?.start ?? null),
    type: row.type,
    value: valueAs(row.type),
    eventCount: sums.count,
    greatest: valueAs('MAX'),
    latest: valueAs('LATEST'),
    distinctCount: sums.distinctCount,
  };
}
