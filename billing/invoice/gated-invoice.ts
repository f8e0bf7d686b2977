import { type Decimal, decimal } from '../money/money.ts';
import { isCheckoutActive } from '../payment/checkout.ts';
import { refuse } from '../refusal.ts';

/** Facts that tell whether an invoice waits for a checkout session. */
export interface GatedInvoice {
  invoiceStatus: string;
  sourceType: string;
  /** The session, where the caller has read it. */
  checkoutSessionId?: string | null | undefined;
}

/**
 * The amount a session collects for an invoice whose prepaid credits already pay a part. Refuses (validation_error) what leaves nothing
 * to pay. spec: wallets-and-payments §2.18
 */
export function amountToCollect(total: string, prepaidCover: string): Decimal {
  const amount = decimal(total).minus(prepaidCover);
  if (amount.greaterThan(0)) return amount;
  const problem = decimal(total).greaterThan(0)
    ? 'cannot be given: prepaid credits cover the whole invoice, so there is nothing to pay'
    : 'cannot be given for an invoice of zero: there is nothing to pay';
  throw refuse('validation_error', `checkout ${problem}; leave it out`, { fields: { checkout: problem } });
}

/** An invoice that waits for its checkout session: only the session may move it. */
export function isGated(invoice: Pick<GatedInvoice, 'invoiceStatus' | 'sourceType'>): boolean {
  return invoice.sourceType === 'checkout' && invoice.invoiceStatus === 'DRAFT';
}

/**
 * Refuses (invalid_operation) what others do to an invoice that waits for its checkout session, naming the session.
 * spec: wallets-and-payments §2.18; subscriptions-and-invoicing §2.15.11
 */
export function refuseGated(invoice: GatedInvoice, verb: string): void {
  if (!isGated(invoice)) return;
  const { checkoutSessionId: id } = invoice;
  throw refuse(
    'invalid_operation',
    `the invoice waits for its checkout session${id ? ` ${id}` : ''} and cannot be ${verb} until that ends; cancel the session first`,
    id ? { context: { checkout_session_id: id } } : undefined,
  );
}

/** State of a gated invoice after its session: paid ones are final with a number, all others void without one and archived. */
export function gatedInvoiceAfter(checkoutStatus: string): {
  invoiceStatus: 'DRAFT' | 'FINALIZED' | 'VOIDED';
  isNumbered: boolean;
  status: 'published' | 'archived';
} {
  if (isCheckoutActive(checkoutStatus)) return { invoiceStatus: 'DRAFT', isNumbered: false, status: 'published' };
  if (checkoutStatus === 'completed') return { invoiceStatus: 'FINALIZED', isNumbered: true, status: 'published' };
  return { invoiceStatus: 'VOIDED', isNumbered: false, status: 'archived' };
}
