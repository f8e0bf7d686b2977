import { realNow } from '../../../db/clock.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { SubscriptionLineItem } from '../../../db/entities/subscription/subscription-line-item.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { priceUnitsById } from '../../catalogue/price/price-unit.ts';
import type { SubscriptionContent } from '../read/subscription-read.ts';

type LineItemContent = SubscriptionContent['items'][number];

const lineItems: ListDefinition<SubscriptionLineItem> = {
  entity: SubscriptionLineItem,
  columns: {
    subscription_id: 'string',
    customer_id: 'string',
    entity_type: 'string',
    entity_id: 'string',
    price_id: 'string',
    price_type: 'string',
    meter_id: 'string',
    currency: 'string',
    quantity: 'decimal',
    billing_period: 'string',
    invoice_cadence: 'string',
    display_name: 'string',
    start_date: 'date',
    end_date: 'date',
  },
};

/** The filters a list of line items has of its own. spec: subscriptions-and-invoicing §1.1 */
export interface LineItemFilters {
  ids?: readonly string[] | null | undefined;
  subscriptionIds?: readonly string[] | null | undefined;
  customerIds?: readonly string[] | null | undefined;
  priceIds?: readonly string[] | null | undefined;
  meterIds?: readonly string[] | null | undefined;
  entityIds?: readonly string[] | null | undefined;
  entityType?: string | null | undefined;
  addonAssociationIds?: readonly string[] | null | undefined;
  billingPeriods?: readonly string[] | null | undefined;
  currencies?: readonly string[] | null | undefined;
  /** True: only items that have not ended at `at`; without it, now. */
  isActive: boolean;
  at?: string | null | undefined;
}

/** One page of line items with their prices. spec: subscriptions-and-invoicing §1.1 */
export async function listLineItems(
  tx: Transaction,
  query: ListQuery,
  filters: LineItemFilters,
): Promise<ListPage<LineItemContent>> {
  const conditions: Record<string, unknown>[] = [
    anyOf('id', filters.ids),
    anyOf('subscriptionId', filters.subscriptionIds),
    anyOf('customerId', filters.customerIds),
    anyOf('priceId', filters.priceIds),
    anyOf('meterId', filters.meterIds),
    anyOf('entityId', filters.entityIds),
    anyOf('addonAssociationId', filters.addonAssociationIds),
    anyOf('billingPeriod', filters.billingPeriods),
    anyOf('currency', filters.currencies),
  ];
  if (filters.entityType) conditions.push({ entityType: filters.entityType });
  if (filters.isActive) conditions.push({ $or: [{ endDate: null }, { endDate: { $gt: filters.at ?? realNow() } }] });
  const page = await listPage(tx, lineItems, query, { $and: conditions });
  return { ...page, rows: await withPrices(tx, page.rows) };
}

/** Line items by id in the order asked for, ended ones too. Throws `not_found`. */
export async function findLineItems(tx: Transaction, ids: readonly string[]): Promise<LineItemContent[]> {
  const rows = await tx.em.find(
    SubscriptionLineItem,
    { id: { $in: [...ids] }, environmentId: tx.scope.environmentId, status: 'published' },
    { refresh: true },
  );
  const byId = new Map((await withPrices(tx, rows)).map((content) => [content.row.id, content]));
  return ids.map((id) => {
    const content = byId.get(id);
    if (!content) throw missing('line item', id);
    return content;
  });
}

async function withPrices(tx: Transaction, rows: readonly SubscriptionLineItem[]): Promise<LineItemContent[]> {
  const ids = [...new Set(rows.map((row) => row.priceId))];
  const prices = await tx.em.find(Price, { environmentId: tx.scope.environmentId, id: { $in: ids } });
  const byId = new Map(prices.map((price) => [price.id, price]));
  const units = await priceUnitsById(
    tx,
    prices.map((price) => price.priceUnitId),
  );
  return rows.flatMap((row) => {
    const price = byId.get(row.priceId);
    return price ? [{ row, price, unit: units.get(price.priceUnitId ?? '') ?? null }] : [];
  });
}
