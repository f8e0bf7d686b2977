import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';
import { refuse } from '../refusal.ts';

export const paymentStatuses = [
  'INITIATED',
  'PENDING',
  'PROCESSING',
  'SUCCEEDED',
  'OVERPAID',
  'FAILED',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
  'VOIDED',
] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** The transition table of a payment. spec: wallets-and-payments §2.19 Transitions */
const movesFrom: Record<PaymentStatus, readonly PaymentStatus[]> = {
  INITIATED: ['PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
  PENDING: ['PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
  PROCESSING: ['SUCCEEDED', 'OVERPAID', 'FAILED'],
  SUCCEEDED: ['OVERPAID', 'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED'],
  OVERPAID: ['REFUNDED', 'PARTIALLY_REFUNDED'],
  PARTIALLY_REFUNDED: ['REFUNDED'],
  FAILED: [],
  REFUNDED: [],
  VOIDED: [],
};

/** Whether a payment may go from one status to another; staying is always allowed and changes nothing. */
export function paymentMoveAllowed(from: PaymentStatus, to: PaymentStatus): boolean {
  return from === to || movesFrom[from].includes(to);
}

/** Refuses a move that is not in the table (400 `invalid_operation`), naming what would be accepted. */
export function assertPaymentMove(from: PaymentStatus, to: PaymentStatus): void {
  if (paymentMoveAllowed(from, to)) return;
  const accepted = movesFrom[from].length === 0 ? 'no other status' : movesFrom[from].join(', ');
  throw refuse('invalid_operation', `a payment that is ${from} cannot become ${to}; it can become ${accepted}`, {
    payment_status: from,
  });
}

/** A payment that nobody waits for any more: its money has moved or will not. */
export function isPaymentSettled(status: PaymentStatus): boolean {
  return status !== 'INITIATED' && status !== 'PENDING' && status !== 'PROCESSING';
}

/** The gateway has taken the money, whatever was given back since. */
export function isPaymentCaptured(status: PaymentStatus): boolean {
  return status !== 'FAILED' && status !== 'VOIDED' && isPaymentSettled(status);
}

/** The event a move emits, or null when nothing changed. spec: wallets-and-payments §2.19 Events */
export function paymentEventName(
  from: PaymentStatus,
  to: PaymentStatus,
): `payment.${'pending' | 'success' | 'failed' | 'updated'}` | null {
  if (from === to) return null;
  if (to === 'PENDING' || to === 'PROCESSING') return 'payment.pending';
  if (to === 'SUCCEEDED' || to === 'OVERPAID') return 'payment.success';
  return to === 'FAILED' ? 'payment.failed' : 'payment.updated';
}

const secondMs = 1000;
const firstPollMs = 5 * secondMs;
const longestPollMs = 15 * 60 * secondMs;
const unansweredMs = 24 * 60 * 60 * secondMs;
const dayMs = 24 * 60 * 60 * secondMs;
const askedDailyMs = 30 * dayMs;

/**
 * The agenda of a payment whose outcome is not known at `at`: the next question to the gateway, after as long again as it
 * has been unanswered since `since`, at least 5 seconds and at most 15 minutes; and, 24 hours after `since`, a report to the
 * operator. Where the gateway said by when it decides, the report waits for that. A payment is never failed by time.
 * spec: wallets-and-payments §2.19 Unknown outcome, §2.25; design: money-in-checkout §A11
 */
export function unansweredPaymentAgenda(since: string, at: string, expectedBy: string | null = null): AgendaItem[] {
  const waitedMs = Date.parse(at) - Date.parse(since);
  const pauseMs = Math.min(Math.max(waitedMs, firstPollMs), longestPollMs);
  const usualReport = reportUnansweredAt(since);
  const reportAt = expectedBy !== null && expectedBy > usualReport ? expectedBy : usualReport;
  return sortAgenda(
    [
      { at: later(at, pauseMs), kind: 'pollGateway', ref: '' },
      { at: reportAt, kind: 'reportUnanswered', ref: '' },
    ],
    lifecycleKinds.payment.agenda,
  );
}

/**
 * The agenda at `at` of a payment that waits for its payer to confirm since `since`: the gateway is asked again after as long as the
 * payer has taken so far, at least 5 seconds, at most a day in the first 30 days, and ever more rarely after them. A gateway that
 * says this has answered, so nobody is alarmed, however long it takes; a month is some forty questions.
 * spec: wallets-and-payments §2.19; README decision 33
 */
export function payerAgenda(since: string, at: string): AgendaItem[] {
  const waitedMs = Math.max(Date.parse(at) - Date.parse(since), firstPollMs);
  const pauseMs = waitedMs < askedDailyMs ? Math.min(waitedMs, dayMs) : waitedMs;
  return [{ at: later(at, pauseMs), kind: 'pollGateway', ref: '' }];
}

/** Until when a gateway is asked at least once a day about a payer who has to confirm since `since`. */
export function askedDailyUntil(since: string): string {
  return later(since, askedDailyMs);
}

/** When an operator hears of a payment unanswered since `since`. */
export function reportUnansweredAt(since: string): string {
  return later(since, unansweredMs);
}

/** Since when a payment is unanswered, from the instant at which that would be reported. */
export function unansweredSince(reportAt: string): string {
  return later(reportAt, -unansweredMs);
}

function later(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) + byMs).toISOString();
}

/**
 * What the gateway knows a logical attempt to collect a debt by; every retry of the attempt uses the same. The debt of a subscription
 * is named by what it is for, not by a row of ours: whoever bills the same period again from an older backup asks for the same
 * charge, and the gateway answers with the one it made. spec: wallets-and-payments §2.19
 */
export function intentTokenOf(debt: string, attempt: number): string {
  return `${debt}:${attempt}`;
}

/**
 * What is known of a payment after the gateway was asked. `succeeded` and `declined` are definite; after `requires_action`,
 * `processing` and `unknown` the payment stays PROCESSING and is asked about again. Holds ids and words, no amounts, so that
 * it may travel through workflow histories. spec: wallets-and-payments §2.19
 */
export interface PaymentOutcome {
  status: 'succeeded' | 'declined' | 'requires_action' | 'processing' | 'unknown';
  gatewayPaymentId: string | null;
  gatewayMetadata: Record<string, string>;
  /** Why it was declined, or why nothing is known. */
  reason: string | null;
  /** Where the payer confirms, while action is required. */
  actionUrl: string | null;
  /** The gateway's code of a decline, and what it means for another try with the same method. */
  declineCode?: string | null;
  declineClass?: 'retry' | 'never' | 'authenticate' | null;
  /** Until when a gateway that takes days is expected to decide. */
  expectedBy?: string | null;
}

/** The status a definite outcome brings; null while nothing definite is known, when the payment stays as it is. */
export function paymentStatusAfter(outcome: Pick<PaymentOutcome, 'status'>): PaymentStatus | null {
  if (outcome.status === 'succeeded') return 'SUCCEEDED';
  return outcome.status === 'declined' ? 'FAILED' : null;
}
