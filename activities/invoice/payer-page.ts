import { refusalIn, refuse } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateways } from '../../integrations/payment-gateway.ts';
import { noteUnopenedPage, payerLink } from '../../services/collection/payer-link.ts';
import { refreshInvoiceAgenda } from '../../services/invoice/read/invoice-snapshot.ts';
import type { CheckoutRequest } from '../../services/payment/checkout/checkout-insert.ts';
import { tokenByKey } from '../../services/payment/checkout/checkout-token.ts';
import { draftPaymentLink } from '../../services/payment/checkout/payment-link.ts';
import type { InvoiceReference } from './invoice-reference.ts';

/** Keys and address of the payment pages that a worker opens; without a key it opens none. */
export interface PaymentPages {
  signingKeys: readonly string[];
  /** Address under which payers reach the API. */
  url: string;
}

const noKey =
  'the worker has no PORTAL_SIGNING_KEYS, without which it opens no payment page; process the payment to open it';

/**
 * Drafts the session of a payment that its payer is asked for; its own workflow opens the page. Gives the session, the same one when it is
 * asked again. What refuses it, or a worker that opens no pages, is noted at the payment, and null is given.
 * design: money-in-checkout §A9, §B10
 */
export async function draftPayerPage(
  { pages, gateways }: { pages: PaymentPages; gateways: PaymentGateways },
  inScope: <T>(owner: InvoiceReference, work: (tx: SqlTransaction) => Promise<T>) => Promise<T>,
  input: InvoiceReference & { paymentId: string; at: string },
): Promise<string | null> {
  const { paymentId, at } = input;
  const draft = (tx: SqlTransaction) => draftSession(tx, { pages, gateways, paymentId, at });
  try {
    return await inScope(input, draft);
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    await inScope(input, async (tx) => {
      await noteUnopenedPage(tx, { paymentId, reason: refusal.message, at });
      await refreshInvoiceAgenda(tx, tx.scope, input.invoiceId);
    });
    return null;
  }
}

async function draftSession(
  tx: SqlTransaction,
  { pages, gateways, paymentId, at }: { pages: PaymentPages; gateways: PaymentGateways; paymentId: string; at: string },
): Promise<string | null> {
  const payment = await payerLink(tx, paymentId);
  if (payment === null || payment.sessionId !== null) return payment?.sessionId ?? null;
  const [key] = pages.signingKeys;
  const { invoiceId, amount, provider, testClockId } = payment;
  if (key === undefined) throw refuse('not_implemented', noKey);
  const request = requestOf({ provider, isConnected: !gateways.has(provider), url: pages.url, key });
  await draftPaymentLink(tx, request, { invoiceId, amount, paymentId, isAdopted: true, owner: { testClockId, at } });
  await refreshInvoiceAgenda(tx, tx.scope, invoiceId);
  return request.sessionId;
}

function requestOf(page: { provider: string; isConnected: boolean; url: string; key: string }): CheckoutRequest {
  const { provider, isConnected, url, key } = page;
  const sessionId = newId('cs');
  return {
    sessionId,
    provider,
    isConnected,
    providerConfig: { collection_method: 'send_invoice', payment_method: 'CARD' },
    successUrl: null,
    failureUrl: null,
    cancelUrl: null,
    idempotencyKey: null,
    metadata: {},
    pageToken: tokenByKey(key, sessionId),
    baseUrl: url,
    urlOf: () => null,
  };
}
