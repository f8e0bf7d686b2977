import { addHours } from './calendar.ts';
import { epochMs, instantText } from './local-time.ts';

export type PaymentTerms = '15 NET' | '30 NET' | '45 NET' | '60 NET' | '75 NET' | '90 NET';

/**
 * When a subscription invoice is due: its period's end plus the terms, else plus invoice_config.due_date_days, in days of 24
 * hours, but not before `finalizedAt` where that is given. spec: subscriptions-and-invoicing §2.15.6
 */
export function subscriptionDueDate(input: {
  periodEnd: string;
  paymentTerms: string | null;
  dueDateDays: number;
  finalizedAt?: string;
}): string {
  const days = input.paymentTerms ? Number.parseInt(input.paymentTerms, 10) : input.dueDateDays;
  const due = addHours(input.periodEnd, days * 24);
  return input.finalizedAt && epochMs(input.finalizedAt) > epochMs(due) ? instantText(epochMs(input.finalizedAt)) : due;
}

/** When a one-off invoice is due: as asked, else its issue date plus invoice_config.due_date_days. spec: §2.15.6 */
export function oneOffDueDate(input: { dueDate?: string | null; issueDate: string; dueDateDays: number }): string {
  return input.dueDate ? instantText(epochMs(input.dueDate)) : addHours(input.issueDate, input.dueDateDays * 24);
}
