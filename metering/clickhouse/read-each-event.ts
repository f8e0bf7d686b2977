import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { filterList } from '../postgres/read-usage.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger } from '../quantity.ts';
import { instantOfMicroseconds, microsecondsOf } from '../timestamp.ts';
import type { EachEventQuestion, MeterEvents } from '../usage-store.ts';
import { eachOfSelects, prepare } from './answer.ts';
import type { ClickHouse } from './connection.ts';
import { type Cut, type CutContext, conditionTexts, slottedText, valueText } from './cut.ts';
import type { ResolvedQuestion } from './resolve.ts';

/** Place of the question, microsecond, id, value, whether the question's own filters take it. */
type EventRow = readonly [number, string, string, string, number];

/**
 * Tells each question the events its meter counts, as the PostgreSQL engine does: as they arrive, without holding them. Throws
 * `NotAnswered` besides. spec: catalogue-and-metering §9.2
 */
export async function readEachEvent(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  questions: readonly EachEventQuestion[],
): Promise<Map<string, MeterEvents>> {
  if (questions.length === 0) return new Map();
  const unfiltered = questions.map(({ filters: _, begin: __, ...question }) => question);
  const prepared = await prepare(clickhouse, sql, scope, unfiltered);
  const asked = questions.map((question, ord) => {
    const resolved = knownMeter(prepared.resolved, question, ord);
    const fold = question.begin(resolved.type === 'SUM_WITH_MULTIPLIER' ? resolved.multiplier : null);
    return { question, ord, resolved, fold };
  });
  const texts = asked
    .filter(({ resolved }) => resolved.eventName !== null && resolved.subjects?.length !== 0)
    .map(
      ({ question, ord, resolved }) =>
        () =>
          eventsText(question, ord, resolved, prepared),
    );
  await eachOfSelects<EventRow>(clickhouse, texts, (row) => {
    const { fold, resolved } = asked[row[0]]!;
    fold.add(eventOf(row, resolved.type === 'COUNT'));
  });
  const { watermark } = prepared.recent;
  return new Map(asked.map(({ question, fold }) => [question.key, { fold, watermark }]));
}

function knownMeter(resolved: readonly ResolvedQuestion[], { meterId }: EachEventQuestion, ord: number) {
  const found = resolved[ord];
  if (found && found.eventText !== null) return found;
  throw refuse('not_found', `meter ${meterId} does not exist`);
}

function eventsText(
  { filters, to }: EachEventQuestion,
  ord: number,
  question: ResolvedQuestion,
  context: CutContext,
): string {
  const from = BigInt(question.began);
  const whole = { grid: null, sources: [], groups: [], isDistinct: false, watermark: null };
  const cut: Cut = { question, from, to: microsecondsOf(to), ...whole };
  const own = ['true', ...conditionTexts(filterList(filters))].join(' and ');
  const events = slottedText({ cut, slots: [{ slot: ord, cut }] }, context);
  return `select slot, ts, id, toString(${valueText(question)}) as told_value, toUInt8(${own}) as told_own from (${events})`;
}

function eventOf([, at, id, value, isOwn]: EventRow, isCounted: boolean) {
  const quantity = decimalOfScaled(scaledInteger(value, quantityDecimals) ?? 0n);
  return { at: instantOfMicroseconds(BigInt(at)), id, value: isCounted ? '1' : quantity, isOwn: isOwn === 1 };
}
