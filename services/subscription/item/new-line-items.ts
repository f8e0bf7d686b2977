import type { NewItemCommitment } from '../../../billing/commitment/commitment-rules.ts';
import type { NewLineItem, NewPriceOverride, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { cadenceRelation } from '../../../billing/time/cadence.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { inlinePrice } from '../../catalogue/price/inline-price.ts';
import {
  insertOwnPrices,
  overridePrice,
  readStoredPrices,
  type SentTerms,
  type StoredPrice,
} from '../../catalogue/price/own-price.ts';
import type { PriceColumns } from '../../catalogue/price/price.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type CommittableItem, commitItem, refuseBothLevels } from './line-item-commitment.ts';
import { lineItemOf, lineItemsOf, type PlanPrice } from './subscription-item.ts';

export type LineItemRecord = Record<string, unknown> & { id: string };

/**
 * The line items of a new subscription, not yet written: those of its plan's prices, some with prices of their own in place of
 * the plan's, then what the request adds, each with what it is committed to. Prices are written. Throws `not_found` and
 * `validation_error`. spec: subscriptions-and-invoicing §2.3.1 steps 6 – 10, 17
 */
export async function newLineItems(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  plan: { name: string; prices: readonly PlanPrice[] },
  input: Pick<NewSubscription, 'overrideLineItems' | 'lineItems' | 'lineItemCommitments'>,
  within = wholeSubscription,
): Promise<LineItemRecord[]> {
  const overrides = input.overrideLineItems;
  const { prices, originals } = await overridden(sql, scope, row, plan.prices, overrides, within.path);
  const ofPlan = lineItemsOf(scope, row, plan.name, prices) as LineItemRecord[];
  const wanted = committedBy(ofPlan, prices, originals, input.lineItemCommitments, within);
  for (const [index, extra] of input.lineItems.entries()) {
    const field = `${within.path}line_items[${index}]`;
    const item = await extraItem(sql, scope, row, extra, { noun: within.noun, path: `${field}.` });
    wanted.push({ item, commitment: extra.commitment, field });
  }
  refuseBothLevels(row, wanted);
  return withCommitments(sql, scope, row, wanted);
}

/** Where line items stand in the request, and what they are in force as long as. */
export interface Within {
  path: string;
  noun: 'subscription' | 'phase' | 'add-on';
}

const wholeSubscription: Within = { path: '', noun: 'subscription' };

/** Items of prices with what each is committed to, by the price that was asked for. Throws `validation_error` for a price that is on none. */
export function committedBy(
  items: readonly LineItemRecord[],
  prices: readonly PlanPrice[],
  originals: ReadonlyMap<string, string>,
  asked: Record<string, NewItemCommitment>,
  { path, noun }: Within,
): Wanted[] {
  const commitments = new Map(Object.entries(asked));
  const wanted = items.map((item, index): Wanted => {
    const priceId = originals.get(prices[index]!.id) ?? prices[index]!.id;
    const commitment = commitments.get(priceId) ?? null;
    commitments.delete(priceId);
    return { item, commitment, field: `${path}line_item_commitments.${priceId}` };
  });
  for (const unknown of commitments.keys())
    throw badField(`${path}line_item_commitments.${unknown}`, `names a price that is on no line item of the ${noun}`);
  return wanted;
}

/** A line item to be written, with what it is committed to and where that stands in the request. */
export interface Wanted {
  item: LineItemRecord;
  commitment: NewItemCommitment | null;
  field: string;
}

/** The items with what they are committed to; prices of time buckets are written. */
export async function withCommitments(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  wanted: readonly Wanted[],
): Promise<LineItemRecord[]> {
  const committed = wanted.filter(({ commitment }) => commitment !== null);
  const prices = await readStoredPrices(
    sql,
    scope.environmentId,
    committed.map(({ item }) => item.priceId as string),
  );
  const items: LineItemRecord[] = [];
  for (const { item, commitment, field } of wanted) {
    if (commitment === null) items.push(item);
    else {
      const price = prices.get(item.priceId as string)!;
      items.push({ ...item, ...(await commitItem(sql, scope, { row, price, field } as CommittableItem, commitment)) });
    }
  }
  return items;
}

/** The plan's prices with those of the subscription in place of the overridden ones, and which stands for which. spec: §2.3.6 */
export async function overridden(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  prices: readonly PlanPrice[],
  overrides: readonly NewPriceOverride[],
  within: string,
): Promise<{ prices: PlanPrice[]; originals: Map<string, string> }> {
  const stored = await readStoredPrices(
    sql,
    scope.environmentId,
    overrides.map(({ priceId }) => priceId),
  );
  const own: (PriceColumns & { id: string })[] = [];
  const replaced = new Map<string, PlanPrice>();
  for (const [index, override] of overrides.entries()) {
    const path = `${within}override_line_items[${index}].`;
    const price = prices.find(({ id }) => id === override.priceId);
    const parent = stored.get(override.priceId);
    if (!price || !parent)
      throw badField(
        `${path}price_id`,
        `names price ${override.priceId}, which neither the plan nor the add-on brings`,
      );
    if (replaced.has(price.id)) throw badField(`${path}price_id`, 'is overridden twice; say everything in one element');
    refuseUsageQuantity(price, override.quantity, path);
    const made = await overridePrice(sql, scope, row.id, parent, override.terms as SentTerms, path);
    own.push(made);
    replaced.set(price.id, { ...price, id: made.id, parentPriceId: price.id, quantity: override.quantity });
  }
  await insertOwnPrices(sql, scope, own);
  return {
    prices: prices.map((price) => replaced.get(price.id) ?? price),
    originals: new Map([...replaced].map(([original, { id }]) => [id, original])),
  };
}

function refuseUsageQuantity(price: { type: string }, quantity: string | null, path: string): void {
  if (price.type === 'USAGE' && quantity !== null && quantity !== '0')
    throw badField(`${path}quantity`, 'belongs to FIXED prices; usage is measured');
}

/** A line item beside those of the plan, in force as long as `row` unless it says otherwise. spec: subscriptions-and-invoicing §1.9 */
async function extraItem(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  extra: NewLineItem,
  { noun, path }: Within,
): Promise<LineItemRecord> {
  const price = await priceOf(sql, scope, row, extra, path);
  if (price.currency !== row.currency)
    throw badField(`${path}price_id`, `is in ${price.currency}; the subscription is in ${row.currency}`);
  refuseCadence(price, row, path);
  refuseUsageQuantity(price, extra.quantity, path);
  const start = extra.startDate ?? row.startDate;
  if (start < row.startDate)
    throw badField(`${path}start_date`, `must not be before ${row.startDate}, the ${noun}'s start`);
  if (noun === 'phase' && row.endDate !== null && start >= row.endDate)
    throw badField(`${path}start_date`, `must be before ${row.endDate}, the phase's end`);
  if (extra.endDate !== null && extra.endDate <= start) throw badField(`${path}end_date`, 'must be after start_date');
  if (extra.endDate !== null && row.endDate !== null && extra.endDate > row.endDate)
    throw badField(`${path}end_date`, `must not be after ${row.endDate}, the ${noun}'s end`);
  const end = extra.endDate ?? row.endDate;
  const owner = { entityType: 'subscription' as const, entityId: row.id, name: '', start, end, attachment: null };
  const displayName = extra.displayName || price.displayName;
  const item = lineItemOf(scope, row, { ...planPrice(price), displayName, quantity: extra.quantity }, owner);
  return { ...item, metadata: extra.metadata, prorationBehavior: extra.prorationBehavior ?? null };
}

/** A price as line items are made of it; what a price sync asks for does not matter here. */
function planPrice(price: StoredPrice): PlanPrice {
  const { id, parentPriceId, billingPeriodCount, currency, meterId, meterName, minQuantity, trialPeriodDays } = price;
  return {
    ...{ id, currency, billingPeriodCount, trialPeriodDays },
    parentPriceId: parentPriceId ?? null,
    type: price.type as PlanPrice['type'],
    billingPeriod: price.billingPeriod as PlanPrice['billingPeriod'],
    invoiceCadence: price.invoiceCadence as PlanPrice['invoiceCadence'],
    meterId: meterId ?? null,
    meterName,
    minQuantity: minQuantity ?? null,
    displayName: price.displayName,
    startDate: price.startDate,
    endDate: price.endDate ?? null,
    sequence: 0,
  };
}

async function priceOf(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  extra: NewLineItem,
  path: string,
): Promise<StoredPrice> {
  if (extra.priceId === null) {
    const sent = extra.price as { currency?: string };
    const price = { ...sent, currency: sent.currency ?? row.currency };
    return inlinePrice(sql, scope, row.id, price, `${path}price.`);
  }
  const price = (await readStoredPrices(sql, scope.environmentId, [extra.priceId])).get(extra.priceId);
  const foreign = price?.entityType === 'SUBSCRIPTION' && price.entityId !== row.id;
  if (!price || foreign || price.entityType === 'COSTSHEET') throw missing('price', extra.priceId, `${path}price_id`);
  return price;
}

/** Equal to the subscription's cadence, dividing it, days or weeks inside it, a multiple of it, or once. spec: §1.9, §2.6.3 */
function refuseCadence(price: StoredPrice, row: SubscriptionRow, path: string): void {
  const cadence = { billingPeriod: price.billingPeriod as BillingPeriod, billingPeriodCount: price.billingPeriodCount };
  if (cadenceRelation(cadence, row) !== 'longer' || cadenceRelation(row, cadence) === 'shorter') return;
  throw badField(
    `${path}price_id`,
    `is charged every ${price.billingPeriodCount} × ${price.billingPeriod}, which neither divides nor is a multiple of the billing period`,
  );
}
