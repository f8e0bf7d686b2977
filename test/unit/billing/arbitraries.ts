import fc from 'fast-check';
import type { PriceTerms, TierTerms } from '../../../billing/price/price-terms.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';

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

export const quantities = fc.oneof(
  decimals(4, 3),
  decimals(12, 15),
  decimals(30, 17),
  fc.constantFrom('0', '1', '10', '100', '1000'),
);

/** Amounts of a price list: round ones, very small ones, zero, and with more decimals than are kept. */
const priceAmounts = fc.oneof(decimals(3, 2), decimals(6, 15), decimals(2, 18), fc.constant('0'));

/** One to six tiers in any order; the last one open or bounded, flat amounts given or left out. */
const tierList: fc.Arbitrary<TierTerms[]> = fc
  .tuple(
    fc.uniqueArray(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10_000_000 })), {
      minLength: 1,
      maxLength: 6,
    }),
    fc.boolean(),
    fc.array(fc.tuple(priceAmounts, fc.option(priceAmounts, { nil: undefined })), { minLength: 6, maxLength: 6 }),
  )
  .chain(([limits, isOpen, amounts]) => {
    const tiers = limits.map((limit, position): TierTerms => {
      const [unit_amount, flat_amount] = amounts[position]!;
      const up_to = isOpen && position === limits.length - 1 ? null : String(limit);
      return { up_to, unit_amount, ...(flat_amount === undefined ? {} : { flat_amount }) };
    });
    return fc.shuffledSubarray(tiers, { minLength: tiers.length });
  });

const tieredPricesOf = (...modes: ('VOLUME' | 'SLAB' | null)[]) =>
  fc
    .record({ tiers: tierList, tier_mode: fc.constantFrom(...modes), currency: currencies })
    .map((terms): PriceTerms => ({ billing_model: 'TIERED', ...terms }));

export const slabPrices = tieredPricesOf('SLAB');
/** A tier table without a mode is priced by volume. */
export const volumePrices = tieredPricesOf('VOLUME', null);
export const tieredPrices = fc.oneof(slabPrices, volumePrices);

export const flatPrices: fc.Arbitrary<PriceTerms> = fc.record({
  billing_model: fc.constant('FLAT_FEE' as const),
  amount: priceAmounts,
  currency: currencies,
});

export const percentagePrices: fc.Arbitrary<PriceTerms> = fc.record({
  billing_model: fc.constant('PERCENTAGE' as const),
  percentage_rate: priceAmounts,
  currency: currencies,
});

const packagePricesOf = (...rounds: ('up' | 'down' | null)[]): fc.Arbitrary<PriceTerms> =>
  fc.record({
    billing_model: fc.constant('PACKAGE' as const),
    amount: priceAmounts,
    transform_quantity: fc.record({
      divide_by: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1_000_000_000 })),
      round: fc.constantFrom(...rounds),
    }),
    currency: currencies,
  });

export const packagePricesUp = packagePricesOf('up', null);
export const packagePricesDown = packagePricesOf('down');

/** Every price of a fiat currency there can be. */
export const prices = fc.oneof(tieredPrices, flatPrices, percentagePrices, packagePricesUp, packagePricesDown);

/** Prices of a custom currency: any amounts, and what one of it is worth. */
export const customPrices = fc
  .tuple(
    fc.oneof(tieredPrices, flatPrices, packagePricesUp, packagePricesDown),
    fc.oneof(decimals(3, 4), decimals(1, 15)).filter((rate) => !/^[0.]*$/.test(rate)),
  )
  .map(([terms, rate]): PriceTerms => ({ ...terms, price_unit: { id: 'unit', code: 'tok', rate } }));

/** A quantity for a price, often on or one atom beside where the price changes: a tier's limit, a whole package. */
export function quantitiesFor(terms: PriceTerms): fc.Arbitrary<string> {
  const limits = (terms.tiers ?? []).flatMap(({ up_to }) => up_to ?? []);
  const size = terms.transform_quantity ? [String(terms.transform_quantity.divide_by)] : [];
  const edges = [...limits, ...size];
  if (edges.length === 0) return quantities;
  const atoms = fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: 1, max: 3 }), fc.constantFrom(-1n, 0n, 1n))
    .map(([edge, factor, beside]) => {
      const text = (BigInt(edge) * BigInt(factor) * 10n ** 15n + beside).toString().padStart(16, '0');
      return `${text.slice(0, -15)}.${text.slice(-15)}`;
    });
  return fc.oneof(quantities, atoms);
}
