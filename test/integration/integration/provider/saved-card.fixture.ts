import { expect } from 'vitest';
import type { Api } from '../../../support/app.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';

/** Steps of tests of saved cards at every provider. `currency` is that of invoices, `payer` what is known of a customer. */
export function savedCardsAt(
  { api, provider }: { api: Api; provider: string },
  { currency = 'usd', payer = {} }: { currency?: string; payer?: object } = {},
) {
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const paymentsOf = async (invoiceId: string): Promise<Body[]> =>
    (await read(`/payments?destination_id=${invoiceId}`)).items;
  const setupOf = (customerId: string) =>
    api<Body>('POST', `/payments/customers/${customerId}/setup/intent`, { provider, set_default: true });

  return {
    paymentsOf,
    setupOf,
    /** Checkout object of an order that is charged to a saved card. */
    automatic: {
      ...{ payment_provider: provider, success_url: 'https://shop.example/thanks' },
      payment_provider_config: { collection_method: 'charge_automatically' },
    },
    methodsOf: async (customerId: string): Promise<Body[]> =>
      (await read(`/customers/${customerId}/payment-methods`)).items,
    /** A payer, and the session by which it saves a card. */
    async setUp() {
      const { id } = await customerOf(api, payer);
      const { status, body } = await setupOf(id);
      expect(status, JSON.stringify(body)).toBe(200);
      return { id, session: (await readSession(api, body.checkout_session_id)) as Body };
    },
    /** A final invoice, which is charged at its finalization. */
    async collected(customerId: string, amount = '25'): Promise<string> {
      const terms = invoiceOf(customerId, amount, { currency, checkout: undefined });
      const { body } = await api<Body>('POST', '/invoices', terms);
      await api('POST', `/invoices/${body.id}/finalize`);
      return body.id;
    },
    invoiceBecomes: (id: string, payment_status: string) =>
      expect.poll(() => read(`/invoices/${id}`), { timeout: 20_000 }).toMatchObject({ payment_status }),
    paymentBecomes: (invoiceId: string, expected: object) =>
      expect.poll(() => paymentsOf(invoiceId), { timeout: 20_000 }).toMatchObject([expected]),
  };
}
