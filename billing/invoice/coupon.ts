import { decimal, roundToCurrency, sum } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { type Cadence, type Interval, nextBoundary } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import type { InvoiceCoupon } from './invoice-input.ts';

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
 * True where an association applies to a period, that of a line's service or, for `once`, of the invoice: it is in force in it, and
 * a `once` coupon has not been consumed by an earlier invoice. spec: subscriptions-and-invoicing §2.17.1, §2.17.3
 */
export function couponApplies(
  association: { start: string; end: string | null; consumed: boolean },
  period: Interval,
): boolean {
  if (association.consumed || epochMs(association.start) >= epochMs(period.end)) return false;
  return association.end === null || epochMs(association.end) >= epochMs(period.start);
}

/** What a coupon asks of an invoice before it gives anything; other keys are kept and mean nothing. spec: §2.17.4 */
export interface CouponRules {
  minSubtotal: string | null;
  planIds: readonly string[] | null;
  priceIds: readonly string[] | null;
  customerIds: readonly string[] | null;
}

/** A coupon linked to a subscription, as stored; instants are ISO strings, decimals as strings. */
export interface CouponLink {
  associationId: string;
  couponId: string;
  type: 'fixed' | 'percentage';
  cadence: CouponCadence;
  amountOff: string | null;
  percentageOff: string | null;
  currency: string | null;
  rules: CouponRules;
  start: string;
  end: string | null;
  /** Null for a coupon on the whole invoice. */
  subscriptionLineItemId: string | null;
  /** Invoices that are not void and got a discount from a `once` coupon. */
  usedBy: readonly string[];
}

export interface DiscountableInvoice {
  id: string;
  invoiceType: string;
  currency: string;
  period: Interval;
  planId: string;
  customerId: string;
  lines: readonly DiscountableLine[];
}

/** A line that coupons may cover; what it pays for is the time of the invoice where it has none of its own. */
export interface DiscountableLine {
  id: string;
  amount: string;
  priceId: string | null;
  subscriptionLineItemId: string | null;
  periodStart: string | null;
  periodEnd: string | null;
}

/**
 * The coupons of an invoice in order of application, by start then id: covering one of its lines, not consumed by another
 * invoice, their rules met, a fixed one in the invoice's currency. A coupon covers the lines whose own service period it is in
 * force in, so that one of one period is an advance fee and a period's usage, wherever they are invoiced; `once` covers the
 * first invoice whole. A coupon of a subscription's line item discounts each covered line of that item. The one-off invoice of
 * a change in mid-period is billed in full (§2.8.2), so that a coupon for a period is not given twice in it.
 * spec: subscriptions-and-invoicing §2.16 steps 2 and 3, §2.17.1–2.17.4, README decision 43
 */
export function couponsOfInvoice(links: readonly CouponLink[], invoice: DiscountableInvoice): InvoiceCoupon[] {
  if (invoice.invoiceType !== 'SUBSCRIPTION') return [];
  const rank = (link: CouponLink) => `${link.start} ${link.associationId}`;
  return links
    .filter((link) => link.type === 'percentage' || link.currency === invoice.currency)
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .flatMap((link) => couponTargets(link, invoice));
}

/** An invoice as far as the rules of coupons ask for it. */
type RuledInvoice = Pick<DiscountableInvoice, 'currency' | 'planId' | 'customerId'> & {
  lines: readonly Pick<DiscountableLine, 'id' | 'amount' | 'priceId'>[];
};

/** A coupon that an invoice was given itself, in the order given; `lineId` null is a coupon on the whole invoice. */
export type OwnCoupon = Pick<
  CouponLink,
  'associationId' | 'couponId' | 'type' | 'amountOff' | 'percentageOff' | 'rules'
> & {
  lineId: string | null;
};

/** The coupons of an invoice that carries its own: those whose line is still there and whose rules are met. spec: §1.11.1, §2.17.4 */
export function ownCoupons(coupons: readonly OwnCoupon[], invoice: RuledInvoice): InvoiceCoupon[] {
  return coupons.flatMap(({ associationId: id, lineId, type, amountOff, percentageOff, rules }) => {
    const lines = lineId === null ? invoice.lines : invoice.lines.filter((line) => line.id === lineId);
    return lines.length > 0 && areRulesMet(rules, invoice, lines)
      ? [{ id, lineId, type, amountOff, percentageOff }]
      : [];
  });
}

function couponTargets(link: CouponLink, invoice: DiscountableInvoice): InvoiceCoupon[] {
  const item = link.subscriptionLineItemId;
  const lines = coveredLines(link, invoice).filter((line) => item === null || line.subscriptionLineItemId === item);
  if (lines.length === 0 || !areRulesMet(link.rules, invoice, lines)) return [];
  const { associationId: id, type, amountOff, percentageOff } = link;
  const ids = lines.map((line) => line.id);
  if (item !== null) return ids.map((lineId) => ({ id, lineId, type, amountOff, percentageOff }));
  const some = lines.length < invoice.lines.length ? { lineIds: ids } : {};
  return [{ id, lineId: null, ...some, type, amountOff, percentageOff }];
}

function coveredLines(link: CouponLink, invoice: DiscountableInvoice): readonly DiscountableLine[] {
  const { start, end } = link;
  if (link.cadence === 'once') {
    const consumed = link.usedBy.some((id) => id !== invoice.id);
    return couponApplies({ start, end, consumed }, invoice.period) ? invoice.lines : [];
  }
  return invoice.lines.filter(({ periodStart, periodEnd }) =>
    couponApplies(
      { start, end, consumed: false },
      { start: periodStart ?? invoice.period.start, end: periodEnd ?? invoice.period.end },
    ),
  );
}

/** `price_ids` are those of the lines the coupon is for: one of them has to be there. */
function areRulesMet(rules: CouponRules, invoice: RuledInvoice, lines: RuledInvoice['lines']): boolean {
  const { minSubtotal, planIds, priceIds, customerIds } = rules;
  const subtotal = sum(invoice.lines.map((line) => roundToCurrency(line.amount, invoice.currency)));
  if (minSubtotal !== null && subtotal.lessThan(decimal(minSubtotal))) return false;
  if (planIds && !planIds.includes(invoice.planId)) return false;
  if (customerIds && !customerIds.includes(invoice.customerId)) return false;
  return !priceIds || lines.some((line) => line.priceId !== null && priceIds.includes(line.priceId));
}
