import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';
import { isChild, type SubscriptionType } from './hierarchy.ts';
import { type Phase, phaseMoments } from './phase.ts';
import type { SubscriptionState } from './subscription.ts';

/** An invoice of the subscription that nobody else looks after yet. */
export interface UnattendedInvoice {
  id: string;
  status: 'DRAFT' | 'FINALIZED';
  isManuallyEdited: boolean;
  lastComputedAt: string;
  finalizedAt: string | null;
  unsettled: boolean;
  /** The payment that was opened for it and not yet charged. */
  openPaymentId: string | null;
}

export interface SubscriptionAgendaInput {
  /** A child's periods are closed with its parent's; absent is standalone. */
  state: SubscriptionState & { subscriptionType?: SubscriptionType };
  invoices: readonly UnattendedInvoice[];
  /** The period end whose renewal notice was already sent. */
  renewalNoticedFor: string | null;
  finalizationDelayMs: number;
  /** Applications of credit grants that are still to come. */
  grants?: readonly { id: string; scheduledFor: string }[];
  /** When the opening invoice of an incomplete subscription was paid; null while it is not. */
  openingPaidAt: string | null;
  /** Changes of plan that are pending, and subscriptions that took this one's place and have no workflow yet. */
  planChanges?: readonly PendingPlanChange[];
  /** What unpaid invoices bring about, when the settings say so. */
  latePayment?: { at: string; invoiceId: string } | null;
  phases?: readonly Phase[];
}

/** `applyPlanChange` in place, `replacePlan` by another subscription, `attendSuccessor` for that one. spec: §2.9.4 */
export interface PendingPlanChange {
  kind: 'applyPlanChange' | 'replacePlan' | 'attendSuccessor';
  at: string;
  ref: string;
}

const renewalLeadMs = 24 * 60 * 60 * 1000;

/**
 * Everything time will bring to a subscription, first things first. A function of rows alone: a workflow started again from
 * its row waits for the same instants. spec: subscriptions-and-invoicing §2.5; design: architecture §3
 */
export function subscriptionAgenda(input: SubscriptionAgendaInput): AgendaItem[] {
  const { state } = input;
  const items: AgendaItem[] = input.invoices.flatMap((invoice) => invoiceItems(invoice, input.finalizationDelayMs));
  if (!closedByItsParent(state)) items.push(...boundaryItems(state));
  else items.push(...ownTrialEnd(state));
  if (state.status === 'incomplete' && input.openingPaidAt !== null) {
    items.push({ at: input.openingPaidAt, kind: 'activateSubscription', ref: '' });
  }
  if (state.status !== 'cancelled') items.push(...(input.grants ?? []).map(grantItem));
  items.push(...(input.planChanges ?? []), ...phaseMoments(state, input.phases ?? []));
  const late = input.latePayment;
  if (late) items.push({ at: late.at, kind: 'enforcePayment', ref: late.invoiceId });
  // What is inherited is not renewed by itself: its parent's notice tells.
  const noticeAt = state.subscriptionType === 'inherited' ? null : renewalNoticeAt(state, input.renewalNoticedFor);
  if (noticeAt !== null) items.push({ at: noticeAt, kind: 'noticeRenewal', ref: '' });
  return sortAgenda(items, lifecycleKinds.subscription.agenda);
}

function closedByItsParent({ subscriptionType = 'standalone' }: SubscriptionAgendaInput['state']): boolean {
  return isChild({ subscriptionType });
}

/** A child in a group may be in its trial longer than its parent, and comes to that one's periods by itself. spec: §2.13 */
function ownTrialEnd(state: SubscriptionAgendaInput['state']): AgendaItem[] {
  if (state.subscriptionType !== 'grouped_invoicing' || state.status !== 'trialing') return [];
  return [{ at: state.currentPeriodEnd, kind: 'endTrial', ref: '' }];
}

function boundaryItems(state: SubscriptionState): AgendaItem[] {
  const items: AgendaItem[] = [];
  if (state.status === 'trialing') items.push({ at: state.currentPeriodEnd, kind: 'endTrial', ref: '' });
  if (state.status === 'active' || state.status === 'paused') {
    items.push({ at: state.currentPeriodEnd, kind: 'closePeriod', ref: '' });
  }
  return items;
}

/**
 * When the notice of the coming renewal is due, 24 hours before the period ends; null when it was sent, when nothing will
 * renew, or when the period is shorter than the lead. spec: subscriptions-and-invoicing §2.14.2
 */
export function renewalNoticeAt(
  state: SubscriptionState,
  noticedFor: string | null,
  leadMs = renewalLeadMs,
): string | null {
  const end = state.currentPeriodEnd;
  if (state.status !== 'active' || state.cancelAtPeriodEnd || noticedFor === end) return null;
  if ([state.endDate, state.cancelAt].some((instant) => instant !== null && instant <= end)) return null;
  const at = new Date(Date.parse(end) - leadMs).toISOString();
  return at >= state.currentPeriodStart ? at : null;
}

function grantItem({ id, scheduledFor }: { id: string; scheduledFor: string }): AgendaItem {
  return { at: scheduledFor, kind: 'applyGrant', ref: id };
}

function invoiceItems(invoice: UnattendedInvoice, finalizationDelayMs: number): AgendaItem[] {
  if (invoice.status === 'DRAFT') {
    if (invoice.isManuallyEdited) return [];
    const at = new Date(Date.parse(invoice.lastComputedAt) + finalizationDelayMs).toISOString();
    return [{ at, kind: 'finalizeInvoice', ref: invoice.id }];
  }
  if (!invoice.unsettled || invoice.finalizedAt === null) return [];
  return invoice.openPaymentId !== null
    ? [{ at: invoice.finalizedAt, kind: 'chargePayment', ref: invoice.openPaymentId }]
    : [{ at: invoice.finalizedAt, kind: 'attendInvoice', ref: invoice.id }];
}
