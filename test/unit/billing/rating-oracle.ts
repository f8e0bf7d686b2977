import type { PriceTerms } from '../../../billing/price.ts';

/**
 * An independent reading of catalogue-and-metering §4.3 in whole numbers: values are counted in units of 10^-15, costs in units
 * of 10^-32. Shares no code with billing/.
 */
const scale = 15;
const costScale = 32n;

export function units(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,15}))?$/.exec(text)!;
  const value = BigInt(whole! + fraction.padEnd(scale, '0'));
  return sign ? -value : value;
}

/** Cost in units of 10^-32. */
export function oracleCost(terms: PriceTerms, quantity: string): bigint {
  const q = units(quantity);
  if (q === 0n) return 0n;
  const money = (product: bigint): bigint => product * 10n ** (costScale - 30n);
  if (terms.billing_model === 'FLAT_FEE') return money(units(terms.amount!) * q);
  if (terms.billing_model === 'PERCENTAGE') return (units(terms.percentage_rate!) * q * 100n) / 100n;
  if (terms.billing_model === 'PACKAGE') {
    const size = units(String(terms.transform_quantity!.divide_by));
    const up = (terms.transform_quantity!.round ?? 'up') === 'up';
    const packages = up ? (q + size - 1n) / size : q / size;
    return money(units(terms.amount!) * packages * 10n ** 15n);
  }
  const limit = (upTo: string | null): bigint => (upTo === null ? 10n ** 60n : units(upTo));
  const tiers = [...terms.tiers!]
    .map((tier) => ({ limit: limit(tier.up_to), unit: units(tier.unit_amount), flat: units(tier.flat_amount ?? '0') }))
    .sort((a, b) => (a.limit < b.limit ? -1 : 1));
  tiers[tiers.length - 1]!.limit = 10n ** 60n;
  const priced = (tier: { unit: bigint; flat: bigint }, part: bigint): bigint =>
    money(part * tier.unit + tier.flat * 10n ** 15n);
  if (terms.tier_mode !== 'SLAB') return priced(tiers.find((tier) => q <= tier.limit)!, q);
  let cost = 0n;
  let from = 0n;
  for (const tier of tiers) {
    const upper = [q, tier.limit].sort((a, b) => (a < b ? -1 : 1))[0]!;
    if (upper > from) cost += priced(tier, upper - from);
    from = tier.limit;
  }
  return cost;
}

/** Half away from zero at a precision, from units of 10^-32 to the amount's text. */
export function oracleRounded(cost: bigint, precision: number): string {
  const unit = 10n ** (costScale - BigInt(precision));
  const magnitude = cost < 0n ? -cost : cost;
  const whole = (magnitude + unit / 2n) / unit;
  const digits = whole.toString().padStart(precision + 1, '0');
  const text = precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
  return cost < 0n && whole > 0n ? `-${text}` : text;
}

/** A cost in units of 10^-32 as plain text without trailing zeros. */
export function oracleText(cost: bigint): string {
  const digits = (cost < 0n ? -cost : cost).toString().padStart(Number(costScale) + 1, '0');
  const text = `${digits.slice(0, -Number(costScale))}.${digits.slice(-Number(costScale))}`.replace(/\.?0+$/, '');
  return cost < 0n ? `-${text}` : text;
}
