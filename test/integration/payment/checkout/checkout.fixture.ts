import type { Api, TestApp } from '../../../support/app.ts';

/** Bodies are what the API answered: tests read single members of them. */
// biome-ignore lint/suspicious/noExplicitAny: free-form JSON of the API
export type Body = any;

let made = 0;

/** A customer of its own. */
export async function customerOf(api: Api, more: object = {}): Promise<{ id: string; external_id: string }> {
  made += 1;
  const { body } = await api<Body>('POST', '/customers', {
    external_id: `payer-${made}`,
    name: `Payer ${made}`,
    ...more,
  });
  return body;
}

/** A prepaid wallet in dollars. */
export async function walletOf(api: Api, customerId: string, more: object = {}): Promise<Body> {
  return (await api<Body>('POST', '/wallets', { customer_id: customerId, currency: 'usd', ...more })).body;
}

/** What every session of these tests is opened with. */
export const checkout = { payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' };

/** A one-off invoice of an amount that its session pays. */
export function invoiceOf(customerId: string, amount = '25', more: object = {}) {
  return {
    customer_id: customerId,
    currency: 'usd',
    subtotal: amount,
    total: amount,
    amount_due: amount,
    line_items: [{ display_name: 'Onboarding', quantity: '1', amount }],
    checkout,
    ...more,
  };
}

/** Pays the link of a session at the sandbox as a payer does there, with a test card. */
export async function payAtSandbox(gateway: TestApp['gateway'], session: Body, cardNumber = '4000000000000002') {
  const token = `${session.checkout_payment_id}:1`;
  return gateway.payer!.payLink(token, { cardNumber });
}

/** A session as a poller reads it. */
export async function readSession(api: Api, id: string): Promise<Body> {
  return (await api<Body>('GET', `/checkout/sessions/${id}`)).body;
}
