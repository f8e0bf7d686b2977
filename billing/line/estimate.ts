import { type Decimal, decimal } from '../money/money.ts';
import type { Derivation } from '../price/derivation.ts';
import { effectiveUnitCost } from '../price/price.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { nextBoundary } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import type { ChargeItem, PlannedCharge, UsageAnswer } from './charge-input.ts';
import { priceCharges } from './charge-price.ts';

/** What an estimate rates: a price, and a quantity or what a meter made of usage. Instants are ISO strings. */
export interface EstimateInput {
  price: PriceTerms;
  type: 'FIXED' | 'USAGE';
  billingPeriod: ChargeItem['billingPeriod'];
  billingPeriodCount: number;
  invoiceCadence: 'ADVANCE' | 'ARREAR';
  meterId: string | null;
  bucketSize: string | null;
  displayName: string;
  /** The time it is for; null is one charge period from `at` on. */
  period: { start: string; end: string } | null;
  at: string;
  timezone: string;
  /** FIXED: the quantity of the line. */
  quantity: string;
  /** USAGE: the quantity, with its buckets where the price has them. */
  usage: UsageAnswer | null;
}

export interface Estimate {
  quantity: string;
  /** Unrounded. */
  cost: Decimal;
  /** What an invoice line would bill. */
  amount: string;
  effectiveUnitCost: Decimal;
  derivation: Derivation;
}

const oneTimeMs = 1000;
const id = 'estimate';

/**
 * One whole charge period of a price, rated as an invoice rates it: no allowance, no proration, one rounding.
 * spec: catalogue-and-metering §4.3, §4.4; own operation
 */
export function estimateCharge(input: EstimateInput): Estimate {
  const period = input.period ?? chargePeriodFrom(input);
  const item = chargeItem(input, period.start);
  const usage = input.usage && {
    meterId: input.meterId ?? '',
    from: period.start,
    to: period.end,
    main: id,
    bucketing:
      input.bucketSize === null
        ? null
        : { size: input.bucketSize, timezone: input.timezone, billingAnchor: period.start },
    allowance: null,
    windows: [],
    grants: null,
  };
  const planned: PlannedCharge = {
    item,
    currency: input.price.currency,
    charge: usage ? 'usage' : input.billingPeriod === 'ONETIME' ? 'onetime' : 'fixed',
    periodStart: period.start,
    periodEnd: period.end,
    parts: [{ ...period, proration: null, usage }],
    folded: false,
    questions: [],
  };
  const [line] = priceCharges([planned], input.usage ? { [id]: input.usage } : {});
  const { derivation, quantity, amount } = line!;
  const cost = decimal(derivation.parts[0]!.cost);
  return { quantity, cost, amount, effectiveUnitCost: effectiveUnitCost(cost, decimal(quantity)), derivation };
}

function chargeItem(input: EstimateInput, startDate: string): ChargeItem {
  const { price, type, billingPeriod, billingPeriodCount, invoiceCadence, meterId, bucketSize, displayName } = input;
  const terms = { price, billingPeriod, billingPeriodCount, invoiceCadence, meterId, bucketSize, displayName };
  const quantity = input.quantity;
  return {
    ...terms,
    id,
    priceId: id,
    priceType: type,
    quantity,
    startDate,
    endDate: null,
    resetUsage: 'BILLING_PERIOD',
  };
}

function chargePeriodFrom(input: EstimateInput): { start: string; end: string } {
  const { at: start, billingPeriod, billingPeriodCount, timezone } = input;
  if (billingPeriod === 'ONETIME') return { start, end: instantText(epochMs(start) + oneTimeMs) };
  const cadence = { anchor: start, billingCycle: 'anniversary' as const, billingPeriod, billingPeriodCount, timezone };
  return { start, end: nextBoundary({ ...cadence, periodStart: start }) };
}
