import { isActive } from '../../../billing/commitment/commitment.ts';
import {
  checkItemCommitment,
  type NewItemCommitment,
  type NewTimeBucket,
} from '../../../billing/commitment/commitment-rules.ts';
import { chargedEvery } from '../../../billing/line/commitment-period.ts';
import { compareText } from '../../../billing/text-order.ts';
import type { ChargeCadence } from '../../../billing/time/cadence.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import type { StoredTimeBucket } from '../../../db/entities/subscription/subscription-line-item.ts';
import { newId } from '../../../db/id.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { insertOwnPrices, overridePrice, type SentTerms, type StoredPrice } from '../../catalogue/price/own-price.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';

/** A line item to be committed: its subscription, its price, and where it stands in the request. */
export interface CommittableItem {
  row: Pick<SubscriptionRow, 'id' | 'billingPeriod' | 'billingPeriodCount'>;
  price: StoredPrice;
  field: string;
}

/** The columns of a line item that hold its commitment. */
export interface CommitmentColumns {
  commitmentType: string | null;
  commitmentAmount: string | null;
  commitmentQuantity: string | null;
  commitmentOverageFactor: string | null;
  commitmentDuration: BillingPeriod | null;
  commitmentTrueUpEnabled: boolean;
  commitmentWindowed: boolean;
  commitmentTimeBuckets: StoredTimeBucket[] | null;
}

/** The columns of a line item that is committed to nothing. */
export const uncommitted: CommitmentColumns = {
  commitmentType: null,
  commitmentAmount: null,
  commitmentQuantity: null,
  commitmentOverageFactor: null,
  commitmentDuration: null,
  commitmentTrueUpEnabled: false,
  commitmentWindowed: false,
  commitmentTimeBuckets: null,
};

/**
 * The columns of a line item's commitment; the prices of its time buckets are written as prices of the subscription. Throws
 * `validation_error` for a commitment the item cannot have. spec: subscriptions-and-invoicing §2.7.3 – §2.7.5
 */
export async function commitItem(
  sql: Sql,
  scope: Scope,
  { row, price, field }: CommittableItem,
  commitment: NewItemCommitment,
): Promise<CommitmentColumns> {
  const { billingPeriod, billingPeriodCount } = chargedEvery<ChargeCadence>(price as ChargeCadence, row);
  const bucketSize = price.bucketSize || price.bucketSizeOfMeter;
  const priceType = price.type as 'FIXED' | 'USAGE';
  checkItemCommitment(commitment, { priceType, bucketSize, billingPeriod, billingPeriodCount }, field);
  const timeBuckets: StoredTimeBucket[] = [];
  for (const [index, bucket] of commitment.timeBuckets.entries()) {
    const path = `${field}.commitment_time_buckets[${index}].price.`;
    const priceId = bucket.kept?.priceId ?? (await bucketPrice(sql, scope, { row, price }, bucket, path));
    timeBuckets.push(storedBucket(bucket, priceId));
  }
  return {
    commitmentType: commitment.type,
    commitmentAmount: commitment.type === 'amount' ? commitment.value : null,
    commitmentQuantity: commitment.type === 'quantity' ? commitment.value : null,
    commitmentOverageFactor: commitment.overageFactor,
    commitmentDuration: commitment.duration,
    commitmentTrueUpEnabled: commitment.trueUp,
    commitmentWindowed: commitment.windowed,
    commitmentTimeBuckets: timeBuckets.length === 0 ? null : timeBuckets,
  };
}

/**
 * Writes the price of a time of the day: that of the line with what was sent over it. Throws `validation_error` for another unit or
 * other conditions on events than the line's, which hold for the whole line, and for an end that is not after its start.
 */
async function bucketPrice(
  sql: Sql,
  scope: Scope,
  { row, price }: Pick<CommittableItem, 'row' | 'price'>,
  bucket: NewTimeBucket,
  path: string,
): Promise<string> {
  refuseForeign(price, bucket, path);
  const term = { startDate: bucket.from ?? price.startDate, endDate: bucket.to ?? price.endDate ?? null };
  if (bucket.to && bucket.to <= term.startDate)
    throw badField(`${path}end_date`, `must be after ${term.startDate}, where the price begins`);
  const own = await overridePrice(sql, scope, row.id, price, bucket.terms as SentTerms, path);
  await insertOwnPrices(sql, scope, [{ ...own, ...term }]);
  return own.id;
}

function refuseForeign(price: StoredPrice, { repeats }: NewTimeBucket, path: string): void {
  const { priceUnit = null, filterValues = null } = repeats ?? {};
  if (priceUnit !== null && priceUnit !== price.priceUnit) {
    const unit = price.priceUnit ?? price.currency;
    throw badField(`${path}price_unit_config.price_unit`, `must be ${unit}, in which the line item is priced`);
  }
  if (filterValues === null || conditionsOf(filterValues) === conditionsOf(price.filterValues ?? {})) return;
  const problem =
    "must be those of the line item's price, or be left out: the hour decides the price of an event, not whether it counts";
  throw badField(`${path}filter_values`, problem);
}

/** Conditions on events as one text, whatever their order. */
function conditionsOf(filters: Record<string, string[]>): string {
  const sorted = Object.entries(filters).map(([key, values]) => [key, [...new Set(values)].sort()] as const);
  return JSON.stringify(sorted.sort(([a], [b]) => compareText(a, b)));
}

function storedBucket(bucket: NewTimeBucket, priceId: string): StoredTimeBucket {
  return {
    id: bucket.kept?.id ?? newId('bucket'),
    price_id: priceId,
    commitment_type: bucket.type,
    commitment_value: bucket.value,
    overage_factor: bucket.overageFactor,
    true_up_enabled: bucket.trueUp,
    start: bucket.start,
    end: bucket.end,
    ...(bucket.from ? { from: bucket.from } : {}),
    ...(bucket.to ? { to: bucket.to } : {}),
  };
}

/** A subscription is committed as a whole or by its lines. spec: subscriptions-and-invoicing §2.7, §3 row 17 */
export function refuseBothLevels(
  { commitmentAmount, overageFactor }: Pick<SubscriptionRow, 'commitmentAmount' | 'overageFactor'>,
  items: readonly { commitment: NewItemCommitment | null; field: string }[],
): void {
  const line = items.find(({ commitment }) => commitment !== null);
  if (line && commitmentAmount !== null && isActive({ amount: commitmentAmount, overageFactor }))
    throw badField(line.field, 'cannot be combined with commitment_amount; commit the subscription or its lines');
}
