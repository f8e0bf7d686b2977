import { estimateCharge } from '../../../billing/line/estimate.ts';
import {
  decimal,
  decimalString,
  moneyString,
  roundToCurrency,
  storedDecimal,
  sum,
} from '../../../billing/money/money.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import { costOfQuantity } from '../../../billing/price/price.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import {
  atRate,
  costInCurrency,
  fiatAmount,
  fiatTiers,
  linePriceUnit,
  priceUnitAmount,
} from '../../../billing/price/price-unit.ts';
import { type Adapters, type Given, text } from '../adapter.ts';

function priceUnitCost({ price_unit: unit, price_unit_config: config, currency, quantity: given }: Given): unknown {
  const rate = decimalString(storedDecimal(unit.conversion_rate));
  const tiers = config.price_unit_tiers?.map((tier: Given) => ({
    up_to: text(tier.up_to),
    unit_amount: text(tier.unit_amount),
    flat_amount: text(tier.flat_amount ?? '0'),
  }));
  const terms: PriceTerms = {
    billing_model: tiers ? 'TIERED' : 'FLAT_FEE',
    currency,
    amount: text(config.amount),
    tiers: tiers ?? null,
    tier_mode: config.tier_mode ?? null,
    price_unit: { id: unit.code, code: unit.code, rate },
  };
  const cost = costInCurrency(costOfQuantity(terms, storedDecimal(given)).cost, terms);
  const amount = roundToCurrency(cost, currency);
  const fiat = tiers
    ? { fiat_tiers: fiatTiers(tiers, rate).map(numbered) }
    : { fiat_amount: fiatAmount(terms.amount!, rate) };
  return {
    ...fiat,
    cost: decimalString(cost),
    line_amount: decimalString(amount),
    price_unit_line_amount: decimalString(priceUnitAmount(amount, rate, unit.base_currency)),
  };
}

function numbered(tier: { up_to: string | null; unit_amount: string; flat_amount: string }) {
  return { ...tier, up_to: tier.up_to === null ? null : Number(tier.up_to) };
}

/** Each custom amount is a line of quantity 1: computed while the invoice is a draft, converted again at its finalization. */
function customCurrencyFreeze(given: Given): unknown {
  const { currency, custom_line_amounts: amounts } = given;
  const drafts: Derivation[] = amounts.map((amount: string) => lineOf(amount, currency, given.factor_while_draft));
  const finals = drafts.map((draft) => atRate(draft, text(given.factor_at_finalization)!));
  return {
    draft: shown(drafts, currency),
    finalized: shown(finals, currency),
    // What is final is read as it was stored.
    read_later: shown(finals, currency),
    custom_line_amounts: finals.map((line) => linePriceUnit(line)?.priceUnitCost),
  };
}

function lineOf(amount: string, currency: string, rate: string): Derivation {
  const price: PriceTerms = {
    billing_model: 'FLAT_FEE',
    currency,
    amount: text(amount),
    price_unit: { id: 'unit', code: 'unit', rate: text(rate)! },
  };
  return estimateCharge({
    price,
    type: 'FIXED',
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    invoiceCadence: 'ADVANCE',
    meterId: null,
    bucketSize: null,
    displayName: '',
    period: null,
    at: '2026-01-01T00:00:00.000Z',
    timezone: 'UTC',
    quantity: '1',
    usage: null,
  }).derivation;
}

function shown(lines: readonly Derivation[], currency: string): unknown {
  const subtotal = moneyString(sum(lines.map((line) => decimal(line.amount))), currency);
  return { lines: lines.map((line) => line.amount), subtotal };
}

export const priceUnitAdapters: Adapters = {
  price_unit_cost: priceUnitCost,
  custom_currency_freeze: customCurrencyFreeze,
};
