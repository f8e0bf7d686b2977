import { expect } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent } from '../../../../dev/provider-fakes/moyasar/books.ts';
import { sentNotification } from '../../../../dev/provider-fakes/moyasar/notification.ts';
import { payInvoice } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { startMoyasarFake } from '../../../../dev/provider-fakes/moyasar/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';

/** Checkout object of every order of these tests. */
export const checkout = { payment_provider: 'moyasar', success_url: 'https://shop.example/thanks' };

/** The product and its workers beside a fake Moyasar, with one account of it. `close` ends the fake. */
export async function moyasarWorld(account: string) {
  const fake = await startMoyasarFake();
  const providers = providerAdapters({ moyasar: fake.url });
  const base = await testDatabase({ fakes: { moyasar: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const secretKey = `sk_test_${account}`;
  const books = fake.booksOf(secretKey);
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const order = async (amount = '25', more: object = { checkout }) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, { currency: 'sar', ...more }));
  const pageOf = (session: Body) => books.invoices.get(session.provider_result.provider_session_id)!;
  const pay = (session: Body, card: SandboxBehaviour = 'succeeds') =>
    payInvoice(books, pageOf(session).id, sandboxCardNumber(card));
  const becomes = (session: Body, checkout_status: string) =>
    expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status });

  async function opened(): Promise<Body> {
    const { status, body } = await order();
    expect(status, JSON.stringify(body)).toBe(201);
    return body.checkout_session;
  }

  return {
    ...{ fake, app, api, base, temporal, books, read, order, pageOf, pay, becomes, opened },
    close: () => fake.close(),
    connect: (more: object = {}) =>
      api<Body>('POST', '/connections', {
        name: 'Moyasar',
        provider_type: 'moyasar',
        encrypted_secret_data: { secret_key: secretKey, webhook_secret: 'mwh_1', ...more },
      }),
    /** An invoice of 25 that was paid on the page of Moyasar. */
    async paid(card: SandboxBehaviour = 'succeeds') {
      const session = await opened();
      pay(session, card);
      await becomes(session, 'completed');
      const [payment] = books.paymentsOf(pageOf(session).id);
      return { paymentId: session.checkout_payment_id, invoiceId: session.checkout_invoice_id, payment: payment! };
    },
    async credit(invoiceId: string, amount: string) {
      const [line] = (await read(`/invoices/${invoiceId}`)).line_items;
      const { status, body } = await api<Body>('POST', '/creditnotes', {
        invoice_id: invoiceId,
        reason: 'SERVICE_ISSUE',
        refund_target: 'BACK_TO_SOURCE',
        line_items: [{ invoice_line_item_id: line.id, amount }],
      });
      expect(status, JSON.stringify(body)).toBe(201);
    },
    refundsBecome: (paymentId: string, expected: object[]) =>
      expect
        .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, { timeout: 20_000 })
        .toMatchObject(expected),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    inboxBytes: () =>
      inSqlTransaction(base.database, base.scope, (tx) => tx.rows<{ body: Buffer }>('select body from inbound_event')),
    /** Sends a notification to the address of the environment. */
    async notify(event: FakeEvent, secret: string | null = 'mwh_1') {
      const url = `/v1/webhooks/moyasar/${base.scope.tenantId}/${base.scope.environmentId}`;
      const { headers, body: payload } = sentNotification(event, secret);
      const answer = await app.inject({ method: 'POST', url, headers, payload });
      checkDocumented('POST', url, answer.statusCode, null, null);
      return { status: answer.statusCode, body: answer.json() as Body };
    },
  };
}
