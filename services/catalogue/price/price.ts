import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { badField, missing, newRecord, refuseInvalid, takenKey, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { type AuditRecord, writeAudit } from '../../platform/audit.ts';
import { publishedAddon } from '../addon.ts';
import { lockCostsheetForPrice } from '../costsheet.ts';
import { groupToJoin } from '../group.ts';
import { bucketedTypes } from '../meter-rules.ts';
import {
  cadenceColumns,
  checkPrice,
  type NewPrice,
  type PricingTerms,
  pricingTerms,
  unitTerms,
} from './price-rules.ts';
import { lockPlans, nextPriceSequence } from './price-sequence.ts';
import { priceUnitOfPrice } from './price-unit.ts';
import { convertedTerms, noUnit, type UnitColumns } from './price-unit-prices.ts';

const maxActivePricesPerOwner = 5000;

/**
 * Creates a price. `path` is where it stands in the request. Throws `validation_error` for members that do not fit,
 * `not_found` for an unknown owner or meter, `invalid_operation` for an archived owner, `already_exists` for a taken
 * lookup key.
 *
 * spec: catalogue-and-metering §4.1, §13 rows 11–22
 */
export async function createPrice(tx: Transaction, input: NewPrice, path = ''): Promise<Price> {
  const price = await insertPrice(tx, await newPriceColumns(tx, input, path));
  await auditPrice(tx, price, 'created');
  return price;
}

/**
 * What a new price will be, nothing written: the rules of `createPrice` but for the lookup key, which only storing
 * can claim. `ahead` is how many prices of the owner the same request makes before this one.
 * spec: catalogue-and-metering §4.1
 */
export async function newPriceColumns(tx: Transaction, input: NewPrice, path = '', ahead = 0): Promise<PriceColumns> {
  checkPrice(input, path);
  const owner = await publishedOwner(tx, input, path);
  const meter = input.type === 'USAGE' ? await publishedMeter(tx, input.meterId!, path) : null;
  if (meter) refuseBuckets(input, meter, path);
  const group = await groupToJoin(tx, input.groupId, 'price', path);
  const terms = await termColumns(tx, input, path);
  await refuseTooMany(tx, input, path, ahead);
  return {
    ...terms,
    entityType: input.entityType!,
    entityId: input.entityId!,
    ...cadenceColumns(input, meter?.id ?? null),
    groupId: group?.id ?? null,
    startDate: input.startDate ?? new Date().toISOString(),
    endDate: input.endDate ?? null,
    displayName: input.displayName || (meter?.name ?? owner.name),
    description: input.description ?? '',
    lookupKey: input.lookupKey ?? '',
    metadata: input.metadata ?? {},
  };
}

/** What a new price costs, in its currency and, if it has one, its custom currency. spec: catalogue-and-metering §4.5 */
async function termColumns(tx: Transaction, input: NewPrice, path: string): Promise<PricingTerms & UnitColumns> {
  if (input.priceUnitType !== 'CUSTOM') return { ...pricingTerms(input), ...noUnit };
  const unit = await priceUnitOfPrice(tx, { code: input.priceUnit!, currency: input.currency }, path);
  return convertedTerms(unitTerms(input), unit);
}

/** A price of this environment, ended or not; throws `not_found`. */
export async function findPrice(tx: Transaction, id: string): Promise<Price> {
  const price = await tx.em.findOne(Price, { id, environmentId: tx.scope.environmentId });
  if (!price) throw missing('price', id);
  return price;
}

/**
 * The price behind a lookup key: published and not ended, the one in force now before one that starts later. Throws
 * `not_found`. spec: catalogue-and-metering §4.2
 */
export async function findPriceByLookupKey(tx: Transaction, lookupKey: string): Promise<Price> {
  const now = new Date().toISOString();
  const live = {
    environmentId: tx.scope.environmentId,
    lookupKey,
    status: 'published',
    $or: [{ endDate: null }, { endDate: { $gt: now } }],
  };
  const prices = await tx.em.find(Price, live, { orderBy: { startDate: 'asc', id: 'asc' } });
  const price = prices.findLast((candidate) => candidate.startDate <= now) ?? prices[0];
  if (!price) throw refuse('not_found', `no published price that has not ended has lookup_key ${lookupKey}`);
  return price;
}

/**
 * The prices a subscription to the plan may attach: published, of the plan itself, in the currency, not ended at `at`; in
 * the plan's order, which is the order of creation. spec: subscriptions-and-invoicing §2.3.2
 */
export function findAttachablePrices(
  tx: Transaction,
  of: { planId: string; currency: string; at: string },
): Promise<Price[]> {
  return tx.em.find(
    Price,
    {
      environmentId: tx.scope.environmentId,
      status: 'published',
      entityType: 'PLAN',
      entityId: of.planId,
      currency: of.currency,
      $or: [{ endDate: null }, { endDate: { $gt: of.at } }],
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
}

/** The published prices of plans, ended ones too unless `openOnly`, in the plan's order, by plan id. */
export async function pricesOfPlans(
  tx: Transaction,
  planIds: readonly string[],
  openOnly = false,
): Promise<Map<string, Price[]>> {
  if (planIds.length === 0) return new Map();
  const owned = {
    environmentId: tx.scope.environmentId,
    status: 'published',
    entityType: 'PLAN',
    entityId: { $in: [...planIds] },
  };
  const open = openOnly ? { $or: [{ endDate: null }, { endDate: { $gt: new Date().toISOString() } }] } : {};
  const prices = await tx.em.find(Price, { ...owned, ...open }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return Map.groupBy(prices, (price) => price.entityId);
}

/**
 * Ends a price at `endDate` (default now); the row stays for invoices. Throws `not_found`, `validation_error` when it has
 * ended, would end before its start or later than it does, `version_conflict` when another call ended it meanwhile.
 *
 * spec: catalogue-and-metering §4.2 Delete, §13 row 25
 */
export async function endPrice(tx: Transaction, id: string, endDate = new Date().toISOString()): Promise<Price> {
  const price = await lockPrice(tx, id);
  const now = new Date().toISOString();
  if (price.endDate && price.endDate <= now)
    throw badField('id', `names price ${id}, which ended at ${price.endDate}; an end is set once`);
  if (endDate < price.startDate)
    throw badField('end_date', `must not be before the start of the price, ${price.startDate}`);
  if (price.endDate && endDate > price.endDate)
    throw badField('end_date', `must not be after ${price.endDate}, when the price ends already`);
  await closePrice(tx, price, endDate);
  await auditPrice(tx, price, 'ended');
  return price;
}

/** Writes the end and renews the sequence, so that a price sync sees the change. spec: catalogue-and-metering §4.2 Sequence */
export async function closePrice(tx: Transaction, price: Price, endDate: string): Promise<void> {
  price.endDate = endDate;
  price.sequence = await nextPriceSequence(tx);
  touch(tx, price);
  await tx.em.flush();
}

/**
 * Locks a price and, before it, the plan that owns it. A caller that waited for another one to end the price gets `version_conflict`: it decided on a row that is
 * no longer so. spec: catalogue-and-metering §4.2 Chains
 */
export async function lockPrice(tx: Transaction, id: string): Promise<Price> {
  const where = { id, environmentId: tx.scope.environmentId };
  const [seen] = await tx.rows<{ sequence: string; entity_id: string }>(
    'select sequence, entity_id from price where id = $1 and environment_id = $2',
    [id, where.environmentId],
  );
  if (seen) await lockPlans(tx, [seen.entity_id]);
  const price = seen
    ? await tx.em.findOne(Price, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    : null;
  if (!seen || !price) throw missing('price', id);
  if (price.sequence !== Number(seen.sequence)) {
    throw refuse('version_conflict', `price ${id} was ended or superseded by another request; read it again`);
  }
  return price;
}

export type PriceColumns = Omit<
  Price,
  'id' | 'tenantId' | 'environmentId' | 'status' | 'createdAt' | 'createdBy' | 'updatedAt' | 'updatedBy' | 'sequence'
>;

/** Stores a price row under a new id and the next sequence. Throws `already_exists` for a lookup key that a live price holds. */
export async function insertPrice(tx: Transaction, columns: PriceColumns): Promise<Price> {
  const price = tx.em.create(Price, { ...newRecord(tx, 'price'), ...columns, sequence: await nextPriceSequence(tx) });
  await flushPrices(tx, price.lookupKey);
  return price;
}

/** Writes pending changes of prices and names the lookup key when it is taken. */
export async function flushPrices(tx: Transaction, lookupKey: string): Promise<void> {
  await flushUnique(tx, { price_lookup_key_unique: () => takenKey('price without an end', lookupKey) });
}

/** Writes the audit row of a price's change. Prices emit no events. spec: platform §17.3 */
export function auditPrice(
  tx: Transaction,
  price: Price,
  action: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  return writeAudit(tx, tx.scope, [priceAudit(price, action, detail)]);
}

/** The audit row of a price's change. */
export function priceAudit(price: Price, action: string, detail: Record<string, unknown>): AuditRecord {
  const { entityType: entity_type, entityId: entity_id, endDate: end_date, sequence } = price;
  const about = { entity_type, entity_id, end_date, sequence };
  return {
    objectType: 'price',
    objectId: price.id,
    action,
    occurredAt: price.updatedAt,
    detail: { ...about, ...detail },
  };
}

async function publishedOwner(tx: Transaction, input: NewPrice, path: string): Promise<{ name: string }> {
  const where = { id: input.entityId!, environmentId: tx.scope.environmentId };
  if (input.entityType === 'SUBSCRIPTION') {
    const subscription = await tx.em.findOne(Subscription, where);
    if (!subscription) throw missing('subscription', where.id, `${path}entity_id`);
    if (subscription.status !== 'published')
      throw refuseInvalid('entity_id', `subscription ${where.id} is ${subscription.status}`);
    return { name: '' };
  }
  if (input.entityType === 'ADDON') return publishedAddon(tx, where.id, `${path}entity_id`);
  if (input.entityType === 'COSTSHEET') return lockCostsheetForPrice(tx, where.id, `${path}entity_id`);
  await lockPlans(tx, [where.id]);
  const plan = await tx.em.findOne(Plan, where, { refresh: true });
  if (!plan) throw missing('plan', where.id, `${path}entity_id`);
  if (plan.status !== 'published') {
    throw refuseInvalid('entity_id', `plan ${plan.id} is ${plan.status}; prices can be added to published plans only`);
  }
  return plan;
}

async function publishedMeter(tx: Transaction, id: string, path: string): Promise<Meter> {
  const meter = await tx.em.findOne(Meter, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!meter) throw missing('published meter', id, `${path}meter_id`);
  return meter;
}

/** Only what a meter adds up or takes the greatest of can be cut into buckets. spec: catalogue-and-metering §4.1 */
function refuseBuckets(input: NewPrice, meter: Meter, path: string): void {
  if (!input.bucketSize || bucketedTypes.includes(meter.aggregation.type)) return;
  const types = bucketedTypes.join(' or ');
  throw badField(`${path}bucket_size`, `needs a meter of type ${types}; ${meter.id} is ${meter.aggregation.type}`);
}

async function refuseTooMany(tx: Transaction, input: NewPrice, path: string, ahead: number): Promise<void> {
  const active = await tx.em.count(Price, {
    environmentId: tx.scope.environmentId,
    entityType: input.entityType!,
    entityId: input.entityId!,
    status: 'published',
    $or: [{ endDate: null }, { endDate: { $gt: new Date().toISOString() } }],
  });
  if (active + ahead < maxActivePricesPerOwner) return;
  throw badField(
    `${path}entity_id`,
    `has ${maxActivePricesPerOwner} active prices, the most an owner may have; end some first`,
  );
}
