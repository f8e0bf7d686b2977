import type { ResumeTerms } from '../../../billing/line/resume-charge.ts';
import { decimal } from '../../../billing/money/money.ts';
import { refuseChild } from '../../../billing/subscription/hierarchy.ts';
import { pauseSubscription as decidePause } from '../../../billing/subscription/pause.ts';
import type { Period } from '../../../billing/subscription/subscription.ts';
import type { PauseOrder } from '../../../billing/subscription/subscription-command.ts';
import { wholeAdvancePeriodAt } from '../../../billing/time/whole-period.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { ChargeRequest } from '../../charging/charge-request.ts';
import { readPauses } from '../../charging/pause-read.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import { type SubscriptionRow, subscriptionRecord, updateSubscriptions } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { mergedLines, termsWithChildren } from '../../invoice/draft/subscription-group.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { type InterruptedChild, pauseChildren, writeChildTransitions } from '../family/subscription-group-pause.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';
import { creditUnused } from '../plan-change/unused-charge.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { insertPause } from './pause-write.ts';

export interface PauseInput extends PauseOrder {
  subscriptionId: string;
  pauseId: string;
  at: string;
}

/**
 * Pauses a subscription now: what was used and is due in arrear is billed up to here, unused advance charges go back to the
 * wallet, and until it is resumed every period gets a skipped invoice. spec: subscriptions-and-invoicing §2.11
 */
export async function pauseSubscription(
  sql: Sql,
  scope: Scope,
  input: PauseInput,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const { at } = input;
  const before = await lockCaughtUp(sql, scope, input, readUsage);
  refuseChild(before, 'paused');
  const pauses = await readPauses(sql, scope.environmentId, before.id);
  const { state, closing } = decidePause(before, at, pauses);
  const paused: SubscriptionRow = {
    ...before,
    ...state,
    pauseStatus: 'active',
    activePauseId: input.pauseId,
    version: before.version + 1,
  };
  await creditUnused(sql, scope, {
    row: before,
    action: 'pause',
    behavior: input.prorationBehavior ?? before.prorationBehavior,
    effectiveAt: at,
    at,
  });
  await insertPause(sql, scope, before, input);
  const children = await pauseChildren(sql, scope, before, input);
  const row = await issueInterruption(sql, scope, {
    before,
    row: paused,
    period: closing,
    reason: 'closing',
    changeId: input.pauseId,
    at,
    readUsage,
    children,
  });
  await writeChildTransitions(sql, scope, row, children, { at, event: 'subscription.paused', action: 'paused' });
  return writeTransition(sql, scope, { row, at, event: 'subscription.paused', action: 'paused', until: at });
}

interface Interruption {
  before: SubscriptionRow;
  row: SubscriptionRow;
  period: Period;
  reason: 'closing' | 'resume';
  /** What a resume charges again. */
  resume?: ResumeTerms;
  changeId: string;
  at: string;
  readUsage: UsageReader;
  /** Interrupted with it and invoiced with it. */
  children?: readonly InterruptedChild[];
}

/**
 * Makes and issues the invoice of a pause or a resume: SUBSCRIPTION_UPDATE, SKIPPED when a
 * pause has nothing to bill, none when a resume has not. spec: subscriptions-and-invoicing §2.11
 */
export async function issueInterruption(sql: Sql, scope: Scope, change: Interruption): Promise<SubscriptionRow> {
  const { row, period, reason, at } = change;
  const children = change.children ?? [];
  const requests = [change, ...children].map((one) => interruptionCharge(reason, one));
  const charges = await computeCharges(sql, scope, requests, change.readUsage);
  const rows = children.map((child) => child.row);
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row, ...rows]);
  const lines = [
    ...(charges.get(row.id) ?? []),
    ...rows.flatMap((child) => mergedLines(child, planNames.get(child.planId) ?? '', charges.get(child.id) ?? [])),
  ];
  if (reason === 'resume' && lines.every((line) => decimal(line.amount).isZero())) return row;
  const sequenced = { ...row, billingSequence: row.billingSequence + 1 };
  const draft = draftInvoice(scope, {
    subscription: sequenced,
    planName: planNames.get(row.planId) ?? '',
    reason: 'SUBSCRIPTION_UPDATE',
    period,
    lines,
    billingSequence: sequenced.billingSequence,
    config,
    terms: termsWithChildren(terms, row.id, rows),
    at,
    interruptionId: change.changeId,
  });
  await insertDrafts(sql, [draft]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, at));
  await issueInvoices(sql, scope, [{ invoiceId: draft.row.id, at }], null);
  return sequenced;
}

function interruptionCharge(
  reason: Interruption['reason'],
  { before, row, period, resume }: Pick<Interruption, 'before' | 'row' | 'period' | 'resume'>,
): ChargeRequest {
  const billed = periodOf(before, period.start, period.end);
  const whole = wholeAdvancePeriodAt(before, period.start);
  return {
    key: row.id,
    subscription: before,
    reason,
    elapsed: reason === 'closing' ? billed : null,
    next: reason === 'resume' ? { ...billed, full: whole } : null,
    ...(resume ? { resume } : { pauses: true }),
  };
}

interface WrittenTransition {
  row: SubscriptionRow;
  at: string;
  event: 'subscription.paused' | 'subscription.resumed';
  action: 'paused' | 'resumed';
  /** Where the stretch before ended, from which the current period counts. */
  until: string;
}

/** Writes the row with its events, audit and agenda. spec: platform §17.3 */
export async function writeTransition(
  sql: Sql,
  scope: Scope,
  { row, at, event, action, until }: WrittenTransition,
): Promise<AttendedSubscription> {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [
    subscriptionEvent('subscription.updated', row, at),
    subscriptionEvent(event, row, at),
  ]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action,
      version: row.version,
      occurredAt: at,
      detail: { period_end: until },
    },
  ]);
  await followParents(sql, scope, [{ row, at }]);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}
