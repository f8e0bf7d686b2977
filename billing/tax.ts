import type { InvoiceTaxRate, TaxAmounts } from './invoice.ts';
import { type Decimal, decimal, hundred, least, moneyString, roundToCurrency, sum, zero } from './money.ts';

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
