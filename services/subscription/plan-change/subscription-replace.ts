import { decimal } from '../../../billing/money/money.ts';
import { type NewSubscription, plainTerms } from '../../../billing/subscription/new-subscription.ts';
import { changeTypeOf } from '../../../billing/subscription/plan-change.ts';
import { creditMember } from '../../../billing/subscription/replacement.ts';
import type { ReplacementOrder } from '../../../billing/subscription/subscription-change.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readItems } from '../../charging/charged-item.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one } from '../../charging/subscription-snapshot.ts';
import { creditPrepaidWallet } from '../../ledger/wallet-credit.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { createSubscription } from '../create/subscription-create.ts';
import { closePeriods, endTrials } from '../period/subscription-close.ts';
import { cancelSubscription } from '../status/subscription-cancel.ts';
import { changeablePlan, scheduledFor, targetPrices } from './plan-change-guard.ts';
import { schedulePlanChange } from './plan-change-schedule.ts';
import { type PlannedProration, planProration, recordProration } from './proration.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from './subscription-change.ts';

/**
 * Replaces a subscription by a new one on another plan, now or at the end of its period: the old one ends with its closing
 * invoice, and what is left of its advance charges reduces the opening invoice of the new one, a rest going to the wallet. Throws
 * what `changeablePlan` throws. spec: subscriptions-and-invoicing §1.7 v1, §2.9.2
 */
export async function replaceSubscription(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: ReplacementOrder,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  return carryOut(sql, scope, order, { ...input, successorId: '' }, async (before, at): Promise<Decided> => {
    await changeablePlan(sql, before, input.targetPlanId, null);
    const scheduledAt = scheduledFor(before, input.changeAt, at);
    if (scheduledAt !== null) {
      await targetPrices(sql, before, input, input.targetPlanId, scheduledAt);
      return schedulePlanChange(sql, scope, before, { version: 'v1', order: input, scheduledAt, changeType: null });
    }
    const replaced = await replacing(sql, scope, before, input, at);
    const cancellation = {
      subscriptionId: before.id,
      at,
      cancellationType: 'immediate' as const,
      cancelAt: null,
      invoicePolicy: 'generate_invoice' as const,
      prorationBehavior: 'none' as const,
      reason,
    };
    const { row } = await cancelSubscription(sql, scope, cancellation, readUsage);
    return succeed(sql, scope, { before, row, replaced, input, at, readUsage });
  });
}

const reason = 'subscription_change';

/**
 * Replaces a subscription at the end of its period: its last invoice bills what the period used and owes in arrear, and no next
 * period. Throws what `changeablePlan` throws. spec: subscriptions-and-invoicing §2.5.1, §2.9.2
 */
export async function replaceAtBoundary(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder & { scheduleId: string },
  input: ReplacementOrder,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided> => {
    await changeablePlan(sql, before, input.targetPlanId, order.scheduleId);
    if (before.currentPeriodEnd !== at) {
      throw badField('change_at', `was the end of a period at ${at}; the period ends at ${before.currentPeriodEnd}`);
    }
    const replaced = await replacing(sql, scope, before, input, at);
    const told = { cancellation_type: 'end_of_period', cancellation_reason: reason, effective_date: at };
    await sql.rows(
      'update subscription set cancel_at = $3, metadata = metadata || $4::jsonb where environment_id = $1 and id = $2',
      [scope.environmentId, before.id, at, JSON.stringify(told)],
    );
    const end = before.status === 'trialing' ? endTrials : closePeriods;
    const { row } = one(await end(sql, scope, [{ subscriptionId: before.id, at }], readUsage));
    return succeed(sql, scope, { before, row, replaced, input, at, readUsage });
  });
}

interface Replaced {
  planned: PlannedProration;
  /** What the old subscription's advance charges are still worth. */
  credit: string;
  changeType: string;
  couponIds: { id: string; end: string | null }[];
}

/** What the old subscription leaves to the new one, before it ends. */
async function replacing(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  input: ReplacementOrder,
  at: string,
): Promise<Replaced> {
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const ended = items.filter(({ item }) => item.startDate <= at && (item.endDate === null || item.endDate > at));
  const planned = await planProration(sql, scope, {
    row,
    action: 'downgrade',
    behavior: input.prorationBehavior,
    effectiveAt: at,
    at,
    ended,
    started: [],
  });
  const credit = input.prorationBehavior === 'none' ? '0' : planned.change.returned;
  const coupons = await sql.rows<{ id: string; end: string | null }>(
    `select a.id, a.end_date as "end" from coupon_association a join coupon c on c.id = a.coupon_id
     where a.environment_id = $1 and a.subscription_id = $2 and a.subscription_line_item_id is null and a.status = 'published'
       and (a.end_date is null or a.end_date > $3) and (c.currency is null or c.currency = $4 or c.type = 'percentage')`,
    [scope.environmentId, row.id, at, row.currency],
  );
  return { planned, credit, changeType: '', couponIds: coupons };
}

interface Succession {
  before: SubscriptionRow;
  /** The old subscription, ended. */
  row: SubscriptionRow;
  replaced: Replaced;
  input: ReplacementOrder;
  at: string;
  readUsage: UsageReader;
}

/** Makes the new subscription and settles what the old one leaves. */
async function succeed(sql: Sql, scope: Scope, succession: Succession): Promise<Decided> {
  const { before, row, replaced, input, at } = succession;
  const { environmentId } = scope;
  await sql.rows(`update subscription set lookup_key = '' where environment_id = $1 and id = $2`, [
    environmentId,
    row.id,
  ]);
  await sql.rows(
    `update coupon_association a set subscription_id = $3, end_date = t.ends::timestamptz from unnest($2::text[], $4::text[]) as t(id, ends)
     where a.environment_id = $1 and a.id = t.id`,
    [
      environmentId,
      replaced.couponIds.map(({ id }) => id),
      input.successorId,
      replaced.couponIds.map(({ end }) => end),
    ],
  );
  await createSubscription(sql, scope, successorOf(succession), succession.readUsage);
  const made = await sql.rows<{ id: string; used: string }>(
    `select i.id, coalesce((select sum((l.metadata ->> $3)::numeric) from invoice_line_item l where l.environment_id = $1
       and l.invoice_id = i.id), 0) as used
     from invoice i where i.environment_id = $1 and (i.subscription_id = $2
       or (i.subscription_id = $4 and i.period_end = $5 and i.billing_reason in ('PRORATION', 'SUBSCRIPTION_CYCLE'))) order by i.id`,
    [environmentId, input.successorId, creditMember, before.id, at],
  );
  const used = made.reduce((all, { used: each }) => all.plus(each), decimal('0'));
  const rest = decimal(replaced.credit).minus(used);
  const returned = await settleRest(sql, scope, succession, rest.toFixed());
  return {
    ...nothingMade(),
    row,
    isWritten: true,
    kind: 'subscription_replaced',
    action: 'subscription replaced',
    effectiveAt: at,
    events: [],
    plans: { from: before.planId, to: input.targetPlanId },
    successorId: input.successorId,
    subscriptionIds: [input.successorId],
    invoiceIds: made.map(({ id }) => id),
    returned,
    detail: {
      change_type: await changeType(sql, scope, before, input.successorId),
      from_plan_id: before.planId,
      to_plan_id: input.targetPlanId,
      successor_id: input.successorId,
      credit: replaced.credit,
      period: { start: before.currentPeriodStart, end: before.currentPeriodEnd },
      metadata: input.metadata,
    },
  };
}

async function settleRest(sql: Sql, scope: Scope, succession: Succession, rest: string): Promise<string> {
  const { before, replaced, at } = succession;
  if (decimal(replaced.credit).isZero()) return '0';
  const key = await recordProration(sql, scope, replaced.planned, rest);
  if (decimal(rest).isZero()) return '0';
  await creditPrepaidWallet(sql, scope, {
    customerId: before.invoicingCustomerId,
    currency: before.currency,
    amount: rest,
    cause: 'proration',
    causeId: before.id,
    description: `Unused time of subscription ${before.id} (plan changed)`,
    idempotencyKey: `proration:${key}`,
    at,
  });
  return rest;
}

async function changeType(sql: Sql, scope: Scope, before: SubscriptionRow, successorId: string): Promise<string> {
  const items = await readItems(sql, scope.environmentId, [before.id, successorId]);
  const of = (id: string) =>
    (items.get(id) ?? []).filter(({ facts }) => facts.entityType === 'plan').map(({ item }) => item);
  const last = of(before.id).filter((item) => item.endDate === null || item.endDate >= before.currentPeriodStart);
  return changeTypeOf(last, of(successorId));
}

/** What the new subscription takes over. spec: subscriptions-and-invoicing §2.9.2 */
function successorOf({ before, replaced, input, at }: Succession): NewSubscription {
  const { commitmentAmount: amount, commitmentDuration: duration, overageFactor, enableTrueUp: trueUp } = before;
  return {
    subscriptionId: input.successorId,
    at,
    customerId: before.customerId,
    planId: input.targetPlanId,
    currency: before.currency,
    billingPeriod: input.billingPeriod,
    billingPeriodCount: input.billingPeriodCount,
    billingCycle: input.billingCycle,
    billingAnchor: null,
    startDate: at,
    endDate: before.endDate,
    lookupKey: before.lookupKey,
    metadata: { ...before.metadata, ...input.metadata },
    collectionMethod: before.collectionMethod,
    paymentBehavior: before.paymentBehavior,
    paymentTerms: before.paymentTerms,
    prorationBehavior: before.prorationBehavior,
    explicitProration: false,
    lineItemGrouping: before.lineItemGrouping,
    timezone: before.timezone,
    includePriceIds: null,
    trialPeriodDays: 0,
    gatewayPaymentMethodId: before.gatewayPaymentMethodId,
    ...plainTerms,
    ...(amount === null ? {} : { commitment: { amount, duration, overageFactor, trueUp } }),
    replaces: { credit: replaced.credit },
  };
}
