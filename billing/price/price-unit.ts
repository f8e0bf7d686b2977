import {
  type Decimal,
  decimal,
  decimalString,
  moneyString,
  roundToCurrency,
  storedDecimal,
  sum,
} from '../money/money.ts';
import { amountOfCost, proratedCost } from './charge-amount.ts';
import type { Derivation } from './derivation.ts';
import type { PriceTerms } from './price-terms.ts';

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

/** What a line of a custom currency keeps beside its amount. */
export interface LinePriceUnit {
  priceUnit: string;
  priceUnitId: string;
  /** The amount back in the custom currency, rounded to the precision of the base currency. */
  priceUnitAmount: string;
  /** What the line costs in the custom currency, at the stored scale. */
  priceUnitCost: string;
  conversionRate: string;
}

/**
 * An amount of a custom currency in its base currency: kept to 15 decimals, never rounded to the currency.
 * spec: catalogue-and-metering §4.5 Conversion
 */
export function fiatAmount(unitAmount: string, rate: string): string {
  return decimalString(storedDecimal(storedDecimal(unitAmount).times(rate)));
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
 * A rounded fiat amount back in the custom currency, rounded to the precision of the base currency.
 * spec: catalogue-and-metering §4.5 Invoice line
 */
export function priceUnitAmount(amount: Decimal | string, rate: string, baseCurrency: string): Decimal {
  return roundToCurrency(decimal(amount).dividedBy(rate), baseCurrency);
}

/** A cost by the price's own amounts in the currency of the price: exact, at the rate in force. spec: catalogue-and-metering §4.5 */
export function costInCurrency(cost: Decimal, price: PriceTerms): Decimal {
  return price.price_unit ? cost.times(price.price_unit.rate) : cost;
}

/**
 * A line of a custom currency at another rate: the cost in the custom currency stays, everything behind it follows. A line in
 * a fiat currency is returned as it is. spec: catalogue-and-metering §4.5 Changing the rate; subscriptions-and-invoicing §2.15.10
 */
export function atRate(derivation: Derivation, rate: string): Derivation {
  const unit = derivation.price.price_unit;
  if (!unit || decimal(unit.rate).equals(rate)) return derivation;
  // Where a commitment cuts is decided when usage is priced, at the rate of then.
  if (derivation.parts.some((part) => part.commitment)) return derivation;
  const { currency } = derivation;
  const parts = derivation.parts.map((part) => {
    // Money over a budget is what it was when it was measured; a draft is measured again before it is final.
    if (part.grants?.measure === 'amount') return part;
    return {
      ...part,
      ...amountOfCost(decimal(part.unitCost ?? '0').times(rate), part.proration, currency, part.billedBefore).derived,
    };
  });
  const amount = moneyString(sum(parts.map((part) => decimal(part.amount))), currency);
  return { ...derivation, price: { ...derivation.price, price_unit: { ...unit, rate } }, parts, amount };
}

/** What a line keeps of its custom currency; null for one in a fiat currency. spec: catalogue-and-metering §4.5 */
export function linePriceUnit(derivation: Derivation): LinePriceUnit | null {
  const unit = derivation.price.price_unit;
  if (!unit) return null;
  const costs = derivation.parts.map((part) => proratedCost(decimal(part.unitCost ?? '0'), part.proration));
  return {
    priceUnit: unit.code,
    priceUnitId: unit.id,
    priceUnitAmount: decimalString(priceUnitAmount(derivation.amount, unit.rate, derivation.currency)),
    priceUnitCost: decimalString(storedDecimal(sum(costs))),
    conversionRate: unit.rate,
  };
}

/** What the lines of an invoice come to in each custom currency, by its code; null where there is none. spec: subscriptions-and-invoicing §2.15.10 */
export function priceUnitTotals(lines: readonly (LinePriceUnit | null)[]): PriceUnitTotal[] | null {
  const converted = lines.filter((line) => line !== null);
  if (converted.length === 0) return null;
  const byUnit = Map.groupBy(converted, (line) => `${line.priceUnit} ${line.priceUnitId} ${line.conversionRate}`);
  return [...byUnit.keys()].sort().map((key) => {
    const own = byUnit.get(key)!;
    const { priceUnit, priceUnitId, conversionRate } = own[0]!;
    return {
      price_unit: priceUnit,
      price_unit_id: priceUnitId,
      conversion_rate: conversionRate,
      amount: decimalString(sum(own.map((line) => decimal(line.priceUnitAmount)))),
    };
  });
}
