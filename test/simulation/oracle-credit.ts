import { rounded } from '../support/oracles/invoice-oracle.ts';
import type { OracleItem, Share } from './oracle-charge.ts';
import { type BilledTime, ordinaryShares, ownPeriods, relationOf, shareOfOwn, type Timeline } from './oracle-charge.ts';

/** Money that was charged for, or given back of, an item's time. */
export interface Note {
  item: string;
  start: number;
  end: number;
  amount: bigint;
  /** The change that made it. */
  cause: string;
}

/** A change that was settled without an invoice, and what went to the wallet. */
interface Settled {
  credits: readonly Note[];
  charges: readonly Note[];
  amount: bigint;
}

const high = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const add = (notes: readonly Note[]): bigint => notes.reduce((all, { amount }) => all + amount, 0n);

/** What was charged in advance, credited and given back, for the caps of §2.8.2. */
export class Books {
  /** Lines of invoices, discounts taken off; negative where a settlement invoice shows a credit. */
  readonly charged: Note[] = [];
  /** Charges that were netted against a credit count as billed in full. */
  readonly netted: Note[] = [];
  readonly credited: Note[] = [];
  readonly settled: Settled[] = [];

  /** billed − credited of an item's time after `at`, not below zero. */
  capOf(item: string, at: number): bigint {
    const later = (notes: readonly Note[]) => notes.filter((note) => note.item === item && note.end > at);
    const billed = later(this.charged).filter(({ amount }) => amount > 0n);
    return high(add(billed) + add(later(this.netted)) - add(later(this.credited)), 0n);
  }

  /**
   * Never more returned than was charged for time that is not over. What a settlement gave, to the wallet and for its own charges, is
   * given for the times of its credits.
   */
  roomAt(at: number): bigint {
    const later = (notes: readonly Note[]) => notes.filter((note) => note.end > at);
    const given = this.settled.map(({ credits, charges, amount }) =>
      add(credits) === 0n ? 0n : rounded((amount + add(charges)) * add(later(credits)), add(credits)),
    );
    const charged = add(later(this.charged)) + add(later(this.netted));
    return high(charged - given.reduce((all, one) => all + one, 0n), 0n);
  }

  /** Whether a pause gave something back of the item, for a time up to the end of what was paid for. */
  gaveBack(item: string, span: { start: number; end: number }, pause: string): boolean {
    const notes = this.credited.filter((note) => note.cause === pause && note.item === item);
    const overlaps = notes.some(({ start }) => start < span.end) && notes.some(({ end }) => end > span.start);
    return add(notes) > 0n && overlaps;
  }
}

/** What changes left for the next invoice. README decision 50 */
export class Carried {
  private readonly returned: { at: number; amount: bigint }[];
  private left = 0n;

  constructor(returned: { at: number; amount: bigint }[]) {
    this.returned = returned;
  }

  give(amount: bigint): void {
    this.left += amount;
  }

  /** An invoice takes what it comes to after discounts, and leaves the rest to the next. */
  use(net: bigint): bigint {
    const room = high(net, 0n);
    const used = this.left < room ? this.left : room;
    this.left -= used;
    return used;
  }

  /** No invoice comes any more: the rest goes to the wallet. */
  release(at: number): void {
    if (this.left > 0n) this.returned.push({ at, amount: this.left });
    this.left = 0n;
  }
}

/** What an advance item was paid for and will not be used for, or is to pay: everything from `at` on. §2.8.2 */
export function restOf(item: OracleItem, time: BilledTime, at: number, timeline: Timeline): Share[] {
  const relation = relationOf(item.offer, timeline.life.cadence);
  if (relation === 'onetime' || item.offer.type === 'USAGE' || !item.offer.advance) return [];
  if (relation === 'longer') return ownPeriods(item, time.end, timeline).flatMap((own) => shareOfOwn(item, own, at));
  // Windows are those of the running period; what lies before `at` is used.
  return ordinaryShares(item, time, timeline).flatMap((share) => {
    const start = Math.max(share.start, at);
    return start < share.end ? [{ ...share, start, part: share.end - start }] : [];
  });
}
