import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import type { AggregationType } from '../meter.ts';
import type { UsageAnswer, UsageQuestion } from '../usage-store.ts';
import type { CutBucket } from './dense-usage.ts';
import { environmentNumber } from './environment-number.ts';
import { meterShapes } from './meter-shape.ts';
import { hasRows, readBuckets } from './read-buckets.ts';
import { droppedRefusal } from './retention.ts';
import { usageText } from './text/whole-usage-text.ts';

interface AnswerRow {
  ord: number;
  event_name: string | null;
  type: AggregationType;
  multiplier: string | null;
  began: string;
  n: string;
  s: string | null;
  st: string | null;
  mx: string | null;
  latest: string | null;
  distinct_count: string | null;
  needs_dropped: boolean;
  wanted: Omit<CutBucket, 'meterId'>[] | null;
  watermark: string;
}

/**
 * Answers questions, those that are one quantity in one statement, whatever their number: full hours (days, for distinct values) from roll-ups and the
 * one or two pieces at the edges from events, or from what was made of an hour or a day of many events; those for which that would
 * be worth while are told to `onCut`. A question with filters of its own reads events only. `[from, to)` is
 * half-open; a question whose interval is empty answers 0. A question with buckets has a statement of its own.
 *
 * Whose usage it is: an event belongs to the customer that holds its external id, also when the customer appears after
 * the event. When a customer gives an external id up (renamed, archived), the usage gathered until then stays with that
 * customer, and later events of that id follow whoever holds it then. So a renamed customer is billed for all of its
 * usage once, and nobody inherits usage of a predecessor. spec: §6.6, §14; platform §10.2
 *
 * Throws `not_found` for an unknown meter, `validation_error` for too many buckets, `invalid_operation` where events that it
 * needs were dropped. spec: catalogue-and-metering §7.1
 */
export async function readUsage(
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
  onCut: (buckets: readonly CutBucket[]) => void = () => undefined,
): Promise<Map<string, UsageAnswer>> {
  const answers = new Map<string, UsageAnswer>();
  if (questions.length === 0) return answers;
  const env = await environmentNumber(sql, scope);
  const shapes = await meterShapes(sql, scope, questions);
  const shapeOf = (question: UsageQuestion) => shapes.get(meterIdOf(question) ?? '');
  const whole = questions.filter((question) => !hasRows(question, shapeOf(question)));
  const rows =
    whole.length === 0 ? [] : await sql.rows<AnswerRow>(usageText, usageParameters(env, scope, whole), 'usage-read');
  for (const row of rows) {
    const question = whole[row.ord];
    if (!question) continue;
    if (row.event_name === null) throw refuse('not_found', `meter ${meterIdOf(question) ?? ''} does not exist`);
    if (row.needs_dropped) throw droppedRefusal(`meter ${meterIdOf(question) ?? row.event_name}`);
    answers.set(question.key, answerOf(row, question));
    const meterId = meterIdOf(question);
    if (row.wanted && meterId) onCut(row.wanted.map((cut) => ({ ...cut, meterId })));
  }
  for (const question of questions) {
    const shape = shapeOf(question);
    if (!hasRows(question, shape)) continue;
    answers.set(question.key, await readBuckets(sql, question, shape, usageParameters(env, scope, [question])));
  }
  return answers;
}

function answerOf(row: AnswerRow, question: UsageQuestion): UsageAnswer {
  const sums = {
    count: Number(row.n),
    sum: row.s,
    weightedSum: row.st,
    greatest: row.mx,
    latest: row.latest,
    distinctCount: Number(row.distinct_count ?? 0),
  };
  const interval = question.weighedOver ?? { from: row.began, to: question.to };
  return {
    value: aggregateValue(sums, { type: row.type, multiplier: row.multiplier, ...interval }),
    eventCount: sums.count,
    watermark: row.watermark,
    type: row.type,
    eventName: row.event_name ?? '',
    buckets: null,
  };
}

/** With a mark of its own where the meter is to be taken as it was then. */
function watermarkOf({ watermark, asDefinedThen }: UsageQuestion): string | null {
  if (watermark === undefined) return null;
  return asDefinedThen ? `${watermark}@then` : watermark;
}

/** The parameters of `usageText`, of which every reader's statement takes these. */
export function usageParameters(env: number, scope: Scope, questions: readonly UsageQuestion[]): unknown[] {
  const adHoc = questions.map((question) => ('eventName' in question ? question : null));
  const byId = customersOf(questions);
  const byExternalId = questions.flatMap(({ externalCustomerIds = [] }, ord) =>
    externalCustomerIds.map((value) => ({ ord, value })),
  );
  return [
    env,
    scope.environmentId,
    questions.map((_, ord) => ord),
    questions.map(meterIdOf),
    adHoc.map((question) => question?.eventName ?? null),
    adHoc.map((question) => question?.type ?? null),
    adHoc.map((question) => question?.field ?? null),
    adHoc.map((question) => question?.multiplier ?? null),
    questions.map((question) => question.from),
    questions.map((question) => question.startOfHistory ?? null),
    questions.map((question) => question.to),
    questions.map((question) => JSON.stringify(filterList(question.filters))),
    questions.map((question) => !question.customerIds && !question.externalCustomerIds),
    byId.map(({ ord }) => ord),
    byId.map(({ customerId }) => customerId),
    byExternalId.map(({ ord }) => ord),
    byExternalId.map(({ value }) => value),
    questions.map(watermarkOf),
    byId.map(({ from }) => from),
    byId.map(({ to }) => to),
  ];
}

function meterIdOf(question: UsageQuestion): string | null {
  return 'meterId' in question ? question.meterId : null;
}

/** Filters as the database compares them. */
export function filterList(filters: UsageQuestion['filters']) {
  return Object.entries(filters ?? {}).map(([key, values]) => ({ key, values }));
}

/** The customers of each question, those that count for a time of their own with that time. */
function customersOf(questions: readonly UsageQuestion[]) {
  const always = { from: null, to: null };
  return questions.flatMap(({ customerIds = [], inherited = [] }, ord) => [
    ...customerIds.map((customerId) => ({ ord, customerId, ...always })),
    ...inherited.map((other) => ({ ord, ...other })),
  ]);
}
