import {
  type Decimal,
  decimal,
  greatest,
  hundred,
  least,
  moneyString,
  roundToCurrency,
  sum,
  zero,
} from '../money/money.ts';
import type { CouponApplicationAmounts, InvoiceCoupon } from './invoice-input.ts';

/** A line while discounts are taken from it; `amount` is rounded. */
export interface DiscountedLine {
  id: string;
  amount: Decimal;
  lineItemDiscount: Decimal;
  invoiceLevelDiscount: Decimal;
}

/**
 * Line coupons, each computed on the line's original amount and capped by what is left of it; lines of 0 or less take none.
 * Changes the lines; answers a row per coupon that gave something. spec: subscriptions-and-invoicing §2.16 step 2
 */
export function applyLineCoupons(
  lines: DiscountedLine[],
  coupons: readonly InvoiceCoupon[],
  currency: string,
): CouponApplicationAmounts[] {
  const applications: CouponApplicationAmounts[] = [];
  for (const coupon of coupons) {
    const line = lines.find((candidate) => candidate.id === coupon.lineId);
    if (!line?.amount.greaterThan(0)) continue;
    const left = line.amount.minus(line.lineItemDiscount);
    const discount = least(discountOn(line.amount, coupon, currency), left);
    if (discount.isZero()) continue;
    line.lineItemDiscount = line.lineItemDiscount.plus(discount);
    applications.push(application(coupon, line.amount, discount, left.minus(discount), currency));
  }
  return applications;
}

/**
 * Invoice coupons one after the other, each on what the earlier ones left of the lines it covers; what neighbours with the same
 * lines take is distributed over those lines together.
 * spec: subscriptions-and-invoicing §2.16 steps 3 and 4, §2.13, README decision 43
 */
export function applyInvoiceCoupons(
  lines: DiscountedLine[],
  coupons: readonly InvoiceCoupon[],
  currency: string,
): { applications: CouponApplicationAmounts[]; total: Decimal } {
  const sets: { key: string; covered: DiscountedLine[]; coupons: InvoiceCoupon[] }[] = [];
  for (const coupon of coupons) {
    const covered = lines.filter(({ id }) => coupon.lineIds === undefined || coupon.lineIds.includes(id));
    const key = covered.map(({ id }) => id).join(' ');
    const last = sets.at(-1);
    if (last?.key === key) last.coupons.push(coupon);
    else sets.push({ key, covered, coupons: [coupon] });
  }
  const results = sets.map((set) => applyToLines(set.covered, set.coupons, currency));
  return {
    applications: results.flatMap(({ applications }) => applications),
    total: sum(results.map(({ total }) => total)),
  };
}

function applyToLines(
  lines: DiscountedLine[],
  coupons: readonly InvoiceCoupon[],
  currency: string,
): { applications: CouponApplicationAmounts[]; total: Decimal } {
  const nets = lines.map((line) => line.amount.minus(line.lineItemDiscount).minus(line.invoiceLevelDiscount));
  let running = sum(nets);
  let total = zero;
  const applications: CouponApplicationAmounts[] = [];
  for (const coupon of coupons) {
    const base = greatest(running, zero);
    const discount = least(discountOn(base, coupon, currency), base);
    if (discount.isZero()) continue;
    running = running.minus(discount);
    total = total.plus(discount);
    applications.push(application(coupon, base, discount, running, currency));
  }
  const shares = distribute(nets, total, currency);
  for (const [position, line] of lines.entries()) {
    line.invoiceLevelDiscount = line.invoiceLevelDiscount.plus(shares[position]!);
  }
  return { applications, total };
}

/**
 * Shares of an amount in proportion to the positive nets, largest first, each rounded, capped by its net and by what is left;
 * the last takes the remainder, and what its net cannot hold goes to the others in the same order. The shares add up exactly
 * to the amount wherever the nets can hold it. spec: subscriptions-and-invoicing §2.16 step 4
 */
export function distribute(nets: readonly Decimal[], amount: Decimal, currency: string): Decimal[] {
  const shares = nets.map(() => zero);
  const order = nets
    .map((net, position) => ({ net, position }))
    .filter(({ net }) => net.greaterThan(0))
    .sort((a, b) => b.net.comparedTo(a.net) || a.position - b.position);
  const whole = sum(order.map(({ net }) => net));
  let left = amount;
  for (const [rank, { net, position }] of order.entries()) {
    const last = rank === order.length - 1;
    const share = last ? left : roundToCurrency(net.times(amount).dividedBy(whole), currency);
    shares[position] = least(least(share, net), left);
    left = left.minus(shares[position]!);
  }
  for (const { net, position } of order) {
    const more = least(left, net.minus(shares[position]!));
    shares[position] = shares[position]!.plus(more);
    left = left.minus(more);
  }
  return shares;
}

function discountOn(base: Decimal, coupon: InvoiceCoupon, currency: string): Decimal {
  const discount =
    coupon.type === 'percentage'
      ? base.times(decimal(coupon.percentageOff ?? '0')).dividedBy(hundred)
      : decimal(coupon.amountOff ?? '0');
  return greatest(roundToCurrency(discount, currency), zero);
}

function application(
  coupon: InvoiceCoupon,
  original: Decimal,
  discount: Decimal,
  final: Decimal,
  currency: string,
): CouponApplicationAmounts {
  return {
    couponId: coupon.id,
    lineId: coupon.lineId,
    originalPrice: moneyString(original, currency),
    discountedAmount: moneyString(discount, currency),
    finalPrice: moneyString(final, currency),
  };
}
