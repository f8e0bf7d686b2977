import { refuse } from '../../../billing/refusal.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { inElement, newRecord, takenKey } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';
import { type PriceColumns, priceAudit } from './price.ts';
import { heldLookupKeys } from './price-bulk.ts';
import { nextPriceSequences } from './price-sequence.ts';

/** A price that is made from another one. */
export interface PriceCopy {
  id: string;
  sourceId: string;
  columns: PriceColumns;
}

/**
 * Stores the prices of a plan that is being copied, in as few statements for thousands as for one. Throws `already_exists`
 * naming the price of which the lookup key is taken. spec: catalogue-and-metering §3 Clone; platform §9
 */
export async function insertPriceCopies(tx: Transaction, copies: readonly PriceCopy[]): Promise<void> {
  const claiming = copies.filter(({ columns }) => columns.lookupKey !== '' && !columns.endDate);
  const held = await heldLookupKeys(
    tx,
    claiming.map(({ columns }) => columns.lookupKey),
  );
  const taken = claiming.find(({ columns }) => held.has(columns.lookupKey));
  if (taken) {
    await inElement(`price ${taken.sourceId}`, () =>
      Promise.reject(takenKey('price without an end', taken.columns.lookupKey)),
    );
  }
  const sequences = await nextPriceSequences(tx, copies.length);
  const prices = copies.map(({ id, columns }, index) =>
    tx.em.create(Price, { ...newRecord(tx, 'price', id), ...columns, sequence: sequences[index]! }),
  );
  await flushUnique(tx, { price_lookup_key_unique: takenMeanwhile });
  await writeAudit(
    tx,
    tx.scope,
    prices.map((price, index) => priceAudit(price, 'created', { copy_of: copies[index]!.sourceId })),
  );
}

function takenMeanwhile(): Error {
  return refuse('already_exists', 'the lookup_key of one of its prices was taken by another request; try again');
}
