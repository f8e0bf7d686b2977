import type { Interval } from '../time/calendar.ts';

/** Facts of a resume that charges for the rest of the period. */
export interface ResumeTerms {
  behavior: 'create_prorations' | 'none';
  now: string;
  pauseStart: string;
  /** Start of the whole billing period that holds `now`. */
  wholeStart: string;
  /** The times of which the pause gave something back. */
  credited: readonly (Interval & { lineItemId: string })[];
}

/** A charge period of an ADVANCE item of which a part lies ahead. */
export interface ResumableCharge {
  lineItemId: string;
  /** Instant at which the item came into force. */
  itemStart: string;
  window: Interval;
  /** True for an item with periods of its own, longer than the subscription's. */
  ownPeriods: boolean;
}

/**
 * Whether a resume charges an ADVANCE item for the rest of a charge period: never what the customer has paid for already,
 * because the pause began within the period, at its very start too, and gave nothing back of it; with `none` only on the very
 * boundary. spec: subscriptions-and-invoicing §2.11 Charge at resume, §2.6.1
 */
export function chargesAtResume(terms: ResumeTerms, charge: ResumableCharge): boolean {
  const periodStart = charge.ownPeriods ? charge.window.start : terms.wholeStart;
  if (terms.behavior === 'none' && terms.now !== periodStart) return false;
  const paidBefore = terms.pauseStart >= periodStart && charge.itemStart <= terms.pauseStart;
  return !paidBefore || wasGivenBack(terms, charge);
}

/** True where the pause gave something back of a charge period. */
export function wasGivenBack(terms: ResumeTerms, charge: ResumableCharge): boolean {
  return terms.credited.some((credit) => gaveBack(credit, charge));
}

function gaveBack(credit: ResumeTerms['credited'][number], { lineItemId, window }: ResumableCharge): boolean {
  return lineItemId === credit.lineItemId && credit.start < window.end && credit.end > window.start;
}
