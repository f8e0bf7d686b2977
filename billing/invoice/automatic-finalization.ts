import { epochMs, instantText } from '../time/local-time.ts';

/** The members of an invoice that decide whether time finalizes it. */
export interface FinalizableInvoice {
  invoiceStatus: string;
  invoiceType: string;
  billingReason: string;
  sourceType: string | null;
  isManuallyEdited: boolean;
  lastComputedAt: string | null;
  periodEnd: string | null;
}

/**
 * What the draft timer does: `finalize` (delay over), `compute` (a cycle draft last computed before its period ended is
 * computed again and then waits the delay once more), `wait`, or `never`. spec: subscriptions-and-invoicing §2.15.4
 */
export type AutomaticFinalization = 'finalize' | 'compute' | 'wait' | 'never';

export function automaticFinalization(
  invoice: FinalizableInvoice,
  delaySeconds: number,
  now: string,
): AutomaticFinalization {
  const due = automaticFinalizationDue(invoice, delaySeconds);
  if (due === null) return 'never';
  if (epochMs(now) < epochMs(due)) return 'wait';
  return computedTooEarly(invoice) ? 'compute' : 'finalize';
}

/**
 * The first instant at which the timer has work; null when it never has. The delay must be over, not just reached, so this is
 * one millisecond after it; a draft not computed yet, or computed before its period ended, is due for that at the period's end.
 * spec: subscriptions-and-invoicing §2.15.4
 */
export function automaticFinalizationDue(invoice: FinalizableInvoice, delaySeconds: number): string | null {
  const eligible =
    invoice.invoiceStatus === 'DRAFT' && invoice.invoiceType === 'SUBSCRIPTION' && invoice.sourceType !== 'checkout';
  if (!eligible || invoice.isManuallyEdited) return null;
  if (computedTooEarly(invoice)) return invoice.periodEnd === null ? null : instantText(epochMs(invoice.periodEnd));
  return instantText(epochMs(invoice.lastComputedAt!) + delaySeconds * 1000 + 1);
}

function computedTooEarly(invoice: FinalizableInvoice): boolean {
  if (invoice.lastComputedAt === null) return true;
  if (invoice.billingReason !== 'SUBSCRIPTION_CYCLE' || invoice.periodEnd === null) return false;
  return epochMs(invoice.lastComputedAt) < epochMs(invoice.periodEnd);
}
