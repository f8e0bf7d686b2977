import { type Allowance, allowanceOf, billableQuantity } from '../../../billing/allowance/allowance.ts';
import {
  type Decimal,
  decimal,
  decimalString,
  roundToCurrency,
  storedDecimal,
  sum,
  zero,
} from '../../../billing/money/money.ts';
import { costOfQuantity, defaultQuantity, effectiveUnitCost } from '../../../billing/price/price.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import { millisecondsBetween } from '../../../billing/time/calendar.ts';
import { windowBounds } from '../../../billing/time/window.ts';
import { knownZone } from '../../../metering/series.ts';
import { type Adapters, type Given, text } from '../adapter.ts';

/** A vector's price: the members production reads, numbers as text. */
export function priceTerms(price: Given): PriceTerms {
  return {
    ...price,
    amount: text(price.amount),
    percentage_rate: text(price.percentage_rate),
    tiers:
      price.tiers?.map((tier: Given) => ({
        up_to: text(tier.up_to),
        unit_amount: text(tier.unit_amount),
        flat_amount: text(tier.flat_amount),
      })) ?? null,
  };
}

function priceCost({ price, quantity: given }: Given): unknown {
  const quantity = storedDecimal(given);
  const { cost } = costOfQuantity(priceTerms(price), quantity);
  return {
    cost: decimalString(cost),
    line_amount: decimalString(roundToCurrency(cost, price.currency)),
    effective_unit_cost: decimalString(effectiveUnitCost(cost, quantity)),
  };
}

function lineSum({ currency, line_costs: costs }: Given): unknown {
  const amounts = costs.map((cost: string) => roundToCurrency(decimal(cost), currency));
  return {
    line_amounts: amounts.map((amount: Decimal) => decimalString(amount)),
    subtotal: decimalString(sum(amounts)),
  };
}

function entitlementCharge(given: Given): unknown {
  const { entitlement, price } = given;
  const allowance: Allowance | null = entitlement
    ? allowanceOf({
        isEnabled: entitlement.is_enabled ?? true,
        usageLimit: text(entitlement.usage_limit),
        usageResetPeriod: entitlement.usage_reset_period ?? null,
      })
    : null;
  const before = storedDecimal(given.usage_before_period ?? zero);
  const usages: Decimal[] = (given.window_usage ?? [given.period_usage]).map(storedDecimal);
  const raw = sum(usages);
  const windows = usages.map((usage) => ({ before, total: before.plus(usage) }));
  const { billable, adjusted } = billableQuantity(allowance, raw, windows);
  const { cost } = costOfQuantity(priceTerms(price), billable);
  return {
    raw_quantity: decimalString(raw),
    billable_quantity: decimalString(billable),
    adjusted_entitlement_quantity: decimalString(adjusted),
    cost: decimalString(cost),
    line_amount: decimalString(roundToCurrency(cost, price.currency)),
  };
}

function bounds(given: Given): unknown {
  const window = windowBounds({
    timestamp: given.timestamp,
    windowSize: given.window_size,
    timezone: knownZone(given.timezone),
    billingAnchor: given.billing_anchor ?? null,
  });
  return { ...window, seconds: millisecondsBetween(window.start, window.end) / 1000 };
}

export const catalogueAdapters: Adapters = {
  price_cost: priceCost,
  round_amount: ({ amount, currency }) => ({ rounded: decimalString(roundToCurrency(decimal(amount), currency)) }),
  line_sum: lineSum,
  default_quantity: (given) => ({
    quantity: defaultQuantity(given.price_type, text(given.min_quantity), text(given.requested_quantity)),
  }),
  entitlement_charge: entitlementCharge,
  window_bounds: bounds,
};
