import { z } from 'zod';
import { currencyPrecision } from '../../../billing/money/money.ts';
import { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import { badField } from '../../../db/rows/record.ts';
import { archivePriceUnit, createPriceUnit, updatePriceUnit } from '../../../services/catalogue/price/price-unit.ts';
import { createPriceUnitBody, newPriceUnit, priceUnitChange } from '../price-unit.schema.ts';
import type { CatalogueNoun } from './noun.ts';

type Body = z.output<typeof createPriceUnitBody>;

const changeable = ['name', 'conversion_rate', 'metadata'];

/** Custom currencies, known by their code. A changed rate reprices what is in the unit. spec: catalogue-and-metering §4.5 */
export const priceUnitNoun: CatalogueNoun = {
  noun: 'price unit',
  section: 'price_units',
  permission: 'price:write',
  identity: 'code',
  fields: { id: '' },
  schema: z.strictObject(createPriceUnitBody.shape),
  defaults: (entry) => ({
    code: '',
    name: '',
    symbol: '',
    base_currency: '',
    conversion_rate: '',
    precision: currencyPrecision(String(entry.base_currency)),
    metadata: {},
  }),
  async read(tx) {
    const where = { environmentId: tx.scope.environmentId, status: 'published' };
    const rows = await tx.em.find(PriceUnit, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row) => ({
      id: row.id,
      key: row.code,
      entry: {
        code: row.code,
        name: row.name,
        symbol: row.symbol,
        base_currency: row.baseCurrency,
        conversion_rate: row.conversionRate,
        precision: row.precision,
        metadata: row.metadata,
      },
    }));
  },
  async create(tx, entry) {
    return (await createPriceUnit(tx, newPriceUnit(entry as Body))).id;
  },
  async update(tx, { id, key }, entry, changed) {
    const fixed = changed.find((member) => !changeable.includes(member));
    if (fixed) throw badField(fixed, `of price unit ${key} cannot be changed; make another price unit`);
    await updatePriceUnit(tx, id, { metadata: {}, ...defined(priceUnitChange(entry as Body)) });
    return 'update';
  },
  remove: (tx, { id }) => archivePriceUnit(tx, id),
};

function defined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
