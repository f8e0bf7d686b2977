import { isPaidWithinCreation } from '../../../billing/subscription/collection.ts';
import { lessCredit } from '../../../billing/subscription/replacement.ts';
import type { BillingPeriodInterval } from '../../../billing/time/calendar.ts';
import { newId } from '../../../db/id.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { type SubscriptionRow, subscriptionRecord, updateSubscriptions } from '../../charging/subscription-row.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import {
  type BillingReason,
  type DraftInvoice,
  draftInvoice,
  insertDrafts,
} from '../../invoice/draft/invoice-draft.ts';
import { mergedLines, termsWithChildren } from '../../invoice/draft/subscription-group.ts';
import { freeLine } from '../../invoice/draft/trial-line.ts';
import { insertGatedDraft } from '../../invoice/issue/gated-invoice.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { payOpening } from './opening-charge.ts';
import type { RecordedOpening } from './paid-opening.ts';

export interface Opening {
  row: SubscriptionRow;
  planName: string;
  at: string;
  period: BillingPeriodInterval;
  readUsage: UsageReader;
  /** Created with it and invoiced with it. */
  children?: readonly SubscriptionRow[];
  /** Set for a subscription that takes another one's place. spec: §2.9.2 */
  replaces?: { credit: string };
  /** The charge that was made before, where the payment belongs to the creation. spec: §2.3.4 */
  paid?: RecordedOpening | null;
}

/** The first invoice of a subscription that its checkout session collects. */
export interface FrozenOpening {
  row: SubscriptionRow;
  invoiceId: string;
  amountDue: string;
}

/**
 * Makes and issues the first invoice of a subscription: what is paid in advance for its first period, or the trial's start
 * with every amount 0. Nothing to pay makes an incomplete subscription active. Throws `OpeningToPay` when it must be paid before.
 * spec: subscriptions-and-invoicing §2.3.1, §2.10
 */
export async function issueOpening(sql: Sql, scope: Scope, opening: Opening): Promise<SubscriptionRow> {
  const { draft, opened } = await draftOpening(sql, scope, opening);
  await insertDrafts(sql, [draft]);
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(opened, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, opening.at));
  await issuePaid(sql, scope, opening, draft.row.id);
  return opened;
}

/**
 * Drafts the first invoice of a draft subscription for its checkout session: amounts and period are final, its number and its first event
 * come with the money. Null when there is nothing to pay. spec: wallets-and-payments §2.18; design: money-in-checkout §A10
 */
export async function freezeOpening(
  sql: Sql,
  scope: Scope,
  opening: Opening,
  checkoutSessionId: string,
): Promise<FrozenOpening | null> {
  const { draft, opened } = await draftOpening(sql, scope, opening);
  const gated = await insertGatedDraft(sql, scope, draft, checkoutSessionId);
  if (gated === null) return null;
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(opened, scope.actor, new Date().toISOString())]);
  return { row: opened, ...gated };
}

/** The first invoice as it would be, and the subscription with it; nothing is written. */
async function draftOpening(
  sql: Sql,
  scope: Scope,
  opening: Opening,
): Promise<{ draft: DraftInvoice; opened: SubscriptionRow }> {
  const { row, period } = opening;
  const trial = row.status === 'trialing';
  const first: BillingReason = opening.replaces ? 'SUBSCRIPTION_UPDATE' : 'SUBSCRIPTION_CREATE';
  const reason: BillingReason = trial ? 'SUBSCRIPTION_TRIAL_START' : first;
  // A child whose trial is its own begins to be charged at the end of that.
  const children = (opening.children ?? []).filter(({ status }) => trial || status !== 'trialing');
  const requests = [row, ...children].map((subscription) => ({
    key: subscription.id,
    subscription,
    reason: 'opening' as const,
    elapsed: null,
    next: period,
  }));
  const [charges, { config, planNames, terms }] = await Promise.all([
    computeCharges(sql, scope, requests, opening.readUsage),
    readBillingContext(sql, scope.environmentId, [row, ...children]),
  ]);
  const charged = charges.get(row.id) ?? [];
  const own = opening.replaces ? lessCredit(charged, opening.replaces.credit, row.currency) : charged;
  const merged = children.flatMap((child) =>
    mergedLines(child, planNames.get(child.planId) ?? '', charges.get(child.id) ?? []),
  );
  const lines = [...own, ...merged];
  const opened: SubscriptionRow = { ...row, billingSequence: 1 };
  const draft = draftInvoice(scope, {
    subscription: opened,
    planName: opening.planName,
    reason,
    period: { start: period.start, end: period.end },
    lines: trial ? lines.map(freeLine) : lines,
    billingSequence: 1,
    config,
    terms: termsWithChildren(terms, row.id, children),
    at: opening.at,
  });
  if (draft.row.invoiceStatus === 'SKIPPED' && opened.status === 'incomplete') opened.status = 'active';
  return { draft, opened };
}

/** Issues the opening invoice, and sees to its payment where that belongs to the creation; a subscription in place of another one is no creation. */
async function issuePaid(sql: Sql, scope: Scope, opening: Opening, invoiceId: string): Promise<void> {
  const { row, at, paid = null } = opening;
  if (opening.replaces || !isPaidWithinCreation(row)) {
    return issueInvoices(sql, scope, [{ invoiceId, at }], null);
  }
  const paymentId = paid?.chargeId ?? newId('pay');
  await issueInvoices(sql, scope, [{ invoiceId, at, paymentId }], null);
  await payOpening(sql, scope, { row, invoiceId, paymentId, at, paid });
}
