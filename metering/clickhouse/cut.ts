import type { FeedState } from './feed-state.ts';
import { integer, integerArray, isNumberOf, isOneOf, textLiteral } from './literal.ts';
import type { Recent, RecentEvent } from './recent.ts';
import type { ResolvedQuestion } from './resolve.ts';
import { isVisible, parseSnapshot, type Snapshot, visibleCondition } from './snapshot.ts';
import { eventTable, readColumns, readStructure, voidTable } from './tables.ts';

/** Where windows begin, in microseconds; `stepUs` divides each further, counted from its origin. */
export interface CutGrid {
  readonly starts: readonly bigint[];
  readonly origins: readonly bigint[];
  readonly stepUs: bigint | null;
}

/** A set of events to be added up, and how it is taken apart. */
export interface Cut {
  readonly question: ResolvedQuestion;
  readonly from: bigint;
  readonly to: bigint;
  readonly grid: CutGrid | null;
  /** Only events of these sources; none takes all. */
  readonly sources: readonly string[];
  /** What events are grouped by: their source first, properties, the meter's own group last. */
  readonly groups: readonly ({ source: true } | { property: string })[];
  /** Whether distinct values are wanted. */
  readonly isDistinct: boolean;
  readonly watermark: string | null;
}

/** Cuts that differ in whose events of what time they are about, and nothing else: one select. */
export interface CutRule {
  /** One of them, about everything that any of them is about. */
  readonly cut: Cut;
  readonly slots: readonly { readonly slot: number; readonly cut: Cut }[];
}

/** What is asked beside the cuts themselves. */
export interface CutContext {
  readonly env: number;
  readonly state: FeedState;
  readonly recent: Recent;
}

/** Slot, start of the window, groups, count, Σq, Σ(q·µs), greatest, latest, distinct. */
export type CutRow = readonly [number, string, readonly string[], string, string, string, string, string, string];

/** The select of a rule: its rows are by slot, window and groups, those without events are absent. */
export function ruleText(rule: CutRule, context: CutContext, limit: number): string {
  const { question, grid, groups, isDistinct } = rule.cut;
  const groupTexts = groups.map((group) => ('source' in group ? 'source' : formOf(group.property)));
  const distinct =
    isDistinct && question.field !== null && question.expressionMeter === 0
      ? `uniqExactIf(${formOf(question.field)}, mapContains(forms, ${textLiteral(question.field)}))`
      : '0';
  return `select slot, toString(${grid ? windowText(grid) : 'toInt64(0)'}) as win,
    cast([${groupTexts.join(', ')}], 'Array(String)') as grp, toString(count()) as n, toString(sum(v)) as s,
    toString(sum(v * ts)) as st, toString(max(v)) as mx, toString(argMax(v, (ts, ingested_at, id))) as lv,
    toString(${distinct}) as d
  from (select *, ${valueText(question)} as v from (${slottedText(rule, context)})) group by slot, win, grp
  having count() > 0 limit ${Math.trunc(limit)} by slot`;
}

/** The events of a rule, each once for every slot that it is in. */
export function slottedText({ cut, slots }: CutRule, context: CutContext): string {
  const source = sourceText(cut, context);
  const [first] = slots;
  if (slots.length === 1 && first?.cut.question.spans === null) {
    return `select *, toInt32(${integer(first.slot)}) as slot from (${source})`;
  }
  const rows = slots.flatMap(({ slot, cut: timed }) =>
    spansOf(timed).map(({ subject, from, to }) => JSON.stringify([slot, subject, String(from), String(to)])),
  );
  return `select r.*, q.slot as slot from (${source}) as r inner join (select * from format(JSONCompactEachRow,
      'slot Int32, owner Int64, began Int64, ended Int64', ${textLiteral(rows.join('\n'))})) as q on r.subject = q.owner
    where r.ts >= q.began and r.ts < q.ended`;
}

/** Whose events of what time a cut is about: a subject with a time of its own counts in that part of the cut's. */
function spansOf({ question: { subjects, spans }, from, to }: Cut) {
  if (spans === null) return (subjects ?? []).map((subject) => ({ subject, from, to }));
  return spans.map(({ subject, since, until }) => ({
    subject,
    from: since !== null && since > from ? since : from,
    to: until !== null && until < to ? until : to,
  }));
}

function formOf(property: string): string {
  return `forms[${textLiteral(property)}]`;
}

/** The value of an event for the measure of a question. */
export function valueText({ expressionMeter, field }: ResolvedQuestion): string {
  if (expressionMeter !== 0) return 'quantity';
  return field === null ? 'toDecimal256(0, 15)' : `quantities[${textLiteral(field)}]`;
}

/** Where the window of an event begins. */
function windowText({ starts, origins, stepUs }: CutGrid): string {
  const opens = starts.length === 1 ? `toInt64(${starts[0]})` : `roundDown(ts, ${integerArray(starts)})`;
  if (stepUs === null) return opens;
  const origin =
    starts.length === 1
      ? `toInt64(${origins[0]})`
      : `transform(${opens}, ${integerArray(starts)}, ${integerArray(origins)}, toInt64(0))`;
  return `greatest(${opens}, ts - positiveModulo(ts - ${origin}, toInt64(${stepUs})))`;
}

/** The events of a cut: those that have arrived, and those that have not. */
function sourceText(cut: Cut, context: CutContext): string {
  const { question } = cut;
  const known = cut.watermark === null ? null : watermarkOf(cut.watermark);
  const conditions = [...filterTexts(cut), ...(known ? [knownText(known)] : [])];
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  const columns = readColumns.join(', ');
  const { env, state } = context;
  const arrived = `select ${columns} from ${eventTable(state.generation)}
    where env = ${integer(env)} and measure = ${integer(question.expressionMeter)} and event_name = ${integer(question.eventName ?? 0)}
      ${question.subjects === null ? '' : `and ${isNumberOf('subject', question.subjects)}`}
      and ts >= ${cut.from} and ts < ${cut.to} and round <= ${integer(state.round)}${notVoidedText(context, known)}`;
  const recent = recentRows(cut, context.recent, known);
  if (recent.length === 0) return `select ${columns} from (${arrived})${where}`;
  const lines = textLiteral(recent.map((row) => JSON.stringify(row)).join('\n'));
  return `select ${columns} from (${arrived}
    union all select ${columns} from format(JSONCompactEachRow, ${textLiteral(readStructure)}, ${lines}))${where}`;
}

/** The conditions on an event that filters are, each of which holds. */
export function conditionTexts(filters: ResolvedQuestion['filters']): string[] {
  return filters.map(
    ({ key, values }) => `(mapContains(forms, ${textLiteral(key)}) and ${isOneOf(formOf(key), values)})`,
  );
}

function filterTexts({ question, sources }: Cut): string[] {
  return [...conditionTexts(question.filters), ...(sources.length === 0 ? [] : [isOneOf('source', sources)])];
}

/** What a watermark knew: the transactions its snapshot saw and, after a restore into another cluster, its time. */
interface Known {
  readonly snapshot: Snapshot;
  readonly untilUs: bigint;
}

const slackUs = 1_000_000n;

function watermarkOf(watermark: string): Known {
  const [snapshot = '', epoch = '0'] = watermark.split('@');
  const untilUs = BigInt(Math.round(Number(epoch) * 1_000_000)) + slackUs;
  return { snapshot: parseSnapshot(snapshot), untilUs };
}

function knownText({ snapshot, untilUs }: Known): string {
  return `${visibleCondition('txid', snapshot)} and ingested_at <= ${untilUs}`;
}

/** Leaves out what was voided: before the watermark, where there is one. */
function notVoidedText({ env, state, recent }: CutContext, known: Known | null): string {
  const since = recent.voids.filter(({ voided }) => known === null || isVisible(BigInt(voided), known.snapshot));
  const before = known === null ? '' : ` and ${visibleCondition('voided', known.snapshot)}`;
  const arrived = `seq not in (select seq from ${voidTable(state.generation)}
        where env = ${integer(env)} and round <= ${integer(state.round)}${before})`;
  const recently =
    since.length === 0
      ? ''
      : ` and not ${isNumberOf(
          'seq',
          since.map(({ seq }) => seq),
        )}`;
  return ` and ${arrived}${recently}`;
}

/** The recent events that a cut is about, in the columns of `readStructure`. */
function recentRows(cut: Cut, { events, programs }: Recent, known: Known | null): unknown[][] {
  const { question } = cut;
  const subjects = question.subjects === null ? null : new Set(question.subjects);
  const program = programs.get(question.expressionMeter);
  const isOf = (event: RecentEvent): boolean => {
    const at = BigInt(event.ts);
    return (
      event.event_name === question.eventName &&
      (subjects === null || subjects.has(event.subject)) &&
      at >= cut.from &&
      at < cut.to &&
      (event.voided === null || (known !== null && !isVisible(BigInt(event.voided), known.snapshot)))
    );
  };
  return (events ?? []).filter(isOf).flatMap((event) => {
    const { subject, ts, ingested_at, txid, id, source, measured } = event;
    const quantity = program ? measured.valueBy(program) : '0';
    if (quantity === null) return [];
    return [[subject, ts, ingested_at, txid, id, source, measured.forms, measured.quantities, quantity]];
  });
}
