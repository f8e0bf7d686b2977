import type { CouponChange, TaxChange, TrialEndChange } from '../../../billing/subscription/subscription-change.ts';
import { trialEndingAt } from '../../../billing/subscription/trial.ts';
import { earlier } from '../../../billing/time/calendar.ts';
import { findsItsBoundaries } from '../../../billing/time/whole-period.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql, Transaction } from '../../../db/transaction.ts';
import {
  readSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { linkSubscriptionCoupons } from '../../invoice/terms/coupon-link.ts';
import { createTaxAssociation } from '../../invoice/terms/tax-association.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { chargedItemOf } from '../item/line-item-row.ts';
import { catchUpParents } from '../period/subscription-catch-up.ts';
import { endTrials } from '../period/subscription-close.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { moveTrialsWith } from '../status/subscription-trial-move.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from './subscription-change.ts';

/**
 * Ends a trial now, with the invoice of its end, or moves its end to a later or earlier instant to come. Throws
 * `validation_error` when there is no trial. spec: subscriptions-and-invoicing §1.8 trial_end, §2.10
 */
export async function changeTrialEnd(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: TrialEndChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  await catchUpParents(sql, scope, [order], readUsage);
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided> => {
    await refuseInGroup(sql, scope, before, input.newTrialEnd ?? at);
    const end = trialEndingAt(before, input.newTrialEnd, at);
    const shown = { kind: 'trial_end_changed', action: 'trial end changed', effectiveAt: end, events: [] };
    const cancelAt = before.cancelAtPeriodEnd ? end : before.cancelAt;
    const currentPeriodEnd = earlier(end, cancelAt ?? end);
    const row = { ...before, trialEnd: end, currentPeriodEnd, cancelAt };
    await moveTrialsWith(sql, scope, before, end, at);
    if (before.cancelAtPeriodEnd) await moveCancellation(sql, scope, before.id, end);
    const detail = { trial_end: end, before: before.trialEnd };
    if (input.newTrialEnd !== null) return { ...nothingMade(), ...shown, row, detail };
    return { ...(await endNow(sql, scope, row, at, readUsage)), ...shown, detail };
  });
}

/**
 * Refuses to end the trial of a child in a group before that of its parent, in which nothing of the group is invoiced, and inside
 * periods of several months. spec: §2.13
 */
async function refuseInGroup(sql: Sql, scope: Scope, row: SubscriptionRow, end: string): Promise<void> {
  if (row.subscriptionType !== 'grouped_invoicing' || row.parentSubscriptionId === null) return;
  const parents = await readSubscriptions(sql, scope.environmentId, [row.parentSubscriptionId]);
  const parent = parents.get(row.parentSubscriptionId);
  if (!parent || row.status !== 'trialing') return;
  const field = 'trial_end_params.new_trial_end';
  const boundary = parent.currentPeriodEnd;
  if (parent.status === 'trialing' && end < boundary) {
    throw badField(
      field,
      `must not be before ${boundary}, the end of the trial of its parent ${parent.id}; change that one`,
    );
  }
  if (!findsItsBoundaries(row) && end !== boundary) {
    throw badField(
      field,
      `must be ${boundary}, the end of the period of its parent ${parent.id}; else take it out of the group first`,
    );
  }
}

/** The trial's end as its timer would perform it, at once. */
async function endNow(sql: Sql, scope: Scope, row: SubscriptionRow, at: string, readUsage: UsageReader) {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, at)]);
  const [ended] = await endTrials(sql, scope, [{ subscriptionId: row.id, at }], readUsage);
  const invoices = await sql.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and subscription_id = $2 and billing_reason = 'SUBSCRIPTION_TRIAL_END'
       and invoice_status <> 'VOIDED' order by id desc limit 1`,
    [scope.environmentId, row.id],
  );
  return { ...nothingMade(), row: ended?.row ?? row, invoiceIds: invoices.map(({ id }) => id), isWritten: true };
}

async function moveCancellation(sql: Sql, scope: Scope, subscriptionId: string, to: string): Promise<void> {
  await sql.rows(
    `update subscription_schedule set scheduled_at = $3, updated_at = $4, updated_by = $5
     where environment_id = $1 and subscription_id = $2 and schedule_type = 'cancellation' and schedule_status = 'pending'`,
    [scope.environmentId, subscriptionId, to, new Date().toISOString(), scope.actor],
  );
}

/**
 * Redeems a coupon for a running subscription or one of its line items, or ends one. Later computations of invoices follow.
 * Throws `not_found`, `validation_error`. spec: subscriptions-and-invoicing §1.8 coupon, §2.17
 */
export async function changeCoupon(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: CouponChange,
): Promise<AttendedSubscription> {
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided> => {
    refuseEnded(before);
    const shown = { ...nothingMade(), row: before, kind: 'coupon_changed', events: [] };
    if (input.action === 'add') {
      const id = await addCoupon(sql, scope, before, input, at);
      const effectiveAt = input.startDate ?? at;
      return { ...shown, action: 'coupon added', effectiveAt, detail: { coupon_association_id: id } };
    }
    const end = await endLink(sql, scope, 'coupon_association', before.id, {
      id: input.associationId,
      end: input.endDate ?? at,
      field: 'coupon_params.coupon_association_id',
      endField: 'coupon_params.end_date',
    });
    await auditLink(sql, scope, 'coupon_association', input.associationId, 'ended', at);
    const detail = { coupon_association_id: input.associationId };
    return { ...shown, action: 'coupon removed', effectiveAt: end, detail };
  });
}

async function addCoupon(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  input: CouponChange & { action: 'add' },
  at: string,
): Promise<string> {
  const field = 'coupon_params.coupon_code';
  if (input.lineItemId !== null) {
    const lineField = 'coupon_params.subscription_line_item_id';
    await chargedItemOf(sql, scope.environmentId, row.id, input.lineItemId, lineField);
  }
  const link = {
    couponId: null,
    couponCode: input.couponCode,
    startDate: input.startDate ?? at,
    endDate: input.endDate,
    priceId: null,
    lineItemId: input.lineItemId,
    field,
  };
  const [id] = await linkSubscriptionCoupons(sql, scope, row, [link], at);
  return id ?? '';
}

/**
 * Links a tax rate to a running subscription or ends a link of it. Throws `not_found`, `validation_error`, `already_exists`.
 * spec: subscriptions-and-invoicing §1.8 tax, §2.18.1
 */
export async function changeTax(tx: Transaction, order: ChangeOrder, input: TaxChange): Promise<AttendedSubscription> {
  const { scope } = tx;
  return carryOut(tx, scope, order, input, async (before, at): Promise<Decided> => {
    refuseEnded(before);
    const effectiveAt = input.effectiveDate ?? at;
    const shown = { ...nothingMade(), row: before, kind: 'tax_changed', effectiveAt, events: [] };
    if (input.action === 'add') {
      const id = await addTax(tx, before.id, input.taxRateId, effectiveAt);
      return { ...shown, action: 'tax added', detail: { tax_association_id: id } };
    }
    await endLink(tx, scope, 'tax_association', before.id, {
      id: input.associationId,
      end: effectiveAt,
      field: 'tax_params.tax_association_id',
      endField: 'tax_params.effective_date',
    });
    await auditLink(tx, scope, 'tax_association', input.associationId, 'ended', at);
    return { ...shown, action: 'tax removed', detail: { tax_association_id: input.associationId } };
  });
}

async function addTax(tx: Transaction, subscriptionId: string, rateId: string, startDate: string): Promise<string> {
  const [rate] = await tx.rows<{ code: string }>(
    `select code from tax_rate where environment_id = $1 and id = $2 and status = 'published'`,
    [tx.scope.environmentId, rateId],
  );
  if (!rate) throw missing('tax rate', rateId, 'tax_params.tax_rate_id');
  const { row } = await createTaxAssociation(tx, {
    taxRateCode: rate.code,
    entityType: 'subscription',
    entityId: subscriptionId,
    externalCustomerId: undefined,
    taxBehavior: undefined,
    priority: undefined,
    currency: undefined,
    autoApply: undefined,
    startDate,
    endDate: undefined,
    metadata: undefined,
  });
  return row.id;
}

/** Ends a link of the subscription at an instant, not before it began and not later than it ends already; gives the end. */
async function endLink(
  sql: Sql,
  scope: Scope,
  table: 'coupon_association' | 'tax_association',
  subscriptionId: string,
  { id, end, field, endField }: { id: string; end: string; field: string; endField: string },
): Promise<string> {
  const owner =
    table === 'coupon_association' ? 'subscription_id = $3' : `entity_type = 'subscription' and entity_id = $3`;
  const [row] = await sql.rows<{ start_date: string; end_date: string | null }>(
    `select start_date, end_date from ${table} where environment_id = $1 and id = $2 and ${owner} and status = 'published' for update`,
    [scope.environmentId, id, subscriptionId],
  );
  if (!row) throw missing('link', id, field);
  const present = row.end_date === null ? null : instantText(row.end_date);
  if (present !== null && end > present) throw badField(endField, `must not be after ${present}, when it ends already`);
  const start = instantText(row.start_date);
  const ends = end < start ? start : end;
  await sql.rows(
    `update ${table} set end_date = $3, updated_at = $4, updated_by = $5 where environment_id = $1 and id = $2`,
    [scope.environmentId, id, ends, new Date().toISOString(), scope.actor],
  );
  return ends;
}

async function auditLink(
  sql: Sql,
  scope: Scope,
  objectType: string,
  objectId: string,
  action: string,
  at: string,
): Promise<void> {
  await writeAudit(sql, scope, [{ objectType, objectId, action, occurredAt: at }]);
}

function refuseEnded(row: SubscriptionRow): void {
  if (row.status !== 'cancelled' && row.status !== 'paused') return;
  throw badField('subscription_id', `names a subscription that is ${row.status}, which is not modified`);
}
