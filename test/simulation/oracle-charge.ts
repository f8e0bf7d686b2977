import { rounded } from '../support/oracles/invoice-oracle.ts';
import { decimalsOf, type Fraction, fixed, fraction, nothing, plain, plus } from '../unit/billing/rating-oracle.ts';
import type { Cadence, Life, LineCommitment, Offer, Usage } from './life.ts';
import { clockOf, nextOf, type OracleCadence, previousOf } from './oracle-clock.ts';
import { committedLine, costOf, metered, type OracleLine, type Standing, toMinor, total } from './oracle-commitment.ts';

/** What an item charges for a time, read from the chapter alone. spec: subscriptions-and-invoicing §2.6.1 – §2.6.3 */
export interface OracleItem {
  id: string;
  offer: Offer;
  start: number;
  end: number | null;
  quantity: string;
  commitment: LineCommitment | null;
  /** False where the plan itself brought it. */
  isOfPhase: boolean;
}

export interface Span {
  start: number;
  end: number;
}

/** A time an item is charged for and the share of its price that this time is: part ÷ whole, in milliseconds. */
export interface Share extends Span {
  part: number;
  whole: number;
  /** Where the charge window begins and ends, whether or not the item is there for all of it. */
  from: number;
  until: number;
}

/** A billed time, the whole period its usage belongs to, and the one its FIXED amounts pay for (§2.2.4, decision 44). */
export interface BilledTime extends Span {
  usage: Span;
  fixed: Span;
}

export interface Timeline {
  life: Life;
  cadence: OracleCadence;
  /** Where charging begins: the start, or the end of the trial. */
  begins: number;
  /** Whether an event is of this subscription: of the customer himself, or of one who inherits it then. */
  counts(event: Usage): boolean;
}

export type Relation = 'onetime' | 'equal' | 'shorter' | 'finer' | 'longer';
const units = { DAILY: 1, WEEKLY: 1, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };
const kindOf = ({ unit }: Cadence): string => (unit === 'DAILY' || unit === 'WEEKLY' ? unit : 'MONTHS');

/** §2.3.2; `finer`: days and weeks inside months, billed once a period (§2.6.3). */
export function relationOf(offer: Offer, subscription: Cadence): Relation {
  if (offer.cadence === null) return 'onetime';
  const [own, whole] = [offer.cadence, subscription].map(({ unit, count }) => units[unit] * count) as [number, number];
  const [kind, ofWhole] = [kindOf(offer.cadence), kindOf(subscription)];
  if (kind !== ofWhole) return kind === 'MONTHS' || (kind === 'WEEKLY' && ofWhole === 'DAILY') ? 'longer' : 'finer';
  return own === whole ? 'equal' : own < whole ? 'shorter' : 'longer';
}

const activeIn = (item: OracleItem, span: Span): Span => ({
  start: Math.max(span.start, item.start),
  end: Math.min(span.end, item.end ?? span.end),
});

/** Equal: one line a period. Shorter: windows by next-boundary steps on the subscription's anchor. §2.6.3 */
export function ordinaryShares(item: OracleItem, time: BilledTime, timeline: Timeline): Share[] {
  const whole = item.offer.type === 'FIXED' ? time.fixed : time.usage;
  if (relationOf(item.offer, timeline.life.cadence) !== 'shorter') return sharesIn(item, time, whole);
  const cadence = { ...timeline.cadence, ...item.offer.cadence };
  const shares: Share[] = [];
  // Windows are those of the whole period, which may have begun before this time.
  for (let start = Math.min(whole.start, time.start); start < time.end; ) {
    const next = nextOf(start, cadence);
    const window = { start: Math.max(start, time.start), end: Math.min(next, time.end) };
    shares.push(...sharesIn(item, window, { start: previousOf(next, cadence), end: next }));
    start = next;
  }
  return shares;
}

function sharesIn(item: OracleItem, span: Span, whole: Span): Share[] {
  const { start, end } = activeIn(item, span);
  const window = { from: span.start, until: span.end };
  return start < end ? [{ start, end, part: end - start, whole: whole.end - whole.start, ...window }] : [];
}

/** A longer cadence runs periods of its own from the item's start, or the trial's end. §2.6.3 */
export function ownPeriods(item: OracleItem, until: number, { life, begins }: Timeline): Span[] {
  const anchor = Math.max(item.start, begins);
  const clock = clockOf(anchor, life.timezone);
  const cadence = { ...(item.offer.cadence as Cadence), anchor, timezone: life.timezone, clock };
  const spans: Span[] = [];
  for (let start = anchor; start < until; ) {
    const end = nextOf(start, cadence);
    spans.push({ start, end });
    start = end;
  }
  return spans;
}

/** A part of an own period, as far as the item is active. */
export function shareOfOwn(item: OracleItem, own: Span, from: number): Share[] {
  return sharesIn(item, { start: Math.max(own.start, from), end: own.end }, own);
}

/** FIXED: the share of cost(quantity), rounded once. §2.6.2 */
export function fixedAmount(item: OracleItem, share: Share, currency: string): bigint {
  const { n, d } = costOf(item.offer.price, item.quantity);
  const minor = 10n ** BigInt(decimalsOf(currency));
  return rounded(n * minor * BigInt(share.part), d * BigInt(share.whole));
}

/** How commitments are held against the lines of an invoice. */
export interface Holding {
  /** Of the item's commitment at a charge window, where it lasts several of them; the cost of the window is used from then on. */
  standing(share: Share, cost: Fraction): Standing | null;
  /** The invoice closes a part of a period that is not over. */
  closes: boolean;
}

const plainly: Holding = { standing: () => null, closes: false };

/** USAGE: the cost of what was metered, never prorated by time. §2.6.2 */
function usageLine(item: OracleItem, share: Share, timeline: Timeline, time: Span, holding: Holding): OracleLine {
  const { life } = timeline;
  const { start, end } = share;
  const { commitment, offer } = item;
  const usage = metered(item, share, timeline);
  const isDue = !holding.closes || share.until < time.end;
  const { amount, committed } = commitment
    ? committedLine({ ...item, commitment }, share, life, usage, {
        standing: holding.standing(share, usage.cost),
        isDue,
      })
    : { amount: toMinor(usage.cost, life.currency), committed: undefined };
  const unit = offer.price.billing_model === 'FLAT_FEE' ? fraction(offer.price.amount!) : null;
  const line = { item: item.id, start, end, quantity: usage.quantity, amount, cost: usage.cost, unit };
  return committed === undefined ? line : { ...line, committed };
}

/** The lines of an item for its shares; folded: one line with the sums of the rounded windows. §2.6.3 */
export function linesOf(
  item: OracleItem,
  shares: readonly Share[],
  time: Span,
  timeline: Timeline,
  holding: Holding = plainly,
): OracleLine[] {
  const { life } = timeline;
  const lines = shares.map((share): OracleLine => {
    const { start, end } = share;
    if (item.offer.type === 'USAGE') return usageLine(item, share, timeline, time, holding);
    return { item: item.id, start, end, quantity: item.quantity, amount: fixedAmount(item, share, life.currency) };
  });
  const [first] = lines;
  if (!first || !life.folded || relationOf(item.offer, life.cadence) !== 'shorter') return lines;
  const quantity = plain(lines.map((line) => fraction(line.quantity)).reduce(plus, nothing), 15);
  const amount = lines.reduce((all, line) => all + line.amount, 0n);
  const folded = { ...first, start: time.start, end: time.end, quantity, amount };
  if (first.cost) folded.cost = total(lines.map(({ cost }) => cost!));
  if (first.committed !== undefined) folded.committed = addedUp(lines.map(({ committed }) => committed!));
  return [folded];
}

const addedUp = (all: readonly string[]): string =>
  [0, 1, 2].map((part) => all.reduce((sum, text) => sum + BigInt(text.split(' ')[part]!), 0n)).join(' ');

/** Order of lines: FIXED by start and id, then USAGE. §2.6.4 */
export function inOrder(items: readonly OracleItem[]): OracleItem[] {
  const rank = ({ offer }: OracleItem) => (offer.type === 'FIXED' ? 0 : 1);
  return [...items].sort((a, b) => rank(a) - rank(b) || a.start - b.start || (a.id < b.id ? -1 : 1));
}

/** Money as it is written. */
export const written = (amount: bigint, currency: string): string => {
  const digits = decimalsOf(currency);
  return fixed({ n: amount, d: 10n ** BigInt(digits) }, digits);
};

/** Whether what began before a period began in a pause that led to it, or in the part of a period that the pause closed. */
export function waited(pauses: readonly (Span & { since: number })[], start: number, before: number): boolean {
  const pause = pauses.find((span) => span.end === before && span.start < before);
  if (!pause) return false;
  const resumed = pauses.some((span) => span.end === pause.since && span.start < pause.since);
  return start > pause.since || (resumed && (start === pause.since || waited(pauses, start, pause.since)));
}
