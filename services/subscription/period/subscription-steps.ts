import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { issueDueInvoices } from '../../invoice/issue/invoice-issue-due.ts';
import { attendInvoice } from '../../invoice/read/invoice-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { endPhases, startPhases } from '../phase/subscription-phase-cross.ts';
import { applyPlanChanges, attendSuccessors, replacePlans } from '../plan-change/plan-change-due.ts';
import { enforcePayments } from '../status/payment-enforcement.ts';
import { applyGrants } from './credit-grant-apply.ts';
import { catchUpParents } from './subscription-catch-up.ts';
import { closePeriods, endTrials } from './subscription-close.ts';
import type { SubscriptionMoment } from './subscription-moment.ts';
import { activateSubscriptions, noticeRenewals } from './subscription-notice.ts';

/** What one kind of entry does to any number of subscriptions of one environment, in the caller's transaction. */
export type SubscriptionStep = (
  sql: Sql,
  scope: Scope,
  moments: readonly SubscriptionMoment[],
  readUsage: UsageReader,
) => Promise<AttendedSubscription[]>;

/** Reads the subscriptions after something of theirs changed and writes their agendas down. */
export const refreshStep: SubscriptionStep = (sql, scope, moments) =>
  refreshSubscriptions(
    sql,
    scope.environmentId,
    moments.map(({ subscriptionId }) => subscriptionId),
  );

/**
 * Every kind of agenda entry that is work on rows, by its name. Workflows perform them as activities of these names; a rehearsal
 * performs the same in a transaction it takes back. Charges are not among them: they ask a gateway.
 * spec: subscriptions-and-invoicing §2.5
 */
export const subscriptionSteps = {
  closePeriod: closePeriods,
  /** A child in a group ends its trial, and begins its phases, behind the periods that its parent closes. spec: §2.13 */
  async endTrial(sql, scope, moments, readUsage) {
    await catchUpParents(sql, scope, moments, readUsage);
    return endTrials(sql, scope, moments, readUsage);
  },
  noticeRenewal: noticeRenewals,
  activateSubscription: activateSubscriptions,
  applyGrant: applyGrants,
  /** Issues drafts whose window is over. spec: subscriptions-and-invoicing §2.15.4 */
  async finalizeInvoice(sql, scope, moments, readUsage) {
    const invoices = moments.map(({ ref, at }) => ({ invoiceId: ref, at }));
    await issueDueInvoices(sql, scope, invoices, readUsage);
    return refreshStep(sql, scope, moments, readUsage);
  },
  /** From now on an unsettled invoice has a workflow of its own. */
  async attendInvoice(sql, scope, moments, readUsage) {
    for (const { ref } of moments) await attendInvoice(sql, scope, ref);
    return refreshStep(sql, scope, moments, readUsage);
  },
  enforcePayment: enforcePayments,
  applyPlanChange: applyPlanChanges,
  replacePlan: replacePlans,
  attendSuccessor: attendSuccessors,
  async startPhase(sql, scope, moments, readUsage) {
    await catchUpParents(sql, scope, moments, readUsage);
    return startPhases(sql, scope, moments);
  },
  async endPhase(sql, scope, moments, readUsage) {
    await catchUpParents(sql, scope, moments, readUsage);
    return endPhases(sql, scope, moments);
  },
} satisfies Record<string, SubscriptionStep>;

export type SubscriptionStepName = keyof typeof subscriptionSteps;
