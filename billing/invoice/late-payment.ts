import { type AutoCancellationConfig, cancelsForLatePayment, graceEndsAt } from './auto-cancellation.ts';
import { retryAfterDays } from './invoice-agenda.ts';

/** What becomes of a subscription after the last attempt to collect one of its invoices. Own, like dunning itself. */
export type AfterLastAttempt = 'none' | 'pause' | 'cancel';

/** The settings subscription_config and dunning_config, as far as unpaid invoices have consequences. */
export interface LatePaymentTerms {
  autoCancellation: AutoCancellationConfig;
  afterLastAttempt: AfterLastAttempt;
  /** Days after finalization on which a declined charge is tried again. */
  retryAfterDays: readonly number[];
  /** Since when the terms hold, in real time; null for a subscription on a test clock, whose time they have no place in. */
  since: string | null;
}

/** A FINALIZED invoice of a subscription with an amount remaining. */
export interface UnpaidInvoice {
  id: string;
  number: string;
  dueDate: string | null;
  paymentStatus: string;
  amountRemaining: string;
  finalizedAt: string | null;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  /** Attempts after the first charge. */
  collectionAttempts: number;
  /** When a charge failed last. */
  lastFailedAt: string | null;
  /** A charge is open or waits for its gateway, or nobody has begun to collect. */
  isUnderWay: boolean;
}

/** How a subscription was paused for unpaid invoices, now or before; nulls when it never was. */
export interface LatePaymentPause {
  /** The invoice for which it is paused now. */
  invoiceId: string | null;
  /** When the last of its invoices was settled. */
  settledAt: string | null;
  /** When it was resumed last: for what had failed until then it is not paused again, because whoever resumed it meant it. */
  resumedAt: string | null;
}

export interface LatePaymentConsequence {
  at: string;
  action: 'cancel' | 'pause' | 'resume';
  invoiceId: string;
  /** For the audit, the row and the customer. */
  reason: string;
}

interface LatePaymentState {
  status: string;
  currentPeriodStart: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The first consequence that unpaid invoices have for their subscription; null when there is none to come. An active one is
 * cancelled once the grace after a due date is over, and cancelled or paused after the last attempt to collect; one that was
 * paused so goes on when nothing is unpaid any more. Nothing lies before the current period, nor, in real time, before the setting.
 * spec: subscriptions-and-invoicing §2.14.3; the rest is own
 */
export function latePaymentConsequence(
  state: LatePaymentState,
  unpaid: readonly UnpaidInvoice[],
  pause: LatePaymentPause,
  terms: LatePaymentTerms,
): LatePaymentConsequence | null {
  if (state.status === 'paused') return unpaid.length === 0 ? resumption(state, pause) : null;
  if (state.status !== 'active') return null;
  const earliest = [state.currentPeriodStart, terms.since ?? ''].reduce(later);
  const all = unpaid
    .flatMap((invoice) => [afterGrace(invoice, terms), afterAttempts(invoice, terms)])
    .filter((consequence) => consequence !== null)
    .filter(({ action, at }) => action === 'cancel' || pause.resumedAt === null || at > pause.resumedAt)
    .map((consequence) => ({ ...consequence, at: later(consequence.at, earliest) }));
  // At one instant the end comes before the pause.
  all.sort((a, b) =>
    a.at === b.at ? Number(a.action === 'pause') - Number(b.action === 'pause') : a.at < b.at ? -1 : 1,
  );
  return all[0] ?? null;
}

function afterGrace(invoice: UnpaidInvoice, { autoCancellation }: LatePaymentTerms): LatePaymentConsequence | null {
  if (invoice.dueDate === null) return null;
  const graceEnds = graceEndsAt(invoice.dueDate, autoCancellation.gracePeriodDays);
  // The grace holds for its last instant too.
  const at = new Date(Date.parse(graceEnds) + 1).toISOString();
  if (!cancelsForLatePayment({ ...invoice, dueDate: invoice.dueDate }, autoCancellation, at)) return null;
  const reason = `invoice ${invoice.number} is unpaid ${autoCancellation.gracePeriodDays} days after its due date ${invoice.dueDate}`;
  return { at, action: 'cancel', invoiceId: invoice.id, reason };
}

function afterAttempts(invoice: UnpaidInvoice, terms: LatePaymentTerms): LatePaymentConsequence | null {
  const { afterLastAttempt: action, retryAfterDays: days } = terms;
  if (action === 'none' || invoice.collectionMethod !== 'charge_automatically' || invoice.finalizedAt === null)
    return null;
  if (invoice.isUnderWay || invoice.collectionAttempts < days.length) return null;
  const last = Date.parse(invoice.finalizedAt) + (days.at(-1) ?? 0) * dayMs;
  const at = later(new Date(last).toISOString(), invoice.lastFailedAt ?? '');
  const reason = `invoice ${invoice.number} is unpaid after the last attempt to collect it`;
  return { at, action, invoiceId: invoice.id, reason };
}

function resumption(state: LatePaymentState, pause: LatePaymentPause): LatePaymentConsequence | null {
  if (pause.invoiceId === null || pause.settledAt === null) return null;
  const at = later(pause.settledAt, state.currentPeriodStart);
  return { at, action: 'resume', invoiceId: pause.invoiceId, reason: 'nothing is unpaid any more' };
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

/** The terms of stored settings; what is not stored has its default. */
export function latePaymentTerms(
  subscriptionConfig: Record<string, unknown> | null,
  dunningConfig: Record<string, unknown> | null,
  since: string | null,
): LatePaymentTerms {
  return {
    autoCancellation: {
      enabled: subscriptionConfig?.auto_cancellation_enabled === true,
      gracePeriodDays: Number(subscriptionConfig?.grace_period_days ?? 3),
    },
    afterLastAttempt: (dunningConfig?.after_last_attempt as AfterLastAttempt | undefined) ?? 'none',
    retryAfterDays: (dunningConfig?.retry_after_days as number[] | undefined) ?? retryAfterDays,
    since,
  };
}
