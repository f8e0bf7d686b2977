import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { filterList } from '../postgres/read-usage.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger } from '../quantity.ts';
import { instantOfMicroseconds, microsecondsOf } from '../timestamp.ts';
import type { EachEventQuestion, MeterEvents } from '../usage-store.ts';
import { prepare, readSelects } from './answer.ts';
import type { ClickHouse } from './connection.ts';
import { type Cut, type CutContext, conditionTexts, slottedText, valueText } from './cut.ts';
import type { ResolvedQuestion } from './resolve.ts';

/** Place of the question, microsecond, id, value, whether the question's own filters take it. */
type EventRow = readonly [number, string, string, string, number];

/**
 * Every event that the meter of each question counts, as the PostgreSQL engine answers it. Throws `NotAnswered` besides.
 * spec: catalogue-and-metering §9.2
 */
export async function readEachEvent(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  questions: readonly EachEventQuestion[],
): Promise<Map<string, MeterEvents>> {
  if (questions.length === 0) return new Map();
  const unfiltered = questions.map(({ filters: _, ...question }) => question);
  const prepared = await prepare(clickhouse, sql, scope, unfiltered);
  const asked = questions.map((question, ord) => ({
    question,
    ord,
    resolved: knownMeter(prepared.resolved, question, ord),
  }));
  const texts = asked
    .filter(({ resolved }) => resolved.eventName !== null && resolved.subjects?.length !== 0)
    .map(
      ({ question, ord, resolved }) =>
        () =>
          eventsText(question, ord, resolved, prepared),
    );
  const found = Map.groupBy(await readSelects<EventRow>(clickhouse, texts), ([ord]) => ord);
  return new Map(
    asked.map(({ question, ord, resolved: { type, multiplier } }) => {
      const events = (found.get(ord) ?? []).map((row) => eventOf(row, type === 'COUNT')).sort(byTime);
      const own = type === 'SUM_WITH_MULTIPLIER' ? multiplier : null;
      return [question.key, { events, multiplier: own, watermark: prepared.recent.watermark }];
    }),
  );
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
  return `select slot, toString(ts), id, toString(${valueText(question)}), toUInt8(${own}) from (${events})`;
}

function eventOf([, at, id, value, isOwn]: EventRow, isCounted: boolean) {
  const quantity = decimalOfScaled(scaledInteger(value, quantityDecimals) ?? 0n);
  return { at: instantOfMicroseconds(BigInt(at)), id, value: isCounted ? '1' : quantity, isOwn: isOwn === 1 };
}

/** By time, then by the code points of the id. */
function byTime(a: { at: string; id: string }, b: { at: string; id: string }): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}
