import { createInvoiceBody, newInvoiceOf } from '../../api/invoice/invoice-create.schema.ts';
import { updateObject } from '../../api/lifecycle.ts';
import { checkoutToken } from '../../api/payment/checkout-token.ts';
import { newId } from '../../db/id.ts';
import { inTransaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { createCustomer } from '../../services/customer/customer.ts';
import { draftInvoiceCheckout } from '../../services/payment/checkout/checkout-draft.ts';
import type { CheckoutRequest } from '../../services/payment/checkout/checkout-insert.ts';
import { openCheckout } from '../../workflows/payment/checkout-session.messages.ts';
import { type BenchPlatform, benchSigningKeys } from '../platform.ts';

const lanes = 32;
const line = { display_name: 'Onboarding', quantity: '1', amount: '25' };

/** A crowd of sessions: how many, on which clock, ordered when, and the clock's present, at which their pages are opened. */
export interface Crowd {
  count: number;
  clockId: string;
  orderedAt: string;
  at: string;
}

/**
 * Opens sessions of one-off invoices of 25, each of a customer of its own. Drafts are written by the store and not asked of the API one by
 * one; every page is opened by the workflow of its session, as always.
 */
export async function openCrowd(platform: BenchPlatform, crowd: Crowd): Promise<void> {
  const waiting = Array.from({ length: crowd.count }, (_, index) => index).values();
  const openSome = async () => {
    for (const index of waiting) await openOne(platform, crowd, index);
  };
  await Promise.all(Array.from({ length: lanes }, openSome));
}

async function openOne({ database, metering, scope, temporal }: BenchPlatform, crowd: Crowd, index: number) {
  const { clockId: testClockId, orderedAt, at } = crowd;
  const sessionId = newId('cs');
  const customerId = await inTransaction(database, scope, async (tx) => {
    const externalId = `payer-${index}`;
    const { id: customerId } = await createCustomer(tx, { externalId, name: externalId, testClockId });
    const totals = { subtotal: '25', total: '25', amount_due: '25' };
    const body = { customer_id: customerId, currency: 'usd', ...totals, line_items: [line] };
    const invoice = newInvoiceOf(createInvoiceBody.parse(body), null);
    const owner = { customerId, testClockId, at: orderedAt };
    const input = { invoiceId: newId('inv'), invoice, configuration: body, owner };
    await draftInvoiceCheckout(tx, requestOf(sessionId), input, usageReader(metering));
    return customerId;
  });
  const object = { kind: 'checkout_session', id: sessionId, customerId, testClockId, at, creating: true } as const;
  await updateObject({ temporal, scope }, object, openCheckout, {});
}

function requestOf(sessionId: string): CheckoutRequest {
  return {
    sessionId,
    provider: 'sandbox',
    isConnected: false,
    providerConfig: { collection_method: 'send_invoice', payment_method: 'CARD' },
    successUrl: 'https://shop.example/thanks',
    failureUrl: null,
    cancelUrl: null,
    idempotencyKey: null,
    metadata: {},
    pageToken: checkoutToken({ portalSigningKeys: benchSigningKeys }, sessionId),
    baseUrl: 'http://localhost',
    urlOf: () => null,
  };
}
