import { oracleAmounts } from '../support/oracles/invoice-oracle.ts';
import { decimalsOf } from '../unit/billing/rating-oracle.ts';
import type { Billed, Life, SimulatedLine, Usage } from './life.ts';
import {
  type BilledTime,
  inOrder,
  linesOf,
  type OracleItem,
  ordinaryShares,
  ownPeriods,
  relationOf,
  type Share,
  type Span,
  shareOfOwn,
  type Timeline,
  waited,
} from './oracle-charge.ts';
import { calendarAnchor, clockOf, nextOf, previousOf, trialEndOf } from './oracle-clock.ts';
import { obey } from './oracle-command.ts';
import { Books, Carried } from './oracle-credit.ts';
import { OracleDiscount } from './oracle-discount.ts';
import { counted, type Heir, heirsOf } from './oracle-family.ts';
import { crossPhase, firstItems, nextMoment } from './oracle-phase.ts';
import { Commitments } from './oracle-standing.ts';

/** What an invoice is made of. */
export interface Bill {
  advance?: BilledTime | null;
  arrear?: BilledTime | null;
  opening?: boolean;
  last?: boolean;
  closing?: boolean;
  /** What is missing of the subscription's commitment is due. */
  settles?: boolean;
}

type Status = 'trialing' | 'active' | 'paused' | 'cancelled';
type Direction = 'advance' | 'arrear' | 'onetime';

/** Until when oracle periods are walked. */
const everything = Number.MAX_SAFE_INTEGER;

/**
 * The life of a subscription as the chapter tells it, one instant after the other, with its own calendar and its own
 * arithmetic; nothing of `billing/`. spec: subscriptions-and-invoicing §2.2 – §2.12
 */
export function oracleBilled(life: Life): Billed {
  return new OracleLife(life).billed();
}

export class OracleLife {
  readonly life: Life;
  readonly books = new Books();
  readonly commitments = new Commitments(this);
  readonly discount: OracleDiscount;
  readonly result: Billed = { invoices: [], returned: [], accepted: [], status: 'active', endedAt: null };
  readonly carried = new Carried(this.result.returned);
  readonly billedSpans: (Span & { item: string })[] = [];
  /** With the start of the period that each closed. */
  readonly pauses: (Span & { since: number })[] = [];
  status: Status = 'active';
  items: OracleItem[];
  timeline: Timeline;
  /** Boundaries from where charging begins, as if nothing ended. */
  boundaries: number[] = [];
  start: number;
  end: number;
  cancelAt: number | null = null;
  atPeriodEnd = false;
  endsAt: number | null;
  before: { cancelAt: number | null; endsAt: number | null } | null = null;
  trialEnd: number;
  pauseStart = 0;
  pauseSince = 0;
  plan = 0;
  /** Who inherits it, and when. */
  readonly family: Heir[] = [];
  made = 0;
  /** How many phases are over. */
  phase = 0;

  constructor(life: Life) {
    this.life = life;
    this.start = life.start;
    this.endsAt = life.end;
    this.items = firstItems(this);
    this.family.push(...heirsOf(life));
    this.trialEnd = trialEndOf(life.start, life.trialDays, life.timezone);
    if (life.end !== null) this.trialEnd = Math.min(this.trialEnd, life.end);
    const anchor = life.calendar
      ? calendarAnchor(life.start, life.cadence, life.timezone)
      : (life.anchor ?? life.start);
    this.timeline = this.timelineFrom(life.start, anchor, life.calendar ? 0 : clockOf(anchor, life.timezone));
    this.discount = new OracleDiscount(life, this.timeline.cadence);
    this.end = life.trialDays > 0 ? this.trialEnd : this.nextEnd(life.start);
  }

  itemOf(offer: OracleItem['offer'], start: number): OracleItem {
    this.made += 1;
    const id = `${String(this.made).padStart(3, '0')} ${offer.id}`;
    const quantity = offer.type === 'USAGE' ? '0' : offer.quantity;
    return { id, offer, start, end: this.life.end, quantity, commitment: null, isOfPhase: false };
  }

  committedItem(offer: OracleItem['offer'], start: number): OracleItem {
    return { ...this.itemOf(offer, start), commitment: offer.commitment };
  }

  timelineFrom(begins: number, anchor: number, clock: number): Timeline {
    const { life } = this;
    this.boundaries = [begins];
    const counts = (event: Usage) => counted(this, event);
    return { life, begins, counts, cadence: { ...life.cadence, anchor, timezone: life.timezone, clock } };
  }

  /** The whole period that holds an instant, walked from the first. */
  whole(at: number): Span {
    const { boundaries } = this;
    while (boundaries.at(-1)! <= at) boundaries.push(nextOf(boundaries.at(-1)!, this.timeline.cadence));
    let index = boundaries.length - 1;
    while (boundaries[index]! > at) index -= 1;
    return { start: boundaries[index]!, end: boundaries[index + 1]! };
  }

  nextEnd(from: number): number {
    const ends = [this.whole(from).end, this.endsAt, this.cancelAt].filter((end) => end !== null);
    return Math.min(...ends);
  }

  /** A time with the whole periods it is part of; the first one of a calendar cycle began earlier. §2.2.4 */
  timeOf(start: number, end: number): BilledTime {
    const usage = this.whole(start);
    const { life, timeline } = this;
    const stub = life.calendar && life.prorate && usage.start === life.start && timeline.cadence.anchor !== life.start;
    const fixed = stub
      ? { start: Math.min(previousOf(usage.end, timeline.cadence), usage.start), end: usage.end }
      : usage;
    return { start, end, usage, fixed };
  }

  billed(): Billed {
    const { life } = this;
    if (life.trialDays > 0) this.toTrial();
    else this.open('SUBSCRIPTION_CREATE');
    for (const command of life.commands) {
      this.passTo(command.at);
      this.result.accepted.push(obey(this, command));
    }
    this.passTo(life.until);
    return { ...this.result, status: this.status };
  }

  toTrial(): void {
    this.status = 'trialing';
    this.invoice('SUBSCRIPTION_TRIAL_START', { start: this.start, end: this.end }, []);
  }

  open(reason: string): void {
    const time = this.timeOf(this.start, this.end);
    this.invoice(reason, time, this.linesFor({ advance: time, opening: true }));
  }

  passTo(instant: number): void {
    while (this.status !== 'cancelled') {
      const moment = nextMoment(this);
      if (moment !== null && moment <= Math.min(instant, this.end)) crossPhase(this, moment);
      else if (this.end <= instant) this.boundary();
      else return;
    }
  }

  boundary(): void {
    const [start, b] = [this.start, this.end];
    const ends = [this.cancelAt, this.endsAt].some((end) => end !== null && end <= b);
    if (this.status === 'trialing') {
      if (ends) this.finish(b);
      else this.endTrial(b);
      if (ends) this.carried.release(b);
      return;
    }
    const elapsed = this.timeOf(start, b);
    if (!ends) [this.start, this.end] = [b, this.nextEnd(b)];
    const paused = this.status === 'paused';
    const ahead = ends ? null : this.timeOf(b, this.end);
    const lines = paused ? [] : this.linesFor({ advance: ahead, arrear: elapsed, last: ends, settles: true });
    this.invoice('SUBSCRIPTION_CYCLE', { start, end: b }, lines);
    if (!ends) return;
    this.finish(b);
    this.carried.release(b);
  }

  endTrial(at: number): void {
    this.status = 'active';
    this.timeline = this.timelineFrom(at, at, clockOf(at, this.life.timezone));
    this.start = at;
    this.end = this.nextEnd(at);
    this.open('SUBSCRIPTION_TRIAL_END');
  }

  finish(effective: number): void {
    this.status = 'cancelled';
    this.result.endedAt = effective;
    this.end = effective;
    this.endsAt = effective;
    for (const item of this.items) item.end = Math.max(item.start, Math.min(item.end ?? effective, effective));
  }

  /** The lines of an invoice; each time is left out that an invoice has already. §2.6.1 */
  linesFor(bill: Bill): SimulatedLine[] {
    const lines = this.inOrder().flatMap((item) => {
      const direction = this.directionOf(item);
      if (direction === 'onetime') return bill.closing ? [] : this.onetime(item, bill);
      const time = direction === 'advance' ? bill.advance : bill.arrear;
      if (!time || time.start >= time.end) return [];
      const shares = this.sharesOf(item, time, bill.closing === true || bill.last === true);
      const free = shares.filter((share) => !this.isBilled(item, share));
      return linesOf(item, free, time, this.timeline, this.commitments.holdingOf(item, bill.closing === true));
    });
    return this.commitments.applied(lines, bill);
  }

  inOrder(): OracleItem[] {
    return inOrder(this.items);
  }

  directionOf({ offer }: OracleItem): Direction {
    if (offer.cadence === null) return 'onetime';
    return offer.type === 'FIXED' && offer.advance ? 'advance' : 'arrear';
  }

  isBilled(item: OracleItem, { start, end }: Span): boolean {
    return this.billedSpans.some((span) => span.item === item.id && span.start < end && span.end > start);
  }

  sharesOf(item: OracleItem, time: BilledTime, closes: boolean): Share[] {
    if (relationOf(item.offer, this.life.cadence) !== 'longer') return ordinaryShares(item, time, this.timeline);
    const owns = ownPeriods(item, time.end, this.timeline);
    if (item.offer.type === 'FIXED' && item.offer.advance) {
      return owns
        .filter(({ start }) => start >= time.start && start < time.end)
        .flatMap((own) => shareOfOwn(item, own, 0));
    }
    return owns.flatMap((own) => {
      const ends = Math.min(own.end, item.end ?? own.end, closes ? time.end : everything);
      // What was billed and what was paused of it is behind.
      const done = [...this.billedSpans.filter((span) => span.item === item.id), ...this.pauses].map(({ end }) => end);
      const from = Math.max(own.start, ...done.filter((end) => end <= ends));
      if (from >= ends || ends <= time.start || ends > time.end) return [];
      return [{ start: from, end: ends, part: ends - from, whole: own.end - own.start, from, until: ends }];
    });
  }

  onetime(item: OracleItem, { arrear, advance, opening, last }: Bill): SimulatedLine[] {
    const { start } = item;
    const due = opening
      ? advance != null && start <= advance.start
      : arrear != null &&
        (start >= arrear.start || waited(this.pauses, start, arrear.start)) &&
        (start < arrear.end || (start === arrear.end && !last));
    const span = { start, end: start + 1000, part: 1, whole: 1, from: start, until: start + 1000 };
    if (!due || this.isBilled(item, span) || (item.end !== null && item.end <= start)) return [];
    return linesOf(item, [span], span, this.timeline);
  }

  /** Totals and shares of discounts by the other oracle; what was charged goes to the books. A change is billed in full. §2.16 */
  invoice(reason: string, { start, end }: Span, lines: SimulatedLine[], ofChange = false): void {
    const { life } = this;
    const digits = decimalsOf(life.currency);
    const itemOf = (line: SimulatedLine) => this.items.find(({ id }) => id === line.item.replace(' overage', ''));
    const computed = (all: readonly SimulatedLine[]) =>
      oracleAmounts({
        digits,
        lines: all.map((line) => ({
          amount: line.amount * 10n ** BigInt(6 - digits),
          isUsage: itemOf(line)?.offer.type === 'USAGE',
        })),
        coupons: ofChange ? [] : this.discount.couponsOf(lines),
        wallets: [],
        taxes: life.tax ? [life.tax] : [],
        isExempt: false,
      });
    const alone = computed(lines);
    const used = lines.length === 0 ? 0n : this.carried.use(alone.subtotal - alone.discount);
    const credit = used === 0n ? [] : [{ item: 'credit', start, end, quantity: '1', amount: -used }];
    const amounts = computed([...lines, ...credit]);
    const empty = lines.every(({ amount }) => amount === 0n);
    const skipped = empty && reason !== 'SUBSCRIPTION_TRIAL_START';
    this.result.invoices.push({ reason, start, end, skipped, lines: [...lines, ...credit], total: amounts.total });
    if (skipped) return;
    for (const [index, line] of lines.entries()) {
      const item = itemOf(line);
      if (!item) continue;
      const { offer } = item;
      const net = line.amount - amounts.shares[index]!;
      if (line.amount >= 0n) this.billedSpans.push({ item: item.id, start: line.start, end: line.end });
      if (offer.type === 'FIXED' && offer.advance) this.books.charged.push({ ...line, amount: net, cause: reason });
    }
  }
}
