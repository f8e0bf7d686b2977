import { z } from 'zod';
import type { PriceUnit } from '../../db/entities/catalogue/price-unit.ts';
import type { NewPriceUnit, PriceUnitChange } from '../../services/catalogue/price/price-unit.ts';
import { listQuery, searchBody } from '../list.ts';
import {
  currencyInput,
  decimalInput,
  decimalOutput,
  idListInput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  viewRecord,
} from '../scalars.schema.ts';

/** The code of a custom currency, in any case; the handler gets it lower case. spec: catalogue-and-metering §4.5 */
export function priceUnitCode() {
  return z
    .string()
    .regex(/^[^\s\p{C}]{3}$/u, 'must be the three characters of a custom currency, such as tok')
    .meta({
      examples: ['tok'],
      description: 'Exactly three characters, such as tok: no spaces, and no currency of ISO 4217. Kept in lower case.',
    })
    .transform((text) => text.toLowerCase());
}

const text = z.string().min(1, 'must not be empty').max(255);

export const createPriceUnitBody = z
  .object({
    name: text,
    code: priceUnitCode(),
    symbol: text.max(20),
    base_currency: currencyInput(),
    conversion_rate: decimalInput({ above: '0' }),
    precision: z.int('must be an integer from 0 to 8').min(0).max(8).nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({
    examples: [{ name: 'Tokens', code: 'tok', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' }],
  });

export const updatePriceUnitBody = z
  .object({
    name: text.nullish(),
    conversion_rate: decimalInput({ above: '0' }).nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ conversion_rate: '0.025' }] });

export const priceUnitSearch = searchBody({ price_unit_ids: idListInput().nullish() });
export const priceUnitListQuery = listQuery({ price_unit_ids: idListQuery().optional() });

export const priceUnit = z
  .object({
    ...recordOutput,
    name: z.string(),
    code: z.string(),
    symbol: z.string(),
    base_currency: z.string(),
    conversion_rate: decimalOutput(),
    precision: z.int(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'PriceUnit' });

export function newPriceUnit(body: z.output<typeof createPriceUnitBody>): NewPriceUnit {
  return {
    name: body.name,
    code: body.code,
    symbol: body.symbol,
    baseCurrency: body.base_currency,
    conversionRate: body.conversion_rate,
    precision: body.precision ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

export function priceUnitChange(body: z.output<typeof updatePriceUnitBody>): PriceUnitChange {
  return {
    name: body.name ?? undefined,
    conversionRate: body.conversion_rate ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

/** The wire form of a custom currency. spec: catalogue-and-metering §4.5 */
export function viewPriceUnit(row: PriceUnit): z.output<typeof priceUnit> {
  return {
    ...viewRecord(row),
    name: row.name,
    code: row.code,
    symbol: row.symbol,
    base_currency: row.baseCurrency,
    conversion_rate: row.conversionRate,
    precision: row.precision,
    metadata: row.metadata,
  };
}
