import { defaultQuantity } from '../../../billing/price/price.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { type ChargedItem, chargedItem, chargedPriceColumns, type ItemRow } from '../../charging/charged-item.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';

/** A price of the plan as a line item that begins with whatever subscription gets it. */
export interface SimulatedPrice extends Pick<ChargedItem['item'], 'id' | 'billingPeriod' | 'billingPeriodCount'> {
  currency: string;
  charged: ChargedItem;
}

interface PriceRow extends ItemRow {
  root_id: string;
  min_quantity: string | null;
}

/**
 * The prices of a plan as a simulation takes them: published and not ended at `now`; of a price and those that supersede it
 * the one in force, or the first to come. When they begin does not matter: a draft's prices are tried on the past.
 */
export async function simulatedPrices(tx: Transaction, planId: string, now: string): Promise<SimulatedPrice[]> {
  const rows = await tx.rows<PriceRow>(
    `select p.id, '' as subscription_id, 'plan' as entity_type, p.entity_id, p.display_name, m.name as meter_display_name, '0' as quantity, p.start_date, p.end_date,
       p.id as price_id, p.type as price_type, p.invoice_cadence, p.billing_period, p.billing_period_count, p.meter_id,
       coalesce(p.parent_price_id, p.id) as root_id, p.min_quantity, ${chargedPriceColumns}
     from price p left join meter m on m.id = p.meter_id
     where p.environment_id = $1 and p.entity_type = 'PLAN' and p.entity_id = $2 and p.status = 'published'
       and (p.end_date is null or p.end_date > $3)
     order by p.created_at, p.id`,
    [tx.scope.environmentId, planId, now],
  );
  const chains = Map.groupBy(rows, (row) => row.root_id);
  return [...chains.values()].map((chain) => simulatedPrice(inForce(chain, now)));
}

function inForce(chain: readonly PriceRow[], now: string): PriceRow {
  const ordered = [...chain].sort((a, b) => (instantText(a.start_date) < instantText(b.start_date) ? -1 : 1));
  return ordered.findLast((row) => instantText(row.start_date) <= now) ?? ordered[0]!;
}

function simulatedPrice(row: PriceRow): SimulatedPrice {
  const minimum = row.min_quantity === null ? null : decimalText(row.min_quantity);
  const quantity = defaultQuantity(row.price_type, minimum, null);
  const charged = chargedItem({ ...row, quantity, end_date: null });
  const { id, billingPeriod, billingPeriodCount } = charged.item;
  return { id, billingPeriod, billingPeriodCount, currency: row.currency, charged };
}

/** The line items a subscription would have had from its start on. */
export function simulatedItems(row: SubscriptionRow, prices: readonly SimulatedPrice[]): ChargedItem[] {
  const { startDate, endDate } = row;
  return prices.map(({ charged }) => ({ ...charged, item: { ...charged.item, startDate, endDate } }));
}
