import { refuseChild, refuseInherited } from '../../../billing/subscription/hierarchy.ts';
import {
  type Cancellation,
  cancelSubscription as decideCancellation,
} from '../../../billing/subscription/subscription-cancel.ts';
import type { CancellationOrder } from '../../../billing/subscription/subscription-command.ts';
import { earlier } from '../../../billing/time/calendar.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { demoteParentOf } from '../../charging/subscription-family.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import { type SubscriptionRow, subscriptionRecord, updateSubscriptions } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { voidInvoice } from '../../invoice/issue/invoice-void.ts';
import { releaseCarriedCredits } from '../../invoice/terms/carried-credit.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { releaseChildren } from '../family/subscription-group-leave.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';
import {
  cancelSchedules,
  isCancellationScheduled,
  scheduleCancellation,
} from '../plan-change/subscription-schedule.ts';
import { skipStretch } from '../plan-change/subscription-stretch.ts';
import { creditUnused } from '../plan-change/unused-charge.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { endSubscriptionParts } from './subscription-end.ts';

export interface CancelInput extends CancellationOrder {
  subscriptionId: string;
  at: string;
}

/** Cancels a subscription now or schedules its end. spec: subscriptions-and-invoicing §2.12 */
export async function cancelSubscription(
  sql: Sql,
  scope: Scope,
  input: CancelInput,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const due = input.cancellationType === 'immediate' ? earlier(input.cancelAt ?? input.at, input.at) : input.at;
  const before = await lockCaughtUp(sql, scope, { subscriptionId: input.subscriptionId, at: due }, readUsage);
  refuseInherited(before, 'cancelled');
  refuseOwnEnd(before, input);
  const pending = await isCancellationScheduled(sql, scope.environmentId, before.id);
  const decided = decideCancellation(before, input, input.at, pending);
  const row = cancelledRow(before, decided, input);
  const billed = decided.scheduled ? row : await closeAt(sql, scope, { before, row, decided, input, readUsage });
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(billed, scope.actor, new Date().toISOString())]);
  if (decided.scheduled) {
    await scheduleCancellation(sql, scope, {
      subscriptionId: billed.id,
      at: decided.effectiveDate,
      configuration: {
        cancellation_type: input.cancellationType,
        reason: input.reason,
        before: { cancel_at: before.cancelAt, end_date: before.endDate },
      },
    });
  }
  if (billed.status === 'cancelled') await releaseCarriedCredits(sql, scope, [billed.id], input.at);
  const ended = billed.status === 'cancelled' ? [subscriptionEvent('subscription.cancelled', billed, input.at)] : [];
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', billed, input.at), ...ended]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: billed.id,
      action: decided.scheduled ? 'cancellation scheduled' : 'cancelled',
      version: billed.version,
      occurredAt: input.at,
      detail: {
        cancellation_type: input.cancellationType,
        effective_date: decided.effectiveDate,
        reason: input.reason,
      },
    },
  ]);
  await followParents(sql, scope, [{ row: billed, at: input.at }]);
  if (billed.status === 'cancelled') await demoteParentOf(sql, scope, billed);
  return one(await refreshAgendas(sql, scope.environmentId, [billed]));
}

/** What is invoiced with another subscription ends with a period of that one, or at once without an invoice of its own. spec: §2.13 */
function refuseOwnEnd(row: SubscriptionRow, { cancellationType, invoicePolicy }: CancelInput): void {
  if (cancellationType === 'end_of_period' || row.subscriptionType !== 'grouped_invoicing') return;
  if (cancellationType === 'scheduled_date') refuseChild(row, 'cancelled at a date');
  if (invoicePolicy === 'generate_invoice') refuseChild(row, 'cancelled with an invoice');
}

/** An end takes an open pause with it. */
const unpaused = { pauseStatus: 'none', activePauseId: '' } as const;

function cancelledRow(before: SubscriptionRow, decided: Cancellation, input: CancelInput): SubscriptionRow {
  return {
    ...before,
    ...decided.state,
    ...(decided.scheduled ? {} : unpaused),
    metadata: {
      ...before.metadata,
      cancellation_type: input.cancellationType,
      effective_date: decided.effectiveDate,
      ...(input.reason === '' ? {} : { cancellation_reason: input.reason }),
    },
    version: before.version + 1,
  };
}

interface Closing {
  before: SubscriptionRow;
  row: SubscriptionRow;
  decided: Cancellation;
  input: CancelInput;
  readUsage: UsageReader;
}

/** What an immediate end does around the row: line items, schedules, open invoices, the closing invoice. */
async function closeAt(sql: Sql, scope: Scope, closing: Closing): Promise<SubscriptionRow> {
  const { before, decided, input } = closing;
  const effective = decided.effectiveDate;
  const { at, prorationBehavior: behavior } = input;
  await creditUnused(sql, scope, { row: before, action: 'cancellation', behavior, effectiveAt: effective, at });
  await releaseChildren(sql, scope, closing.row, at);
  const ended = [{ subscriptionId: before.id, at: effective }];
  await endSubscriptionParts(sql, scope, ended);
  await cancelSchedules(sql, scope.environmentId, before.id, input.at);
  for (const invoiceId of await invoicesToVoid(sql, scope, before, effective)) {
    await voidInvoice(sql, scope, { invoiceId, at: input.at, metadata: null });
  }
  if (before.currentPeriodStart >= effective || before.status === 'trialing') return closing.row;
  if (before.status === 'paused') {
    const period = { start: before.currentPeriodStart, end: effective };
    return skipStretch(sql, scope, closing.row, { pauseId: before.activePauseId, period, at });
  }
  return input.invoicePolicy === 'generate_invoice' ? issueClosing(sql, scope, closing) : closing.row;
}

/** The unpaid opening invoice of an incomplete subscription, and drafts of periods that will not come. */
async function invoicesToVoid(sql: Sql, scope: Scope, before: SubscriptionRow, effective: string): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and subscription_id = $2 and (
       (invoice_status = 'DRAFT' and period_start >= $3)
       or ($4 and invoice_status = 'FINALIZED' and amount_paid = 0 and amount_remaining > 0))
     order by id`,
    [scope.environmentId, before.id, effective, before.status === 'incomplete'],
  );
  return rows.map((row) => row.id);
}

/** Bills what was used and what is due in arrear up to the end. spec: §2.6.1 Closing */
async function issueClosing(
  sql: Sql,
  scope: Scope,
  { before, row, decided, input, readUsage }: Closing,
): Promise<SubscriptionRow> {
  const period = { start: before.currentPeriodStart, end: decided.effectiveDate };
  const elapsed = periodOf(before, period.start, period.end);
  const charges = await computeCharges(
    sql,
    scope,
    [{ key: row.id, subscription: row, reason: 'closing', elapsed, next: null }],
    readUsage,
  );
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row]);
  const billed = { ...row, billingSequence: row.billingSequence + 1 };
  const draft = draftInvoice(scope, {
    subscription: billed,
    planName: planNames.get(row.planId) ?? '',
    reason: 'PRORATION',
    period,
    lines: charges.get(row.id) ?? [],
    billingSequence: billed.billingSequence,
    config,
    terms: terms.get(row.id),
    at: input.at,
  });
  await insertDrafts(sql, [draft]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, input.at));
  await issueInvoices(sql, scope, [{ invoiceId: draft.row.id, at: input.at }], null);
  return billed;
}
