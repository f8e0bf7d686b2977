import type { Price } from '../../../db/entities/catalogue/price.ts';
import { inElement, inEveryElement, takenKey } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { auditPrice, insertPrice, newPriceColumns } from './price.ts';
import type { NewPrice } from './price-rules.ts';
import { lockPlans } from './price-sequence.ts';

/**
 * Creates prices, all or none. Every item is checked before the first is stored, and the refusal names each that is bad, with
 * the code of the first; an element that is malformed is given as its refusal. Throws what `createPrice` throws. spec: catalogue-and-metering §4.2, §13 row 23
 */
export async function createPrices(tx: Transaction, elements: readonly (NewPrice | Error)[]): Promise<Price[]> {
  const inputs = elements.flatMap((element) => (element instanceof Error ? [] : [element]));
  await lockPlans(
    tx,
    inputs.map((input) => input.entityId ?? ''),
  );
  const taken = await heldLookupKeys(
    tx,
    inputs.map((input) => input.lookupKey ?? ''),
  );
  const checked = await inEveryElement('items', elements, async (input, element) => {
    if (input instanceof Error) throw input;
    const ahead = inputs.slice(0, inputs.indexOf(input));
    const columns = await newPriceColumns(tx, input, `${element}.`, countOfOwner(ahead, input));
    if (columns.lookupKey && !columns.endDate) {
      if (taken.has(columns.lookupKey)) throw takenKey('price without an end', columns.lookupKey);
      taken.add(columns.lookupKey);
    }
    return columns;
  });
  const prices: Price[] = [];
  for (const [index, columns] of checked.entries()) {
    // Another request may have claimed a lookup key since it was looked at.
    const price = await inElement(`items[${index}]`, () => insertPrice(tx, columns));
    await auditPrice(tx, price, 'created');
    prices.push(price);
  }
  return prices;
}

/** Those of the lookup keys that live prices hold. spec: catalogue-and-metering §1.3 */
export async function heldLookupKeys(tx: Transaction, lookupKeys: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ lookup_key: string }>(
    `select lookup_key from price where environment_id = $1 and lookup_key = any($2) and lookup_key <> '' and status = 'published'
       and end_date is null`,
    [tx.scope.environmentId, lookupKeys],
  );
  return new Set(rows.map((row) => row.lookup_key));
}

function countOfOwner(inputs: readonly NewPrice[], { entityType, entityId }: NewPrice): number {
  return inputs.filter((input) => input.entityType === entityType && input.entityId === entityId).length;
}
