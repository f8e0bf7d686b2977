import type { ChargeItem } from '../../../billing/line/charge.ts';
import { newId } from '../../../db/id.ts';
import { columnName } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type ChargedItem, readItems } from '../../charging/charged-item.ts';
import type { CommitmentColumns } from './line-item-commitment.ts';

/** The published line item of a subscription with its price. Throws `not_found`. */
export async function chargedItemOf(
  sql: Sql,
  environmentId: string,
  subscriptionId: string,
  lineItemId: string,
  field = 'id',
): Promise<ChargedItem> {
  const items = (await readItems(sql, environmentId, [subscriptionId])).get(subscriptionId) ?? [];
  const found = items.find(({ item }) => item.id === lineItemId);
  if (!found) throw missing('line item', lineItemId, field);
  return found;
}

/** The subscription of a line item. Throws `not_found`. */
export async function subscriptionOfLineItem(sql: Sql, environmentId: string, lineItemId: string): Promise<string> {
  const [row] = await sql.rows<{ subscription_id: string }>(
    `select subscription_id from subscription_line_item where environment_id = $1 and id = $2 and status = 'published'`,
    [environmentId, lineItemId],
  );
  if (!row) throw missing('line item', lineItemId);
  return row.subscription_id;
}

/** Columns of a line item in place of those that a copy takes over. */
export interface CopiedColumns {
  start_date: string;
  end_date?: string | null;
  quantity?: string;
  price_id?: string;
  entity_type?: string;
  entity_id?: string;
  metadata?: Record<string, string>;
}

/**
 * A copy of a line item under a new id, with some columns of its own, and another commitment where one is given; whatever else a line item has, it has too, but how its
 * beginning is charged: a copy goes on. The coupons of the old one go on with the new one. Gives the id.
 */
export async function copyLineItem(
  sql: Sql,
  scope: Scope,
  lineItemId: string,
  columns: CopiedColumns,
  commitment: CommitmentColumns | null = null,
): Promise<string> {
  const id = newId('subs_line');
  const now = new Date().toISOString();
  const committed = Object.entries(commitment ?? {}).map(([member, value]) => [columnName(member), value]);
  const own = {
    proration_behavior: null,
    ...columns,
    ...Object.fromEntries(committed),
    id,
    created_at: now,
    created_by: scope.actor,
    updated_at: now,
    updated_by: scope.actor,
  };
  await sql.rows(
    `insert into subscription_line_item
     select (jsonb_populate_record(null::subscription_line_item, to_jsonb(l) || $3::jsonb)).* from subscription_line_item l
     where l.environment_id = $1 and l.id = $2`,
    [scope.environmentId, lineItemId, JSON.stringify(own)],
  );
  await sql.rows(
    `update coupon_association set subscription_line_item_id = $3, updated_at = $4, updated_by = $5
     where environment_id = $1 and subscription_line_item_id = $2 and (end_date is null or end_date > $6)`,
    [scope.environmentId, lineItemId, id, now, scope.actor, columns.start_date],
  );
  return id;
}

/** Writes columns of a line item in place. */
export async function updateLineItemRow(
  sql: Sql,
  scope: Scope,
  lineItemId: string,
  columns: { metadata?: Record<string, string>; priceId?: string; entityId?: string; planDisplayName?: string },
): Promise<void> {
  await sql.rows(
    `update subscription_line_item set metadata = coalesce($3::jsonb, metadata), price_id = coalesce($4, price_id),
       entity_id = coalesce($5, entity_id), plan_display_name = coalesce($6, plan_display_name), updated_at = $7, updated_by = $8
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      lineItemId,
      columns.metadata ? JSON.stringify(columns.metadata) : null,
      columns.priceId ?? null,
      columns.entityId ?? null,
      columns.planDisplayName ?? null,
      new Date().toISOString(),
      scope.actor,
    ],
  );
}

/** The time a line item is in force, as the rules take it. */
export function termOf(item: ChargeItem): { start: string; end: string | null; isOneTime: boolean } {
  return { start: item.startDate, end: item.endDate, isOneTime: item.billingPeriod === 'ONETIME' };
}
