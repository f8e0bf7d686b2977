import type { Costsheet } from '../../db/entities/catalogue/costsheet.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type PriceContent, priceContents } from './price/price-parts.ts';

/** A cost sheet with its prices; null where they were not asked for. */
export interface CostsheetContent {
  costsheet: Costsheet;
  prices: PriceContent[] | null;
}

/** A cost sheet with its published prices, ended ones too, in the order of creation. */
export async function costsheetContent(tx: Transaction, costsheet: Costsheet): Promise<CostsheetContent> {
  const prices = await tx.em.find(
    Price,
    {
      environmentId: tx.scope.environmentId,
      status: 'published',
      entityType: 'COSTSHEET',
      entityId: costsheet.id,
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return { costsheet, prices: await priceContents(tx, prices) };
}
