import { refuse } from '../../../billing/refusal.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import { columnName } from '../../../db/rows/bulk.ts';
import { badField, refuseArchived, refuseInvalid, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { groupToJoin, holdGroups } from '../group.ts';
import { termsOver } from './own-price.ts';
import { auditPrice, closePrice, flushPrices, insertPrice, lockPrice } from './price.ts';
import { isOneTime, type SentPrice, type SentUnitTerms, type SomeTerms } from './price-rules.ts';
import { findPriceUnit, holdPriceUnits } from './price-unit.ts';

/** What may be written on a price in place: nothing that changes what it costs. spec: catalogue-and-metering §4.2 Update */
export interface PresentationChange {
  description?: string | undefined;
  lookupKey?: string | undefined;
  metadata?: Record<string, string> | undefined;
  displayName?: string | undefined;
  groupId?: string | undefined;
}

export interface PriceChange extends PresentationChange {
  /** The pricing members that were sent; any of them supersedes the price. */
  terms: SomeTerms & SentUnitTerms;
  effectiveFrom?: string | undefined;
}

/**
 * Changes a price: presentation in place, pricing by supersession. Returns the addressed price or its successor. Throws
 * `not_found`, `validation_error`, `already_exists` for the lookup key, `version_conflict` when another call superseded or
 * ended it meanwhile.
 *
 * spec: catalogue-and-metering §4.2 Update, §13 row 24
 */
export async function updatePrice(tx: Transaction, id: string, change: PriceChange): Promise<Price> {
  const supersedes = Object.values(change.terms).some((value) => value !== undefined);
  if (!supersedes && change.effectiveFrom !== undefined) {
    throw badField(
      'effective_from',
      'dates a new amount; send it together with amount, tiers or another pricing member',
    );
  }
  await groupToJoin(tx, change.groupId, 'price');
  const price = supersedes ? await lockWithParts(tx, id) : await lockPrice(tx, id);
  refuseArchived('price', price);
  if (supersedes) return supersede(tx, price, change);
  await present(tx, price, change);
  return price;
}

/**
 * Locks a price after what its successor will name too, which is the order in which that is archived. Throws `not_found`,
 * `version_conflict` when the price was put elsewhere meanwhile.
 */
async function lockWithParts(tx: Transaction, id: string): Promise<Price> {
  const [seen] = await tx.rows<{ group_id: string | null; price_unit_id: string | null }>(
    'select group_id, price_unit_id from price where id = $1 and environment_id = $2',
    [id, tx.scope.environmentId],
  );
  await holdGroups(tx, [seen?.group_id]);
  await holdPriceUnits(tx, [seen?.price_unit_id]);
  const price = await lockPrice(tx, id);
  if ((price.groupId ?? null) !== (seen?.group_id ?? null)) {
    throw refuse('version_conflict', `price ${id} was put into another group by another request; read it again`);
  }
  return price;
}

/** Writes presentation members on the row. */
async function present(tx: Transaction, price: Price, change: PresentationChange): Promise<void> {
  if (change.description !== undefined) price.description = change.description;
  if (change.lookupKey !== undefined) price.lookupKey = change.lookupKey;
  if (change.metadata !== undefined) price.metadata = change.metadata;
  if (change.displayName !== undefined) price.displayName = change.displayName;
  if (change.groupId !== undefined) price.groupId = change.groupId || null;
  touch(tx, price);
  await flushPrices(tx, price.lookupKey);
  await auditPrice(tx, price, 'updated');
}

/** Ends the locked price and creates its successor; the old one keeps all its values. spec: catalogue-and-metering §4.2 Supersession */
async function supersede(tx: Transaction, price: Price, change: PriceChange): Promise<Price> {
  const effectiveFrom = change.effectiveFrom ?? new Date().toISOString();
  if (price.entityType === 'SUBSCRIPTION') {
    throw badField('id', `names price ${price.id} of a subscription; change its amount by a subscription modification`);
  }
  if (price.endDate)
    throw badField('id', `names price ${price.id}, which ends at ${price.endDate}; change the price that follows it`);
  if (effectiveFrom < price.startDate) {
    throw badField('effective_from', `must not be before the start of the price, ${price.startDate}`);
  }
  const terms = await termsOver(price, change.terms, (unitId) => findPriceUnit(tx, unitId));
  // The old row is written first: both hold the lookup key, and only a price without an end competes for it.
  await closePrice(tx, price, effectiveFrom);
  const successor = await insertPrice(tx, {
    ...columnsOf(price),
    ...terms,
    parentPriceId: price.parentPriceId ?? price.id,
    startDate: effectiveFrom,
    endDate: null,
    displayName: change.displayName ?? price.displayName,
    description: change.description ?? price.description,
    lookupKey: change.lookupKey ?? price.lookupKey,
    metadata: change.metadata ?? price.metadata,
    groupId: change.groupId === undefined ? price.groupId : change.groupId || null,
  });
  await auditPrice(tx, price, 'superseded', { successor_id: successor.id });
  await auditPrice(tx, successor, 'created', { supersedes: price.id });
  return successor;
}

/** Everything a copy of a price takes over: all columns but those of the record itself and the sequence. */
export function columnsOf(price: Price) {
  return {
    entityType: price.entityType,
    entityId: price.entityId,
    parentPriceId: price.parentPriceId,
    type: price.type,
    billingModel: price.billingModel,
    billingCadence: price.billingCadence,
    billingPeriod: price.billingPeriod,
    billingPeriodCount: price.billingPeriodCount,
    invoiceCadence: price.invoiceCadence,
    currency: price.currency,
    amount: price.amount,
    tierMode: price.tierMode,
    tiers: price.tiers,
    transformQuantity: price.transformQuantity,
    percentageRate: price.percentageRate,
    priceUnitType: price.priceUnitType,
    priceUnit: price.priceUnit,
    priceUnitId: price.priceUnitId,
    priceUnitAmount: price.priceUnitAmount,
    priceUnitTiers: price.priceUnitTiers,
    conversionRate: price.conversionRate,
    meterId: price.meterId,
    filterValues: price.filterValues,
    bucketSize: price.bucketSize,
    minQuantity: price.minQuantity,
    trialPeriodDays: price.trialPeriodDays,
    groupId: price.groupId,
    startDate: price.startDate,
    endDate: price.endDate,
    displayName: price.displayName,
    description: price.description,
    lookupKey: price.lookupKey,
    metadata: price.metadata,
  };
}

const presentationMembers = ['description', 'lookupKey', 'metadata'];

/**
 * A price element with an id in a plan update: writes description, lookup key and metadata; every other member must repeat
 * the stored value. Throws `not_found` for a price of another plan, `invalid_operation` for another value.
 *
 * spec: catalogue-and-metering §3 Update rule 2
 */
export async function updatePlanPrice(
  tx: Transaction,
  planId: string,
  id: string,
  sent: SentPrice,
  path: string,
): Promise<Price> {
  const price = await lockPrice(tx, id);
  if (price.entityType !== 'PLAN' || price.entityId !== planId) {
    throw refuse('not_found', `${path}id names price ${id}, which is not a price of plan ${planId}`);
  }
  refuseArchived('price', price);
  for (const [member, value] of Object.entries(sent)) {
    if (value === undefined || presentationMembers.includes(member) || repeats(price, member, value)) continue;
    const field = path + columnName(member);
    throw refuseInvalid(
      field,
      `${field} of price ${id} cannot be changed by a plan update; supersede it with PUT /prices/${id}`,
    );
  }
  await present(tx, price, { description: sent.description, lookupKey: sent.lookupKey, metadata: sent.metadata });
  return price;
}

function repeats(price: Price, member: string, value: unknown): boolean {
  if (member === 'billingCadence') return isOneTime(price) === (value === 'ONETIME');
  const stored = price[member as keyof Price] ?? null;
  if (member === 'groupId' || member === 'meterId') return (stored ?? '') === (value ?? '');
  if (member === 'tiers' && Array.isArray(value) && value.length === 0) return stored === null;
  return sameValue(stored, value ?? null);
}

/** Equality of JSON values whatever the order of their keys. */
function sameValue(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right;
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>];
  return (
    Object.keys(a).length === Object.keys(b).length &&
    Object.keys(a).every((key) => key in b && sameValue(a[key], b[key]))
  );
}
