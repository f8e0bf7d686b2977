import { refuse } from '../../../billing/refusal.ts';
import { refuseUnattachable } from '../../../billing/subscription/addon.ts';
import type { NewAttachment } from '../../../billing/subscription/new-subscription.ts';
import { type FoundItem, isOvertaken, type PlannedChange } from '../../../billing/subscription/planned-change.ts';
import type { QuantityChanges } from '../../../billing/subscription/subscription-change.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type ChargedItem, readItems } from '../../charging/charged-item.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { insertGatedDraft } from '../../invoice/issue/gated-invoice.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { writeAttachment } from '../addon/addon-attachment.ts';
import { changed } from '../addon/subscription-addon.ts';
import { followParents } from '../family/subscription-follow.ts';
import { dueQuantities, planQuantities } from '../item/quantity-change.ts';
import { endLineItemsAt } from '../item/subscription-item.ts';
import { startAddonGrants } from '../period/subscription-grant.ts';
import { recordBilledProration, settlementInvoice } from './proration.ts';
import { draftAddition } from './subscription-settlement.ts';

/** A change that is written down and waits for its checkout session, with the invoice which that collects. */
export interface FrozenChange {
  plan: PlannedChange;
  row: SubscriptionRow;
  invoiceId: string;
  amountDue: string;
}

interface Waiting {
  subscriptionId: string;
  checkoutSessionId: string;
  at: string;
}

/**
 * Writes down an add-on that its checkout session pays: attachment, line items and grants are drafts, which charge and grant nothing, and
 * its invoice waits. Null when nothing is to be paid at once; the caller takes the transaction back then. Throws what `attachAddon`
 * throws, and `validation_error` for a subscription that is not active. spec: wallets-and-payments §2.17; design: money-in-checkout §A10
 */
export async function freezeAddon(
  sql: Sql,
  scope: Scope,
  { subscriptionId, checkoutSessionId, at, attachment }: Waiting & { attachment: NewAttachment },
  readUsage: UsageReader,
): Promise<FrozenChange | null> {
  const before = await lockActive(sql, scope, subscriptionId, 'subscription_id');
  refuseUnattachable(before);
  // As those of a draft the grants have no applications before the money comes.
  const asDraft: SubscriptionRow = { ...before, status: 'draft' };
  const attached = await writeAttachment(sql, scope, asDraft, { attachment, at, field: 'addon_id' });
  const behavior = (attachment.prorationBehavior ?? before.prorationBehavior) as 'create_prorations' | 'none';
  const { associationId, addonId, items, term } = attached;
  const addition = { row: before, items, from: term.start, at, behavior, changeKey: `add_item ${associationId}` };
  const drafted = await draftAddition(sql, scope, addition, readUsage);
  const gated = drafted && (await insertGatedDraft(sql, scope, drafted.draft, checkoutSessionId));
  if (!gated) return null;
  await setAddon(sql, scope, associationId, { to: 'draft', addonStatus: 'pending', invoiceId: gated.invoiceId });
  await writeSequence(sql, scope, drafted.billed);
  const { currentPeriodStart: periodStart } = before;
  return { plan: { kind: 'addon', periodStart, associationId, addonId, behavior }, row: drafted.billed, ...gated };
}

/**
 * Writes down new quantities that their checkout session pays: the items that will begin are drafts, those before go on. Null when nothing
 * is to be paid at once. Throws what `changeQuantities` throws, and `validation_error` for quantities of several instants, which would
 * be several invoices. spec: subscriptions-and-invoicing §2.9.3; design: money-in-checkout §A10
 */
export async function freezeQuantities(
  sql: Sql,
  scope: Scope,
  { subscriptionId, checkoutSessionId, at, input }: Waiting & { input: QuantityChanges },
): Promise<FrozenChange | null> {
  const before = await lockActive(sql, scope, subscriptionId, 'id');
  const due = await dueQuantities(sql, scope, before, input, at);
  const [effectiveAt, ...others] = new Set(due.map((one) => one.effectiveAt));
  if (effectiveAt === undefined) return null;
  if (others.length > 0) {
    const field = 'quantity_change_params.line_items';
    throw badField(
      field,
      'must have one effective_date for all together with checkout; change them one after the other',
    );
  }
  const { copies, planned } = await planQuantities(sql, scope, before, due, { effectiveAt, at });
  if (planned.change.settlement !== 'invoice') return null;
  const row = { ...before, billingSequence: before.billingSequence + 1 };
  const draft = await settlementInvoice(sql, scope, planned, row);
  const gated = await insertGatedDraft(sql, scope, draft, checkoutSessionId);
  if (!gated) return null;
  await recordBilledProration(sql, scope, planned, gated.invoiceId);
  const items = due.map(({ old, quantity }, index) => ({
    lineItemId: old.item.id,
    copyId: copies[index]!,
    quantity,
    found: foundItem(old),
  }));
  const moved = items.map(({ lineItemId, copyId }) => ({ from: copyId, to: lineItemId }));
  await moveCoupons(sql, scope, moved, effectiveAt);
  await setItems(sql, scope, copies, 'draft');
  await writeSequence(sql, scope, row);
  return { plan: { kind: 'quantity', periodStart: before.currentPeriodStart, effectiveAt, items }, row, ...gated };
}

/** Whether a planned change cannot be carried out any more as it was shown. Locks the subscription. design: money-in-checkout §A10 */
export async function isPlanOvertaken(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
  plan: PlannedChange,
): Promise<boolean> {
  const row = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) return true;
  const items = (await readItems(sql, scope.environmentId, [subscriptionId])).get(subscriptionId) ?? [];
  return isOvertaken(plan, {
    status: row.status,
    periodStart: row.currentPeriodStart,
    items: new Map(items.map((one) => [one.item.id, foundItem(one)])),
  });
}

/**
 * Carries out a planned change whose session was paid, as it was written down: nothing is computed again. Throws `not_found`.
 * spec: wallets-and-payments §2.17 Completion per action; design: money-in-checkout §A10
 */
export async function carryOutPlan(
  sql: Sql,
  scope: Scope,
  { subscriptionId, plan, at }: { subscriptionId: string; plan: PlannedChange; at: string },
): Promise<void> {
  const before = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!before) throw missing('subscription', subscriptionId);
  const row = { ...before, version: before.version + 1 };
  if (plan.kind === 'addon') {
    await setAddon(sql, scope, plan.associationId, { to: 'published', addonStatus: 'active' });
    await startAddonGrants(sql, scope, row, plan.associationId);
    const detail = { addon_id: plan.addonId, addon_association_id: plan.associationId };
    await changed(sql, scope, row, 'add-on attached', at, detail);
    return;
  }
  const { items, effectiveAt } = plan;
  await setItems(
    sql,
    scope,
    items.map(({ copyId }) => copyId),
    'published',
  );
  const moved = items.map(({ lineItemId, copyId }) => ({ from: lineItemId, to: copyId }));
  await moveCoupons(sql, scope, moved, effectiveAt);
  await endLineItemsAt(
    sql,
    scope,
    items.map(({ lineItemId }) => ({ lineItemId, endDate: effectiveAt })),
  );
  const quantities = items.map(({ lineItemId, found, quantity }) => ({
    line_item_id: lineItemId,
    from: found.quantity,
    quantity,
  }));
  await followParents(sql, scope, [{ row, at }]);
  await changed(sql, scope, row, 'quantity changed', at, { quantities, effective_at: effectiveAt });
}

/** Takes back all that a planned change had written down. spec: wallets-and-payments §2.17 Clean-up step 3 */
export async function dropPlan(sql: Sql, scope: Scope, plan: PlannedChange): Promise<void> {
  if (plan.kind === 'addon') {
    await setAddon(sql, scope, plan.associationId, { to: 'archived', addonStatus: 'cancelled' });
    return;
  }
  const copies = plan.items.map(({ copyId }) => copyId);
  await setItems(sql, scope, copies, 'archived');
}

async function lockActive(sql: Sql, scope: Scope, id: string, field: string): Promise<SubscriptionRow> {
  const row = (await lockSubscriptions(sql, scope.environmentId, [id])).get(id);
  if (!row) throw missing('subscription', id, field);
  if (row.status === 'active') return row;
  const problem = `is not possible: subscription ${id} is ${row.status}; it must be active to be changed on a payment page`;
  throw refuse('validation_error', `checkout ${problem}`, { fields: { checkout: problem } });
}

function foundItem({ item }: ChargedItem): FoundItem {
  const { quantity, priceId, startDate, endDate } = item;
  return { quantity, priceId, startDate, endDate };
}

/** The number of the invoice among those of the subscription; what the subscription is stays as it was, its version too. */
async function writeSequence(sql: Sql, scope: Scope, row: SubscriptionRow): Promise<void> {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
}

async function setItems(sql: Sql, scope: Scope, ids: readonly string[], status: string): Promise<void> {
  await sql.rows(
    `update subscription_line_item set status = $3, updated_at = $4, updated_by = $5 where environment_id = $1 and id = any($2)`,
    [scope.environmentId, [...ids], status, new Date().toISOString(), scope.actor],
  );
}

/** An attachment that waits is a record like any other, which is pending; what it brings are drafts, which nothing else reads. */
async function setAddon(
  sql: Sql,
  scope: Scope,
  associationId: string,
  { to, addonStatus, invoiceId = null }: { to: string; addonStatus: string; invoiceId?: string | null },
): Promise<void> {
  const values = [scope.environmentId, associationId, to, new Date().toISOString(), scope.actor];
  await sql.rows(
    `update addon_association set status = case $3 when 'draft' then 'published' else $3 end, updated_at = $4, updated_by = $5,
       addon_status = $6, invoice_id = coalesce($7, invoice_id) where environment_id = $1 and id = $2`,
    [...values, addonStatus, invoiceId],
  );
  for (const table of ['subscription_line_item', 'credit_grant']) {
    await sql.rows(
      `update ${table} set status = $3, updated_at = $4, updated_by = $5 where environment_id = $1 and addon_association_id = $2`,
      values,
    );
  }
}

/** The coupons of line items follow from one to the other. */
async function moveCoupons(
  sql: Sql,
  scope: Scope,
  moves: readonly { from: string; to: string }[],
  at: string,
): Promise<void> {
  await sql.rows(
    `update coupon_association a set subscription_line_item_id = t.after, updated_at = $4, updated_by = $5
     from unnest($2::text[], $3::text[]) as t(before, after)
     where a.environment_id = $1 and a.subscription_line_item_id = t.before and (a.end_date is null or a.end_date > $6)`,
    [
      scope.environmentId,
      moves.map(({ from }) => from),
      moves.map(({ to }) => to),
      new Date().toISOString(),
      scope.actor,
      at,
    ],
  );
}
