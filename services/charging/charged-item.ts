import type { ChargeItem } from '../../billing/line/charge.ts';
import type { PriceTerms } from '../../billing/price/price-terms.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';
import { commitmentColumn, itemCommitment, type StoredCommitment } from '../catalogue/price/item-commitment.ts';
import { ratedTerms } from '../catalogue/price/price-terms.ts';

/** Whose price a line charges and the name its meter had, which stay on the invoice. */
export interface BilledFacts {
  meterDisplayName: string | null;
  entityType: string;
  entityId: string;
  /** The attachment of an add-on it belongs to; absent and null where there is none. */
  addonAssociationId?: string | null;
}

/** A line item with its price, and what is asked of its meter besides. */
export interface ChargedItem {
  item: ChargeItem;
  facts: BilledFacts;
  filters: Record<string, string[]> | null;
}

/** A line item's columns beside those of its price and meter. */
export interface ItemRow {
  id: string;
  subscription_id: string;
  entity_type: string;
  entity_id: string;
  addon_association_id?: string | null;
  display_name: string;
  meter_display_name: string | null;
  quantity: string;
  start_date: string;
  end_date: string | null;
  price_id: string;
  price_type: 'FIXED' | 'USAGE';
  invoice_cadence: 'ADVANCE' | 'ARREAR';
  billing_period: ChargeItem['billingPeriod'];
  billing_period_count: number;
  meter_id: string | null;
  billing_model: PriceTerms['billing_model'];
  amount: string | null;
  currency: string;
  tier_mode: 'VOLUME' | 'SLAB' | null;
  tiers: { up_to: string | null; unit_amount: string; flat_amount: string }[] | null;
  transform_quantity: { divide_by: number; round: 'up' | 'down' } | null;
  percentage_rate: string | null;
  price_unit: string | null;
  price_unit_id: string | null;
  price_unit_amount: string | null;
  price_unit_tiers: ItemRow['tiers'];
  conversion_rate: string | null;
  filter_values: Record<string, string[]> | null;
  bucket_size: string | null;
  reset_usage: 'BILLING_PERIOD' | 'NEVER' | null;
  commitment?: StoredCommitment | null;
  proration_behavior?: 'create_prorations' | 'none' | null;
  meter_type: string | null;
  [column: string]: unknown;
}

/** What decides cost and usage of a price `p` with its meter `m`. */
export const chargedPriceColumns = `p.billing_model, p.amount, p.currency, p.tier_mode, p.tiers, p.transform_quantity, p.percentage_rate,
  p.price_unit, p.price_unit_id, p.price_unit_amount, p.price_unit_tiers,
  coalesce((select u.conversion_rate from price_unit u where u.id = p.price_unit_id), p.conversion_rate) as conversion_rate,
  p.filter_values, coalesce(p.bucket_size, m.aggregation->>'bucket_size') as bucket_size, m.reset_usage,
  m.aggregation->>'type' as meter_type`;

const itemsText = `
select l.id, l.subscription_id, l.entity_type, l.entity_id, l.addon_association_id, l.display_name, l.meter_display_name, l.quantity, l.start_date, l.end_date, l.price_id,
  l.price_type, l.invoice_cadence, l.billing_period, l.billing_period_count, l.meter_id, l.proration_behavior, ${commitmentColumn},
  ${chargedPriceColumns}
from subscription_line_item l
join price p on p.id = l.price_id
left join meter m on m.id = l.meter_id
where l.environment_id = $1 and l.subscription_id = any($2) and l.status = 'published'
order by l.start_date, l.id`;

/** The line items of subscriptions with their prices as they are now, by subscription id. spec: subscriptions-and-invoicing §2.6 */
export async function readItems(sql: Sql, environmentId: string, subscriptionIds: string[]) {
  const rows = await sql.rows<ItemRow>(itemsText, [environmentId, subscriptionIds], 'charged-items');
  const bySubscription = Map.groupBy(rows, (row) => row.subscription_id);
  return new Map([...bySubscription].map(([id, own]) => [id, own.map(chargedItem)]));
}

/** The line item of a row as the rules take it. */
export function chargedItem(row: ItemRow): ChargedItem {
  const facts = {
    meterDisplayName: row.meter_display_name,
    entityType: row.entity_type,
    entityId: row.entity_id,
    addonAssociationId: row.addon_association_id ?? null,
  };
  return { item: chargeItem(row), facts, filters: row.filter_values };
}

function chargeItem(row: ItemRow): ChargeItem {
  return {
    id: row.id,
    priceId: row.price_id,
    priceType: row.price_type,
    invoiceCadence: row.invoice_cadence,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    displayName: row.display_name,
    quantity: decimalText(row.quantity),
    startDate: instantText(row.start_date),
    endDate: row.end_date ? instantText(row.end_date) : null,
    meterId: row.meter_id,
    price: priceTerms(row),
    bucketSize: row.bucket_size,
    resetUsage: row.reset_usage ?? 'BILLING_PERIOD',
    ...(row.proration_behavior ? { prorationBehavior: row.proration_behavior } : {}),
    ...(row.commitment ? { commitment: itemCommitment(row.commitment) } : {}),
    meterType: row.meter_type,
  };
}

function priceTerms(row: ItemRow): PriceTerms {
  const numeric = (value: string | null) => (value === null ? null : decimalText(value));
  return ratedTerms(
    {
      billingModel: row.billing_model,
      currency: row.currency,
      amount: numeric(row.amount),
      tierMode: row.tier_mode,
      tiers: row.tiers,
      transformQuantity: row.transform_quantity,
      percentageRate: numeric(row.percentage_rate),
      priceUnit: row.price_unit,
      priceUnitId: row.price_unit_id,
      priceUnitAmount: numeric(row.price_unit_amount),
      priceUnitTiers: row.price_unit_tiers,
    },
    numeric(row.conversion_rate),
  );
}
