import { decimal } from '../../../billing/money/money.ts';
import { refuseQuantity } from '../../../billing/subscription/line-item.ts';
import { refuseMixedCadence } from '../../../billing/subscription/proration-change.ts';
import type { QuantityChanges } from '../../../billing/subscription/subscription-change.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type ChargedItem, readItems } from '../../charging/charged-item.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { type PlannedProration, planProration, settleProration } from '../plan-change/proration.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from '../plan-change/subscription-change.ts';
import { chargedItemOf, copyLineItem, termOf } from './line-item-row.ts';
import { endLineItemsAt } from './subscription-item.ts';

/** A change of quantity that is to be made. */
export interface DueQuantity {
  old: ChargedItem;
  quantity: string;
  effectiveAt: string;
}

/**
 * Changes quantities: each item ends and a copy with the new quantity begins; what is paid in advance is settled together for
 * those of one instant, arrears split by duration on the next invoice. An item that has the quantity already is left as it is.
 * Throws `not_found`, `validation_error`. spec: subscriptions-and-invoicing §2.9.3
 */
export async function changeQuantities(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: QuantityChanges,
): Promise<AttendedSubscription> {
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided | null> => {
    const due = await dueQuantities(sql, scope, before, input, at);
    if (due.length === 0) return null;
    const made = { ...nothingMade(), row: before };
    let [returned, carried] = [decimal('0'), decimal('0')];
    const instants = Map.groupBy(due, ({ effectiveAt }) => effectiveAt);
    for (const [effectiveAt, together] of [...instants].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const settled = await changeAt(sql, scope, made.row, together, { effectiveAt, at });
      made.row = settled.row;
      made.lineItems.push(...settled.lineItems);
      if (settled.invoiceId !== null) made.invoiceIds.push(settled.invoiceId);
      returned = returned.plus(settled.returned);
      carried = carried.plus(settled.carried);
    }
    const quantities = due.map(({ old, quantity }) => ({
      line_item_id: old.item.id,
      from: old.item.quantity,
      quantity,
    }));
    return {
      ...made,
      kind: 'quantity_changed',
      action: 'quantity changed',
      effectiveAt: due[0]?.effectiveAt ?? at,
      events: [],
      returned: returned.toFixed(),
      carried: carried.toFixed(),
      detail: { quantities },
    };
  });
}

/** Changes of quantity that a request asks for, but for items that have theirs already. Throws as `changeQuantities`. */
export async function dueQuantities(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { changes }: QuantityChanges,
  at: string,
): Promise<DueQuantity[]> {
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const seen = new Set<string>();
  const due: DueQuantity[] = [];
  for (const [index, change] of changes.entries()) {
    const field = `quantity_change_params.line_items[${index}]`;
    if (seen.has(change.lineItemId)) throw badField(`${field}.id`, `names line item ${change.lineItemId} twice`);
    seen.add(change.lineItemId);
    const old =
      items.find(({ item }) => item.id === change.lineItemId) ??
      (await chargedItemOf(sql, scope.environmentId, row.id, change.lineItemId, `${field}.id`));
    const effectiveAt = change.effectiveAt ?? at;
    const { item } = old;
    refuseQuantity(row, { ...termOf(item), id: item.id, priceType: item.priceType }, effectiveAt, field);
    if (decimal(item.quantity).equals(change.quantity)) continue;
    refuseMixedCadence([item], row, row.prorationBehavior);
    due.push({ old, quantity: change.quantity, effectiveAt });
  }
  return due;
}

/** Writes a copy of each item with its new quantity, and says what the change comes to; the items before go on for now. */
export async function planQuantities(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  due: readonly DueQuantity[],
  { effectiveAt, at }: { effectiveAt: string; at: string },
): Promise<{ copies: string[]; planned: PlannedProration }> {
  const copies: string[] = [];
  for (const { old, quantity } of due) {
    copies.push(await copyLineItem(sql, scope, old.item.id, { start_date: effectiveAt, quantity }));
  }
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const planned = await planProration(sql, scope, {
    row,
    action: 'quantity_change',
    behavior: row.prorationBehavior,
    effectiveAt,
    at,
    ended: due.map(({ old }) => old),
    started: items.filter(({ item }) => copies.includes(item.id)),
  });
  return { copies, planned };
}

async function changeAt(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  due: readonly DueQuantity[],
  moment: { effectiveAt: string; at: string },
) {
  const { effectiveAt } = moment;
  const { copies, planned } = await planQuantities(sql, scope, row, due, moment);
  await endLineItemsAt(
    sql,
    scope,
    due.map(({ old }) => ({ lineItemId: old.item.id, endDate: effectiveAt })),
  );
  const settled = await settleProration(sql, scope, planned);
  const ended = due.map(({ old }) => ({ id: old.item.id, action: 'ended' as const }));
  return { ...settled, lineItems: [...ended, ...copies.map((id) => ({ id, action: 'created' as const }))] };
}
