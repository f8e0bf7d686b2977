import { decimal, zero } from '../money/money.ts';

/** A FINALIZED invoice of a subscription, as the watcher of late payment sees it. */
export interface LateInvoice {
  dueDate: string;
  paymentStatus: string;
  amountRemaining: string;
}

/** The setting subscription_config, as far as it goes. */
export interface AutoCancellationConfig {
  enabled: boolean;
  /** At least 1. */
  gracePeriodDays: number;
}

const dayMs = 24 * 60 * 60 * 1000;
const unpaidStatuses = ['PENDING', 'FAILED'];

/** The last instant at which an invoice may still be paid without consequence: its due date and the grace in days of 24 hours. */
export function graceEndsAt(dueDate: string, gracePeriodDays: number): string {
  return new Date(Date.parse(dueDate) + gracePeriodDays * dayMs).toISOString();
}

/**
 * True when an unpaid invoice ends its subscription: the environment asked for it and the grace after the due date is over,
 * its last instant not included. spec: subscriptions-and-invoicing §2.14.3
 */
export function cancelsForLatePayment(invoice: LateInvoice, config: AutoCancellationConfig, now: string): boolean {
  return (
    config.enabled &&
    unpaidStatuses.includes(invoice.paymentStatus) &&
    decimal(invoice.amountRemaining).greaterThan(zero) &&
    now > graceEndsAt(invoice.dueDate, config.gracePeriodDays)
  );
}
