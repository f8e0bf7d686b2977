import { type Cadence, type Interval, nextBoundary } from './calendar.ts';
import { epochMs, instantText } from './local-time.ts';
import { refuse } from './refusal.ts';

export type CouponCadence = 'once' | 'repeated' | 'forever';

const walkBound = 10_000;

/**
 * When a coupon's association ends: `repeated` one second before the boundary n periods after the boundary at or before its
 * start, never for `once` (its first use consumes it) and `forever`; an earlier explicit end wins.
 * spec: subscriptions-and-invoicing §2.17.1
 */
export function couponAssociationEnd(
  input: Cadence & {
    cadence: CouponCadence;
    durationInPeriods: number | null;
    start: string;
    explicitEnd?: string | null;
  },
): string | null {
  const explicit = input.explicitEnd ?? null;
  if (input.cadence !== 'repeated') return explicit;
  let boundary = couponPeriod(input).start;
  for (let period = 0; period < (input.durationInPeriods ?? 0); period += 1) {
    boundary = nextBoundary({ ...input, periodStart: boundary, endDate: null });
  }
  const end = instantText(epochMs(boundary) - 1000);
  return explicit !== null && epochMs(explicit) < epochMs(end) ? explicit : end;
}

/** The billing period that holds the association's start, stepping from the anchor, or from the start if that is earlier. */
export function couponPeriod(input: Cadence & { start: string }): Interval {
  const start = epochMs(input.start);
  let from = instantText(Math.min(start, epochMs(input.anchor)));
  for (let step = 0; step < walkBound; step += 1) {
    const end = nextBoundary({ ...input, periodStart: from, endDate: null });
    if (epochMs(end) > start) return { start: from, end };
    from = end;
  }
  throw refuse('validation_error', `the coupon starts more than ${walkBound} periods after the billing anchor`);
}

/**
 * Whether an association applies to an invoice of this period: it is in force in the invoice's own period, and a `once` coupon
 * has not been consumed by an earlier invoice. spec: subscriptions-and-invoicing §2.17.1, §2.17.3
 */
export function couponApplies(
  association: { start: string; end: string | null; consumed: boolean },
  period: Interval,
): boolean {
  if (association.consumed || epochMs(association.start) >= epochMs(period.end)) return false;
  return association.end === null || epochMs(association.end) >= epochMs(period.start);
}
