import type { ChargeItem, UsageAnswer } from '../../../billing/line/charge.ts';
import { type Estimate, estimateCharge } from '../../../billing/line/estimate.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import { defaultQuantity } from '../../../billing/price/price.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { GivenUsage, UsageMeasurer } from '../../usage-measurer.ts';
import { newPriceColumns, type PriceColumns } from './price.ts';
import type { NewPrice } from './price-rules.ts';
import { currentTerms } from './price-terms.ts';

export interface EstimateRequest {
  /** A stored price by its id, or one as a creation would send it. */
  price: { id: string } | { input: NewPrice };
  /** Null where `usage` says it, and for a fixed price that has a quantity of its own. */
  quantity: string | null;
  usage: GivenUsage | null;
  period: { start: string; end: string } | null;
  timezone: string;
}

export interface PriceEstimate extends Estimate {
  priceId: string | null;
  /** Counts up with every change of the price; null where it is not stored. */
  sequence: number | null;
  price: PriceColumns;
  meter: Meter | null;
}

/**
 * What a price bills for a quantity or for given usage over one whole charge period; nothing is stored. An inline price goes by
 * the rules of creation. Throws `not_found` for an unknown price, `validation_error` for a usage price without usage, for usage
 * of a fixed price and for what creation refuses. `at` is the present. Own operation
 */
export async function estimatePrice(
  tx: Transaction,
  request: EstimateRequest,
  measure: UsageMeasurer,
  at: string,
): Promise<PriceEstimate> {
  const { price, priceId, sequence } = await pricedBy(tx, request.price);
  const meter = price.meterId ? await meterOf(tx, price.meterId) : null;
  const rated = price.type === 'USAGE' ? usageOf({ ...request, at }, price, meter, measure) : fixedOf(request, price);
  const estimate = estimateCharge({
    price: await currentTerms(tx, price),
    type: price.type as 'FIXED' | 'USAGE',
    billingPeriod: price.billingPeriod as ChargeItem['billingPeriod'],
    billingPeriodCount: price.billingPeriodCount,
    invoiceCadence: price.invoiceCadence as 'ADVANCE' | 'ARREAR',
    meterId: price.meterId ?? null,
    bucketSize: bucketSizeOf(price, meter),
    displayName: price.displayName,
    at,
    timezone: request.timezone,
    ...rated,
  });
  return { ...estimate, priceId, sequence, price, meter };
}

async function pricedBy(tx: Transaction, given: EstimateRequest['price']) {
  if ('input' in given)
    return { price: await newPriceColumns(tx, given.input, 'price.'), priceId: null, sequence: null };
  const price = await tx.em.findOne(Price, { id: given.id, environmentId: tx.scope.environmentId });
  if (!price) throw missing('price', given.id, 'price_id');
  return { price, priceId: price.id, sequence: price.sequence };
}

async function meterOf(tx: Transaction, id: string): Promise<Meter> {
  return tx.em.findOneOrFail(Meter, { id, environmentId: tx.scope.environmentId });
}

function bucketSizeOf(price: PriceColumns, meter: Meter | null): string | null {
  return price.bucketSize || meter?.aggregation.bucket_size || null;
}

type Rated = { quantity: string; usage: UsageAnswer | null; period: { start: string; end: string } | null };

function fixedOf({ quantity, usage, period }: EstimateRequest, price: PriceColumns): Rated {
  if (usage) {
    const field = usage.kind === 'values' ? 'usage' : 'windows';
    throw badField(field, 'belongs to prices of type USAGE; send quantity for a FIXED one');
  }
  return { quantity: defaultQuantity('FIXED', price.minQuantity, quantity), usage: null, period };
}

/** A quantity given for a bucketed price is that of one bucket. */
function usageOf(
  request: EstimateRequest & { at: string },
  price: PriceColumns,
  meter: Meter | null,
  measure: UsageMeasurer,
): Rated {
  const { quantity, usage, period } = request;
  const bucketSize = bucketSizeOf(price, meter);
  if (usage) {
    const { type = 'SUM', multiplier = null } = meter?.aggregation ?? {};
    const measured = measure({ type, multiplier, bucketSize }, usage);
    return { quantity: '0', usage: measured.answer, period: measured.period };
  }
  if (quantity === null) throw badField('quantity', 'is required for a price of type USAGE; or send usage or windows');
  const value = decimalString(decimal(quantity));
  const buckets = bucketSize === null ? {} : { buckets: [{ start: period?.start ?? request.at, group: '', value }] };
  return { quantity: '0', usage: { quantity: value, ...buckets }, period };
}
