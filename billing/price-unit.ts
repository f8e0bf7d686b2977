import { currencyPrecision, type Decimal, decimal, decimalString, roundToCurrency, storedDecimal } from './money.ts';

/** A tier as prices store it. */
interface Tier {
  up_to: string | null;
  unit_amount: string;
  flat_amount: string;
}

/** What an invoice bills in one custom currency and the rate its lines were converted with. Wire spelling, decimals as strings. */
export interface PriceUnitTotal {
  price_unit: string;
  price_unit_id: string;
  conversion_rate: string;
  amount: string;
}

/**
 * An amount of a custom currency in its base currency: kept to 15 decimals, never rounded to the currency.
 * spec: catalogue-and-metering §4.5 Conversion
 */
export function fiatAmount(unitAmount: string, rate: string): string {
  return decimalString(storedDecimal(decimal(unitAmount).times(rate)));
}

/** Tiers of a custom currency in its base currency: unit and flat amount of each. spec: catalogue-and-metering §4.5 */
export function fiatTiers(tiers: readonly Tier[], rate: string): Tier[] {
  return tiers.map((tier) => ({
    up_to: tier.up_to,
    unit_amount: fiatAmount(tier.unit_amount, rate),
    flat_amount: fiatAmount(tier.flat_amount, rate),
  }));
}

/**
 * A rounded fiat amount back in the custom currency, rounded to the precision of the base currency: what a line shows beside
 * its amount. spec: catalogue-and-metering §4.5 Invoice line
 */
export function priceUnitAmount(amount: Decimal | string, rate: string, baseCurrency: string): Decimal {
  return roundToCurrency(decimal(amount).dividedBy(rate), baseCurrency);
}

/** The decimals of a custom currency that names none: those of its base currency. spec: catalogue-and-metering §4.5 precision */
export function priceUnitPrecision(given: number | undefined, baseCurrency: string): number {
  return given ?? currencyPrecision(baseCurrency);
}
