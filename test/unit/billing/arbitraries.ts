import fc from 'fast-check';
import type { BillingPeriod } from '../../../billing/calendar.ts';
import type { PriceTerms, TierTerms } from '../../../billing/price.ts';

/** Shared generators of the billing properties. */
export const zones = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Beirut',
  'Pacific/Apia',
  'America/St_Johns',
);

export const currencies = fc.constantFrom('usd', 'eur', 'jpy', 'kwd', 'clf');

export const periods = fc.constantFrom<BillingPeriod>(
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
);

/** Instants of whole minutes between 2015 and 2045. */
export const instants = fc
  .integer({ min: Date.UTC(2015, 0, 1) / 60_000, max: Date.UTC(2045, 0, 1) / 60_000 })
  .map((minute) => new Date(minute * 60_000).toISOString());

/** A non-negative decimal with up to `digits` whole digits and up to `decimals` decimals. */
export function decimals(digits: number, decimalsAtMost: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }),
      fc.stringMatching(new RegExp(`^[0-9]{0,${decimalsAtMost}}$`)),
    )
    .map(([whole, fraction]) => (fraction === '' ? String(whole) : `${whole}.${fraction}`));
}

export const quantities = fc.oneof(decimals(4, 3), decimals(12, 15), fc.constantFrom('0', '1', '10', '100', '1000'));

const tierList: fc.Arbitrary<TierTerms[]> = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 3000 }), { minLength: 0, maxLength: 4 }),
    fc.boolean(),
    fc.array(fc.tuple(decimals(3, 6), decimals(3, 2)), { minLength: 5, maxLength: 5 }),
    fc.boolean(),
  )
  .map(([limits, open, amounts, reversed]) => {
    const upTos: (string | null)[] = limits.map(String);
    if (open || upTos.length === 0) upTos.push(null);
    const tiers = upTos.map((up_to, position) => ({
      up_to,
      unit_amount: amounts[position % 5]![0],
      flat_amount: amounts[position % 5]![1],
    }));
    return reversed ? tiers.reverse() : tiers;
  });

export const tieredPrices = fc
  .tuple(tierList, fc.constantFrom<'VOLUME' | 'SLAB'>('VOLUME', 'SLAB'), currencies)
  .map(([tiers, tier_mode, currency]): PriceTerms => ({ billing_model: 'TIERED', tiers, tier_mode, currency }));

export const prices: fc.Arbitrary<PriceTerms> = fc.oneof(
  tieredPrices,
  fc.record({ billing_model: fc.constant('FLAT_FEE' as const), amount: decimals(6, 15), currency: currencies }),
  fc.record({
    billing_model: fc.constant('PERCENTAGE' as const),
    percentage_rate: decimals(2, 6),
    currency: currencies,
  }),
  fc.record({
    billing_model: fc.constant('PACKAGE' as const),
    amount: decimals(6, 4),
    transform_quantity: fc.record({
      divide_by: fc.integer({ min: 1, max: 5000 }),
      round: fc.constantFrom<'up' | 'down'>('up', 'down'),
    }),
    currency: currencies,
  }),
);
