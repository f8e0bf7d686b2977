import { refuse } from '../../../billing/refusal.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, columnName, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { PriceColumns } from './price.ts';
import {
  checkTerms,
  type PricingTerms,
  type SentUnitTerms,
  type SomeTerms,
  supersededTerms,
  unitFields,
  unitTerms,
} from './price-rules.ts';
import { nextPriceSequence } from './price-sequence.ts';
import { convertedTerms, noUnit, type UnitColumns } from './price-unit-prices.ts';

/** A price as its row has it. */
export type StoredPrice = PriceColumns & { id: string; bucketSizeOfMeter: string | null; meterName: string | null };

/** Pricing members that were sent over a stored price. */
export type SentTerms = SomeTerms & SentUnitTerms;

const valueColumns: Columns = {
  entityType: 'text',
  entityId: 'text',
  parentPriceId: 'text',
  type: 'text',
  billingModel: 'text',
  billingCadence: 'text',
  billingPeriod: 'text',
  billingPeriodCount: 'int',
  invoiceCadence: 'text',
  currency: 'text',
  amount: 'numeric',
  tierMode: 'text',
  tiers: 'jsonb',
  transformQuantity: 'jsonb',
  percentageRate: 'numeric',
  priceUnitType: 'text',
  priceUnit: 'text',
  priceUnitId: 'text',
  priceUnitAmount: 'numeric',
  priceUnitTiers: 'jsonb',
  conversionRate: 'numeric',
  meterId: 'text',
  filterValues: 'jsonb',
  bucketSize: 'text',
  minQuantity: 'numeric',
  trialPeriodDays: 'int',
  groupId: 'text',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  displayName: 'text',
  description: 'text',
  lookupKey: 'text',
  metadata: 'jsonb',
};
const insertPrices = insertText('price', { ...recordColumnTypes, ...valueColumns, sequence: 'bigint' });
const pricesText = `
select p.id, ${Object.keys(valueColumns)
  .map((member) => `p.${columnName(member)} as "${member}"`)
  .join(', ')}, m.aggregation ->> 'bucket_size' as "bucketSizeOfMeter", m.name as "meterName"
from price p left join meter m on m.id = p.meter_id
where p.environment_id = $1 and p.id = any($2) and p.status = 'published'`;

/** Published prices by id, read without the mapper. */
export async function readStoredPrices(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<Map<string, StoredPrice>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.rows<Record<string, unknown> & { id: string }>(pricesText, [environmentId, [...ids]]);
  return new Map(rows.map((row) => [row.id, storedPrice(row)]));
}

function storedPrice(row: Record<string, unknown> & { id: string }): StoredPrice {
  const members = Object.entries(valueColumns).map(([member, type]) => {
    const value = row[member] ?? null;
    if (value === null) return [member, null];
    if (type === 'numeric') return [member, decimalText(value as string)];
    return [member, type === 'timestamptz' ? instantText(value as string) : value];
  });
  return { ...row, ...Object.fromEntries(members) } as StoredPrice;
}

/** A custom currency as prices are converted with it. */
export type RatedUnit = Parameters<typeof convertedTerms>[1];

/**
 * The terms of a stored price with what was sent over them, in its custom currency if it has one. Throws `validation_error` for
 * terms of the other kind, and for a model without its members. spec: catalogue-and-metering §4.2, subscriptions-and-invoicing §1.2
 */
export async function termsOver(
  price: Pick<PriceColumns, 'priceUnitType' | 'priceUnit' | 'priceUnitId'> &
    SomeTerms &
    SentUnitTerms & { billingModel: string },
  sent: SentTerms,
  unitOf: (id: string) => Promise<RatedUnit>,
  path = '',
): Promise<PricingTerms & UnitColumns> {
  const custom = price.priceUnitType === 'CUSTOM';
  const foreign = custom
    ? (['amount', 'tiers', 'percentageRate'] as const)
    : (['priceUnitAmount', 'priceUnitTiers'] as const);
  const mixed = foreign.find((member) => sent[member] !== undefined);
  if (mixed) {
    const problem = custom
      ? `belongs to prices in a fiat currency; this price is in ${price.priceUnit}: send price_unit_amount or price_unit_tiers`
      : 'belongs to prices of a custom unit; this price is in a fiat currency';
    throw badField(path + columnName(mixed), problem);
  }
  if (!custom) {
    const terms = supersededTerms(price, sent);
    checkTerms(terms, path);
    return { ...terms, ...noUnit };
  }
  const { priceUnitAmount: amount, priceUnitTiers: tiers, billingModel, tierMode, transformQuantity } = sent;
  const terms = supersededTerms(unitTerms(price), { amount, tiers, billingModel, tierMode, transformQuantity });
  checkTerms(terms, path, unitFields);
  return convertedTerms(terms, await unitOf(price.priceUnitId!));
}

/** A price of the subscription's own: its parent's members with what was sent over them. spec: subscriptions-and-invoicing §2.3.6 */
export async function overridePrice(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
  parent: StoredPrice,
  sent: SentTerms,
  path: string,
): Promise<PriceColumns & { id: string }> {
  const terms = await termsOver(parent, sent, (id) => readUnit(sql, scope, id), path);
  const { bucketSizeOfMeter: _size, meterName: _name, ...columns } = parent;
  return {
    ...columns,
    ...terms,
    id: newId('price'),
    entityType: 'SUBSCRIPTION',
    entityId: subscriptionId,
    parentPriceId: parent.parentPriceId ?? parent.id,
    lookupKey: '',
  };
}

/** Writes prices of subscriptions, with their audit. Prices emit no events. spec: platform §17.3 */
export async function insertOwnPrices(
  sql: Sql,
  scope: Scope,
  prices: readonly (PriceColumns & { id: string })[],
): Promise<void> {
  if (prices.length === 0) return;
  const now = new Date().toISOString();
  const record = {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
  };
  const rows: object[] = [];
  for (const price of prices) {
    rows.push({ ...record, updatedAt: now, updatedBy: scope.actor, ...price, sequence: await nextPriceSequence(sql) });
  }
  await writeRows(sql, insertPrices, rows);
  await writeAudit(
    sql,
    scope,
    prices.map(({ id, entityType, entityId, parentPriceId }) => ({
      objectType: 'price',
      objectId: id,
      action: 'created',
      occurredAt: now,
      detail: { entity_type: entityType, entity_id: entityId, parent_price_id: parentPriceId },
    })),
  );
}

async function readUnit(sql: Sql, scope: Scope, id: string): Promise<RatedUnit> {
  const [unit] = await sql.rows<{ id: string; code: string; conversion_rate: string }>(
    'select id, code, conversion_rate from price_unit where environment_id = $1 and id = $2 for share',
    [scope.environmentId, id],
  );
  if (!unit) throw refuse('not_found', `price unit ${id} was not found in this environment`);
  return { id: unit.id, code: unit.code, conversionRate: decimalText(unit.conversion_rate) };
}
