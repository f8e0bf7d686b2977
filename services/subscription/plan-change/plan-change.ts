import { decimal } from '../../../billing/money/money.ts';
import { targetSequence } from '../../../billing/price/price-sync.ts';
import { type PlanChange, changePlan as planChange } from '../../../billing/subscription/plan-change.ts';
import { refuseMixedCadence } from '../../../billing/subscription/proration-change.ts';
import type { PlanChangeOrder } from '../../../billing/subscription/subscription-change.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type ChargedItem, readItems } from '../../charging/charged-item.ts';
import { runningPeriodOf } from '../../charging/subscription-period.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { noteUnpriced } from '../../charging/unpriced-time.ts';
import { type AddonDrop, dropAddons } from '../addon/subscription-addon-drop.ts';
import { updateLineItemRow } from '../item/line-item-row.ts';
import { endLineItemsAt, insertLineItems, lineItemsOf, readUsagePrices } from '../item/subscription-item.ts';
import { changeablePlan, scheduledFor, type TargetPlan, targetPrices } from './plan-change-guard.ts';
import { schedulePlanChange } from './plan-change-schedule.ts';
import { exchangePlanGrants } from './plan-grant-exchange.ts';
import { planProration, settleProration } from './proration.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from './subscription-change.ts';

/**
 * Changes the plan of a subscription in place, now or at an instant to come. Throws what `changeablePlan` throws, and
 * `validation_error` for prorations at the end of a period and for prorations of another cadence.
 * spec: subscriptions-and-invoicing §1.7 v2, §2.9.1
 */
export async function changePlan(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder & { scheduleId?: string },
  input: PlanChangeOrder,
): Promise<AttendedSubscription> {
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided> => {
    const scheduleId = order.scheduleId ?? null;
    const plan = await changeablePlan(sql, before, input.targetPlanId, scheduleId);
    if (input.changeAt === 'end_of_period' && input.prorationBehavior === 'create_prorations') {
      throw badField('proration_behavior', 'must be none with change_at end_of_period: nothing is left to prorate');
    }
    const scheduledAt = scheduleId === null ? scheduledFor(before, input.changeAt, at) : null;
    if (scheduledAt !== null) {
      const changeType = await typeOfChange(sql, scope, before, plan, input, scheduledAt);
      return schedulePlanChange(sql, scope, before, { version: 'v2', order: input, scheduledAt, changeType });
    }
    return apply(sql, scope, before, plan, input, at);
  });
}

/** Whether the plan costs more, found by trying it. */
async function typeOfChange(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  plan: TargetPlan,
  input: PlanChangeOrder,
  at: string,
): Promise<string> {
  await sql.rows('savepoint tried_plan');
  const { change } = await exchangeItems(sql, scope, row, plan, input, at);
  await sql.rows('rollback to savepoint tried_plan');
  return change.changeType;
}

async function apply(
  sql: Sql,
  scope: Scope,
  before: SubscriptionRow,
  plan: TargetPlan,
  input: PlanChangeOrder,
  at: string,
): Promise<Decided> {
  const { items, change } = await exchangeItems(sql, scope, before, plan, input, at);
  const chosen = (wanted: readonly { id: string }[]) =>
    items.filter(({ item }) => wanted.some(({ id }) => id === item.id));
  const settling = { row: before, behavior: input.prorationBehavior, effectiveAt: at, at };
  const ended = chosen(change.ended);
  const started = chosen(change.started);
  const planned = await planProration(sql, scope, { ...settling, action: change.changeType, ended, started });
  await endLineItemsAt(
    sql,
    scope,
    change.ended.map((item) => ({ lineItemId: item.id, endDate: item.startDate > at ? item.startDate : at })),
  );
  const settled = await settleProration(sql, scope, planned);
  const addons = await dropAddons(sql, scope, settled.row, input.addons, settling);
  const row = { ...addons.row, planId: plan.id };
  await movePlan(sql, scope, row);
  await exchangePlanGrants(sql, scope, before, plan.id, at);
  await noteUnpriced(sql, scope, row, { from: at, at });
  return {
    ...nothingMade(),
    row,
    kind: 'plan_changed',
    action: 'plan changed',
    effectiveAt: at,
    events: ['subscription.plan_changed'],
    plans: { from: before.planId, to: plan.id },
    lineItems: [
      ...change.carried.map(({ item }) => ({ id: item.id, action: 'updated' as const })),
      ...change.ended.map(({ id }) => ({ id, action: 'ended' as const })),
      ...change.started.map(({ id }) => ({ id, action: 'created' as const })),
      ...addons.lineItems,
    ],
    invoiceIds: settled.invoiceId === null ? [] : [settled.invoiceId],
    returned: decimal(settled.returned).plus(addons.returned).toFixed(),
    carried: decimal(settled.carried).plus(addons.carried).toFixed(),
    detail: {
      change_type: change.changeType,
      from_plan_id: before.planId,
      to_plan_id: plan.id,
      entity_changes: addons.entityChanges satisfies AddonDrop['entityChanges'],
      metadata: input.metadata,
    },
  };
}

/** The items of both plans: those of the new one are written, and those that cost the same are carried to it instead. */
async function exchangeItems(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  plan: TargetPlan,
  input: PlanChangeOrder,
  at: string,
): Promise<{ items: ChargedItem[]; change: PlanChange }> {
  const prices = await targetPrices(sql, row, row, plan.id, at);
  const offered = lineItemsOf(scope, { ...row, planId: plan.id, startDate: at }, plan.name, prices);
  await insertLineItems(sql, offered);
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const isOffered = ({ item }: ChargedItem) => offered.some((other) => (other as { id: string }).id === item.id);
  const present = items.filter(
    (held) =>
      !isOffered(held) && held.facts.entityType === 'plan' && (held.item.endDate === null || held.item.endDate > at),
  );
  const change = planChange({
    subscription: row,
    period: runningPeriodOf(row),
    effectiveAt: at,
    behavior: input.prorationBehavior,
    present: present.map((held) => ({ ...held, billed: null, credited: '0' })),
    offered: items.filter(isOffered),
    charges: false,
  });
  refuseMixedCadence([...change.ended, ...change.started], row, input.prorationBehavior);
  for (const { item, offered: other } of change.carried) {
    const to = { priceId: other.priceId, entityId: plan.id, planDisplayName: plan.name };
    await updateLineItemRow(sql, scope, item.id, to);
  }
  await sql.rows('delete from subscription_line_item where environment_id = $1 and id = any($2)', [
    scope.environmentId,
    change.carried.map(({ offered: other }) => other.id),
  ]);
  return { items, change };
}

/** The plan on the row, in step with its prices. */
async function movePlan(sql: Sql, scope: Scope, row: SubscriptionRow): Promise<void> {
  const sequence = targetSequence(await readUsagePrices(sql, scope.environmentId, row.planId));
  await sql.rows(
    'update subscription set plan_id = $3, synced_price_sequence = $4 where environment_id = $1 and id = $2',
    [scope.environmentId, row.id, row.planId, sequence],
  );
}
