import {
  type Decimal,
  decimal,
  decimalString,
  hundred,
  least,
  moneyString,
  roundToCurrency,
  sum,
  zero,
} from '../money/money.ts';
import type { InvoiceTaxRate, TaxAmounts } from './invoice-input.ts';

export type NoTaxReason = 'customer_exempt' | 'no_tax_rates' | 'zero_taxable_amount';

export interface TaxResult {
  rows: TaxAmounts[];
  inclusive: Decimal;
  exclusive: Decimal;
  /** Why there are no rows; null when there are. */
  noTaxReason: NoTaxReason | null;
}

/**
 * Inclusive tax is extracted once from the taxable amount and shared among its rates, the last taking the remainder; every
 * exclusive rate is computed on what is left, without compounding. spec: subscriptions-and-invoicing §2.18.3, §2.18.4
 */
export function computeTaxes(
  taxable: Decimal,
  rates: readonly InvoiceTaxRate[],
  exempt: boolean,
  currency: string,
): TaxResult {
  const none = (noTaxReason: NoTaxReason): TaxResult => ({ rows: [], inclusive: zero, exclusive: zero, noTaxReason });
  if (exempt) return none('customer_exempt');
  if (rates.length === 0) return none('no_tax_rates');
  if (!taxable.greaterThan(0)) return none('zero_taxable_amount');
  const inclusiveRates = rates.filter((rate) => rate.taxBehavior === 'inclusive');
  const percentages = sum(inclusiveRates.map((rate) => decimal(rate.percentage)));
  const inclusive = roundToCurrency(taxable.times(percentages).dividedBy(percentages.plus(hundred)), currency);
  const base = taxable.minus(inclusive);
  let left = inclusive;
  let exclusive = zero;
  const rows = rates.map((rate) => {
    const percentage = decimal(rate.percentage);
    let tax: Decimal;
    if (rate.taxBehavior === 'exclusive') {
      tax = roundToCurrency(base.times(percentage).dividedBy(hundred), currency);
      exclusive = exclusive.plus(tax);
    } else {
      const last = rate === inclusiveRates[inclusiveRates.length - 1];
      const share = percentages.isZero()
        ? zero
        : roundToCurrency(inclusive.times(percentage).dividedBy(percentages), currency);
      tax = last ? left : least(share, left);
      left = left.minus(tax);
    }
    return {
      taxRateId: rate.id,
      taxBehavior: rate.taxBehavior,
      taxableAmount: moneyString(base, currency),
      taxAmount: moneyString(tax, currency),
    };
  });
  return { rows, inclusive, exclusive, noTaxReason: null };
}

/** What tax rows come to by behaviour; exclusive tax is what was added to the total. spec: subscriptions-and-invoicing §2.16 */
export function taxTotals(rows: readonly { taxBehavior: string; taxAmount: string }[]): {
  inclusive: string;
  exclusive: string;
} {
  const of = (behavior: string) =>
    decimalString(sum(rows.filter((row) => row.taxBehavior === behavior).map((row) => decimal(row.taxAmount))));
  return { inclusive: of('inclusive'), exclusive: of('exclusive') };
}

/** A link of a rate to a subscription, as stored. `currency` empty is every currency; instants are ISO strings. */
export interface TaxLink {
  associationId: string;
  rateId: string;
  percentage: string;
  taxBehavior: 'inclusive' | 'exclusive';
  currency: string;
  autoApply: boolean;
  start: string;
  end: string | null;
  priority: number;
  createdAt: string;
  rateStatus: string;
  scope: string;
}

/**
 * The links that tax a SUBSCRIPTION invoice, in order of application: in force at the end of its period, applied by themselves,
 * of its currency or of none, their rate ACTIVE and INTERNAL (EXTERNAL is informational, ONETIME for one-off invoices). A rate
 * linked twice, for the currency and for all, is charged once, by the first in order. spec: subscriptions-and-invoicing §2.18.1
 */
export function taxesInForce<Link extends TaxLink>(
  links: readonly Link[],
  invoice: { currency: string; periodEnd: string },
): Link[] {
  const rank = (link: TaxLink) =>
    [String(link.priority).padStart(10, '0'), link.createdAt, link.associationId].join(' ');
  const taken = new Set<string>();
  return links
    .filter((link) => link.autoApply && link.rateStatus === 'ACTIVE' && link.scope === 'INTERNAL')
    .filter((link) => link.currency === '' || link.currency === invoice.currency)
    .filter((link) => link.start <= invoice.periodEnd && (link.end === null || invoice.periodEnd < link.end))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .filter((link) => !taken.has(link.rateId) && taken.add(link.rateId));
}

/**
 * What of an entity's links a new entity below it gets: those applied by themselves that have not ended. One in force holds
 * from the new entity's own start, so that its first period is taxed; one that is yet to begin keeps its beginning. `now` is
 * the present of the entity above, `start` that of the new one. spec: subscriptions-and-invoicing §2.18.1
 */
export function copiedLinks<Link extends Pick<TaxLink, 'autoApply' | 'start' | 'end'>>(
  links: readonly Link[],
  { now, start }: { now: string; start: string },
): Link[] {
  return links
    .filter((link) => link.autoApply && (link.end === null || (link.end > now && link.end > start)))
    .map((link) => ({ ...link, start: link.start <= now ? start : link.start }))
    .filter((link) => link.end === null || link.end > link.start);
}

/**
 * The behaviour of a rate that names none: exclusive, except the subscription-level default, which is inclusive outside usd and
 * cad. spec: subscriptions-and-invoicing §2.18.2
 */
export function defaultTaxBehavior(
  level: 'association' | 'subscription_override' | 'one_off',
  currency: string,
  given?: 'inclusive' | 'exclusive' | null,
): 'inclusive' | 'exclusive' {
  if (given) return given;
  if (level !== 'subscription_override') return 'exclusive';
  return ['usd', 'cad'].includes(currency.toLowerCase()) ? 'exclusive' : 'inclusive';
}
