import { expect } from 'vitest';
import type { Api } from '../../../support/app.ts';
import { type Body, customerOf, invoiceOf } from '../../payment/checkout/checkout.fixture.ts';

/** Steps of tests of saved cards at every provider. `currency` is that of invoices, `payer` what is known of a customer. */
export function savedCardsAt(
  { api, provider }: { api: Api; provider: string },
  { currency = 'usd', payer = {} }: { currency?: string; payer?: object } = {},
) {
  const automatic = {
    ...{ payment_provider: provider, success_url: 'https://shop.example/thanks' },
    payment_provider_config: { collection_method: 'charge_automatically' },
  };
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const paymentsOf = async (invoiceId: string): Promise<Body[]> =>
    (await read(`/payments?destination_id=${invoiceId}`)).items;
  const methodsOf = async (customerId: string): Promise<Body[]> =>
    (await read(`/customers/${customerId}/payment-methods`)).items;
  const setupOf = (customerId: string, more: object = {}) =>
    api<Body>('POST', `/payments/customers/${customerId}/setup/intent`, { provider, set_default: true, ...more });

  /**
   * A payer, and the session by which it saves a card, as the setup intent tells of it: nobody has read the session, so that its first
   * reader has the provider asked.
   */
  async function setUp(more: object = {}): Promise<{ id: string; session: Body }> {
    const { id } = await customerOf(api, payer);
    const { status, body } = await setupOf(id, more);
    expect(status, JSON.stringify(body)).toBe(200);
    const { checkout_session_id, setup_intent_id, checkout_url: url } = body;
    const provider_result = { provider_session_id: setup_intent_id };
    return { id, session: { id: checkout_session_id, provider_result, payment_action: { url } } };
  }

  /** Payments of an invoice, whose provider was asked about those that are open: they are read one by one. */
  async function askedPaymentsOf(invoiceId: string): Promise<Body[]> {
    const open = (await paymentsOf(invoiceId)).filter(({ payment_status }) => payment_status === 'PROCESSING');
    for (const { id } of open) await read(`/payments/${id}`);
    return paymentsOf(invoiceId);
  }

  const patience = { timeout: 20_000, interval: 100 };
  return {
    ...{ automatic, methodsOf, paymentsOf, setupOf, setUp },
    /** A final invoice, which is charged at its finalization. */
    async collected(customerId: string, amount = '25'): Promise<string> {
      const terms = invoiceOf(customerId, amount, { currency, checkout: undefined });
      const { body } = await api<Body>('POST', '/invoices', terms);
      await api('POST', `/invoices/${body.id}/finalize`);
      return body.id;
    },
    /** Session of an order that is charged to the saved card of a customer, as it is answered. */
    async orderBy(customerId: string): Promise<Body> {
      const terms = invoiceOf(customerId, '25', { currency, checkout: automatic });
      const { status, body } = await api<Body>('POST', '/invoices', terms);
      expect(status, JSON.stringify(body)).toBe(201);
      return body.checkout_session;
    },
    /** Waits until an invoice is paid or not; the provider of its open payment is asked each time, and not only after its pause. */
    invoiceBecomes: (id: string, payment_status: string) =>
      expect
        .poll(async () => {
          await askedPaymentsOf(id);
          return read(`/invoices/${id}`);
        }, patience)
        .toMatchObject({ payment_status }),
    /** Waits for the payment of an invoice, and has nobody asked: the product finds out by itself, or is told. */
    paymentBecomes: (invoiceId: string, expected: object) =>
      expect.poll(() => paymentsOf(invoiceId), patience).toMatchObject([expected]),
    /** The same, asking its provider each time. */
    askedPaymentBecomes: (invoiceId: string, expected: object) =>
      expect.poll(() => askedPaymentsOf(invoiceId), patience).toMatchObject([expected]),
  };
}
