import { newId } from '../../../db/id.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { bucketedTypes } from '../meter-rules.ts';
import { insertOwnPrices, type StoredPrice } from './own-price.ts';
import {
  cadenceColumns,
  checkPrice,
  type NewPrice,
  type PricingTerms,
  pricingTerms,
  unitTerms,
} from './price-rules.ts';
import { convertedTerms, noUnit, type UnitColumns } from './price-unit-prices.ts';

/**
 * Writes a price that a request defines for one subscription alone. Throws `validation_error` for members that do not fit and
 * `not_found` for an unknown meter or custom currency. spec: subscriptions-and-invoicing §1.9; catalogue-and-metering §4.1
 */
export async function inlinePrice(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
  sent: object,
  path: string,
): Promise<StoredPrice> {
  const input = { ...(sent as NewPrice), entityType: 'SUBSCRIPTION', entityId: subscriptionId };
  checkPrice(input, path);
  if (input.groupId) throw badField(`${path}group_id`, 'belongs to prices of the catalogue; leave it out');
  const meter = input.type === 'USAGE' ? await publishedMeter(sql, scope, input.meterId!, path) : null;
  if (input.bucketSize && meter && !bucketedTypes.includes(meter.type))
    throw badField(`${path}bucket_size`, `needs a meter of type ${bucketedTypes.join(' or ')}`);
  const price: StoredPrice = {
    ...(await termColumns(sql, scope, input, path)),
    id: newId('price'),
    entityType: 'SUBSCRIPTION',
    entityId: subscriptionId,
    ...cadenceColumns(input, meter?.id ?? null),
    groupId: null,
    startDate: input.startDate ?? '1970-01-01T00:00:00.000Z',
    endDate: input.endDate ?? null,
    displayName: input.displayName || (meter?.name ?? ''),
    description: input.description ?? '',
    lookupKey: '',
    metadata: input.metadata ?? {},
    bucketSizeOfMeter: meter?.bucket_size ?? null,
    meterName: meter?.name ?? null,
  };
  const { bucketSizeOfMeter: _size, meterName: _name, ...columns } = price;
  await insertOwnPrices(sql, scope, [columns]);
  return price;
}

async function termColumns(sql: Sql, scope: Scope, input: NewPrice, path: string): Promise<PricingTerms & UnitColumns> {
  if (input.priceUnitType !== 'CUSTOM') return { ...pricingTerms(input), ...noUnit };
  const [unit] = await sql.rows<{ id: string; code: string; conversion_rate: string; base_currency: string }>(
    "select id, code, conversion_rate, base_currency from price_unit where environment_id = $1 and code = $2 and status = 'published' for share",
    [scope.environmentId, input.priceUnit],
  );
  if (!unit) throw missing('price unit', input.priceUnit ?? '', `${path}price_unit_config.price_unit`);
  if (unit.base_currency !== input.currency)
    throw badField(`${path}price_unit_config.price_unit`, `is worth ${unit.base_currency}, not ${input.currency}`);
  const conversionRate = decimalText(unit.conversion_rate);
  return convertedTerms(unitTerms(input), { id: unit.id, code: unit.code, conversionRate });
}

async function publishedMeter(sql: Sql, scope: Scope, id: string, path: string) {
  const [meter] = await sql.rows<{ id: string; name: string; type: string; bucket_size: string | null }>(
    `select id, name, aggregation ->> 'type' as type, aggregation ->> 'bucket_size' as bucket_size from meter
     where environment_id = $1 and id = $2 and status = 'published' for share`,
    [scope.environmentId, id],
  );
  if (!meter) throw missing('published meter', id, `${path}meter_id`);
  return meter;
}
