import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { UsageSums } from '../aggregate.ts';
import { environmentNumber } from '../postgres/environment-number.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger, weightedDecimals } from '../quantity.ts';
import type { UsageQuestion } from '../usage-store.ts';
import type { ClickHouse } from './connection.ts';
import { type Cut, type CutContext, type CutRow, type CutRule, ruleText } from './cut.ts';
import { readFeedState } from './feed-state.ts';
import { readRecent } from './recent.ts';
import { type ResolvedQuestion, resolveQuestions } from './resolve.ts';

/** Why PostgreSQL answers in ClickHouse's place: both say the same, so nobody is refused an answer. */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered';
  /** The questions it is about, by key; null for all. */
  readonly keys: ReadonlySet<string> | null;

  constructor(message: string, keys: ReadonlySet<string> | null = null) {
    super(message);
    this.keys = keys;
  }
}

/** Questions made ready to be asked, all as of one moment. */
export interface Prepared extends CutContext {
  readonly clickhouse: ClickHouse;
  readonly resolved: readonly ResolvedQuestion[];
}

/**
 * What the questions are about, how far ClickHouse was fed, and what came since. Throws `NotAnswered` where ClickHouse cannot
 * know: nothing was fed yet, it is too far behind, or a meter's expression is too new.
 */
export async function prepare(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
): Promise<Prepared> {
  const env = await environmentNumber(sql, scope);
  const state = await readFeedState(sql);
  if (!state) throw new NotAnswered('nothing was fed yet');
  const resolved = await resolveQuestions(sql, scope, env, questions);
  const meters = [...new Set(resolved.map((question) => question.expressionMeter))].filter((meter) => meter !== 0);
  const unfed = (question: ResolvedQuestion) =>
    question.expressionMeter !== 0 && !state.meters.includes(question.expressionMeter);
  passOn(
    questions,
    resolved,
    unfed,
    ({ expressionMeter }) => `the expression of meter ${expressionMeter} is being fed`,
  );
  passOn(
    questions,
    resolved,
    ({ lacksEvents }) => lacksEvents,
    () => 'events were dropped by retention',
  );
  const recent = await readRecent(sql, env, state, {
    eventNames: [...new Set(resolved.flatMap(({ eventName }) => eventName ?? []))],
    subjects: resolved.some(({ subjects }) => subjects === null)
      ? null
      : [...new Set(resolved.flatMap(({ subjects }) => subjects ?? []))],
    meters,
  });
  if (recent.events === null) throw new NotAnswered('too many events have not been fed');
  return { clickhouse, env, state, recent, resolved };
}

/** Throws `NotAnswered` about the questions that are only PostgreSQL's to answer. */
function passOn(
  questions: readonly UsageQuestion[],
  resolved: readonly ResolvedQuestion[],
  isPassedOn: (question: ResolvedQuestion) => boolean,
  reason: (question: ResolvedQuestion) => string,
): void {
  const first = resolved.find(isPassedOn);
  if (!first) return;
  const keys = questions.filter((_, ord) => resolved[ord] && isPassedOn(resolved[ord])).map(({ key }) => key);
  throw new NotAnswered(reason(first), new Set(keys));
}

/** A statement holds so many selects, and their text. */
const selectsAStatement = 50;

/** Tells `take` the rows of several selects of slots and instants, those of each by time and id. */
export async function eachOfSelects<Row extends readonly unknown[]>(
  clickhouse: ClickHouse,
  texts: readonly (() => string)[],
  take: (row: Row) => void,
): Promise<void> {
  for (let at = 0; at < texts.length; at += selectsAStatement) {
    const some = texts.slice(at, at + selectsAStatement).map((text) => text());
    await clickhouse.each<Row>(
      `select slot, toString(ts), id, told_value, told_own from (${some.join('\nunion all\n')}) order by slot, ts, id`,
      take,
    );
  }
}

/** The rows of several selects; the text of one is made when it is its turn. */
export async function readSelects<Row extends readonly unknown[]>(
  clickhouse: ClickHouse,
  texts: readonly (() => string)[],
): Promise<Row[]> {
  const statements: Row[][] = [];
  for (let at = 0; at < texts.length; at += selectsAStatement) {
    const some = texts.slice(at, at + selectsAStatement).map((text) => text());
    statements.push(await clickhouse.rows<Row>(some.join('\nunion all\n')));
  }
  return statements.flat();
}

/** The rows of each cut, in the cuts' order; more than `limit` of one mean that there are more. */
export async function readCuts(prepared: Prepared, cuts: readonly Cut[], limit: number): Promise<CutRow[][]> {
  const slots = slotsOf(cuts);
  const rows = new Map<number, CutRow[]>();
  const texts = rulesOf([...slots.values()]).map((rule) => () => ruleText(rule, prepared, limit));
  for (const row of await readSelects<CutRow>(prepared.clickhouse, texts)) {
    const known = rows.get(row[0]);
    if (known) known.push(row);
    else rows.set(row[0], [row]);
  }
  return cuts.map((cut) => rows.get(slots.get(slotKey(cut))?.slot ?? -1) ?? []);
}

type Slot = CutRule['slots'][number];

/** The different ones of the cuts that have any event: what meters make of the same sums is their own affair. */
function slotsOf(cuts: readonly Cut[]): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  for (const cut of cuts) {
    if (cut.question.eventName === null || cut.question.subjects?.length === 0 || cut.from >= cut.to) continue;
    const key = slotKey(cut);
    const known = slots.get(key);
    const isDistinct = cut.isDistinct || known?.cut.isDistinct === true;
    slots.set(key, { slot: known?.slot ?? slots.size, cut: { ...cut, isDistinct } });
  }
  return slots;
}

function slotKey(cut: Cut): string {
  return keyOf([ruleKey(cut), cut.question.subjects, cut.question.spans, cut.from, cut.to]);
}

function ruleKey({ question, grid, sources, groups, watermark }: Cut): string {
  const { eventName, field, expressionMeter, filters, subjects } = question;
  return keyOf([eventName, field, expressionMeter, filters, subjects === null, grid, sources, groups, watermark]);
}

function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
}

function rulesOf(slots: readonly Slot[]): CutRule[] {
  // Slots of everybody have no subject to be told apart by.
  const isAlone = ({ cut, slot }: Slot) => (cut.question.subjects === null ? `everybody ${slot}` : ruleKey(cut));
  return [...Map.groupBy(slots, isAlone).values()].map((group) => {
    const cuts = group.map(({ cut }) => cut);
    const [first] = cuts;
    const subjects = first!.question.subjects && [...new Set(cuts.flatMap(({ question }) => question.subjects ?? []))];
    const from = cuts.map((cut) => cut.from).reduce((a, b) => (a < b ? a : b));
    const to = cuts.map((cut) => cut.to).reduce((a, b) => (a > b ? a : b));
    const isDistinct = cuts.some((cut) => cut.isDistinct);
    return { cut: { ...first!, question: { ...first!.question, subjects }, from, to, isDistinct }, slots: group };
  });
}

/** The sums of a row; those of no row are those of no event. */
export function sumsOf(row: CutRow | undefined): UsageSums {
  if (!row) return { count: 0, sum: null, weightedSum: null, greatest: null, latest: null, distinctCount: 0 };
  const [, , , count, sum, weightedSum, greatest, latest, distinctCount] = row;
  return {
    count: Number(count),
    sum,
    weightedSum: secondsOf(weightedSum),
    greatest,
    latest,
    distinctCount: Number(distinctCount),
  };
}

/** Σ quantity × seconds of a Σ quantity × microseconds. */
export function secondsOf(text: string): string {
  return decimalOfScaled(scaledInteger(text, quantityDecimals) ?? 0n, weightedDecimals);
}
