import { fiatAmount, fiatTiers } from '../../../billing/price/price-unit.ts';
import type { StoredTier } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { PricingTerms } from './price-rules.ts';

/** What a price row keeps of its custom currency; all null for a price in a fiat one. spec: catalogue-and-metering §4.5 Conversion */
export interface UnitColumns {
  priceUnit: string | null;
  priceUnitId: string | null;
  priceUnitAmount: string | null;
  priceUnitTiers: StoredTier[] | null;
  conversionRate: string | null;
}

export const noUnit: UnitColumns = {
  priceUnit: null,
  priceUnitId: null,
  priceUnitAmount: null,
  priceUnitTiers: null,
  conversionRate: null,
};

/** The columns of a price whose terms are in a custom currency: the terms as they are, and their fiat amounts. spec: catalogue-and-metering §4.5 */
export function convertedTerms(
  terms: PricingTerms,
  unit: { id: string; code: string; conversionRate: string },
): PricingTerms & UnitColumns {
  return {
    ...terms,
    ...fiatOf({ amount: terms.amount, tiers: terms.tiers }, unit.conversionRate),
    priceUnit: unit.code,
    priceUnitId: unit.id,
    priceUnitAmount: terms.amount,
    priceUnitTiers: terms.tiers,
    conversionRate: unit.conversionRate,
  };
}

function fiatOf(unitTerms: { amount: string | null; tiers: StoredTier[] | null }, rate: string) {
  const { amount, tiers } = unitTerms;
  return { amount: amount === null ? null : fiatAmount(amount, rate), tiers: tiers && fiatTiers(tiers, rate) };
}

interface PriceRow {
  id: string;
  price_unit_amount: string | null;
  price_unit_tiers: StoredTier[] | null;
  conversion_rate: string;
  [column: string]: unknown;
}

// In one order, like everything that locks many prices, so that nothing waits in a circle.
const notEndedText = `
select id, price_unit_amount, price_unit_tiers, conversion_rate from price
where environment_id = $1 and price_unit_id = $2 and status = 'published' and (end_date is null or end_date > $3)
order by id for update`;

const convertedColumns: Columns = {
  id: 'text',
  amount: 'numeric',
  tiers: 'jsonb',
  conversionRate: 'numeric',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};
const updateConverted = updateText('price', convertedColumns);

/**
 * Writes the fiat amounts of a custom currency's prices at its new rate; prices that have ended keep theirs. The unit is locked by
 * the caller. spec: catalogue-and-metering §4.5 Changing the rate, §12 I5
 */
export async function convertPrices(tx: Transaction, unit: PriceUnit): Promise<void> {
  const { environmentId, actor } = tx.scope;
  const { updatedAt, conversionRate } = unit;
  const prices = await tx.rows<PriceRow>(notEndedText, [environmentId, unit.id, updatedAt]);
  const rows = prices.map((price) => {
    const amount = price.price_unit_amount === null ? null : decimalText(price.price_unit_amount);
    const fiat = fiatOf({ amount, tiers: price.price_unit_tiers }, conversionRate);
    return { id: price.id, ...fiat, conversionRate, updatedAt, updatedBy: actor };
  });
  await writeRows(tx, updateConverted, rows);
  await writeAudit(
    tx,
    tx.scope,
    prices.map((price) => ({
      objectType: 'price',
      objectId: price.id,
      action: 'converted',
      occurredAt: updatedAt,
      detail: { price_unit: unit.code, rate_before: decimalText(price.conversion_rate), rate: conversionRate },
    })),
  );
}
