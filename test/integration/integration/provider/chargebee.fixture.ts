import { afterAll, expect } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent } from '../../../../dev/provider-fakes/chargebee/books.ts';
import { sentNotification } from '../../../../dev/provider-fakes/chargebee/notification.ts';
import { pageOf, payPage } from '../../../../dev/provider-fakes/chargebee/payment.ts';
import { startChargebeeFake } from '../../../../dev/provider-fakes/chargebee/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';

/** An installation with a Chargebee that moves no money, and what tests do at both sides of it. */
export async function chargebeeWorld() {
  const fake = await startChargebeeFake();
  afterAll(() => fake.close());
  const providers = providerAdapters({ chargebee: fake.url });
  const base = await testDatabase({ fakes: { chargebee: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const books = fake.booksOf('test_pages');
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const connect = (more: object = {}) =>
    api<Body>('POST', '/connections', {
      name: 'Chargebee',
      provider_type: 'chargebee',
      encrypted_secret_data: {
        site: 'acme-test',
        api_key: 'test_pages',
        webhook_username: 'hook',
        webhook_password: 'one',
        ...more,
      },
    });
  const checkout = { payment_provider: 'chargebee', success_url: 'https://shop.example/thanks' };
  const order = async (amount = '25', more: object = { checkout }) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, more));

  async function opened(): Promise<Body> {
    const { status, body } = await order();
    expect(status, JSON.stringify(body)).toBe(201);
    return body.checkout_session;
  }
  const page = (session: Body) => pageOf(books, session.provider_result.provider_session_id);
  const payments = (session: Body) => books.paymentsOf(books.orders.get(page(session).id)!.customerId);
  const pay = (session: Body, card: SandboxBehaviour = 'succeeds') =>
    payPage(books, page(session).id, sandboxCardNumber(card));
  const becomes = (session: Body, checkout_status: string) =>
    expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status });
  const refundsBecome = (paymentId: string, expected: object[]) =>
    expect
      .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, { timeout: 20_000 })
      .toMatchObject(expected);
  const lastEvent = (type: string): FakeEvent => {
    const event = books.events.findLast(({ event_type }) => event_type === type);
    if (!event) throw new Error(`the site told of no ${type}`);
    return event;
  };

  /** Sends a notification to the address of the environment, with the credentials `user:password`, or with none. */
  async function notify(event: object, credentials: string | null = 'hook:one') {
    const url = `/v1/webhooks/chargebee/${base.scope.tenantId}/${base.scope.environmentId}`;
    const { headers, body: payload } = sentNotification(event, credentials);
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    checkDocumented('POST', url, answer.statusCode, null, null);
    return { status: answer.statusCode, body: answer.json() as Body };
  }

  /** An invoice of 25 usd that was paid on the page of Chargebee. */
  async function paid(card: SandboxBehaviour = 'succeeds') {
    const session = await opened();
    pay(session, card);
    await becomes(session, 'completed');
    const { checkout_payment_id: paymentId, checkout_invoice_id: invoiceId } = session;
    return { session, paymentId, invoiceId, payment: payments(session)[0]! };
  }

  async function credit(invoiceId: string, amount: string) {
    const [line] = (await read(`/invoices/${invoiceId}`)).line_items;
    const { status, body } = await api<Body>('POST', '/creditnotes', {
      invoice_id: invoiceId,
      reason: 'SERVICE_ISSUE',
      refund_target: 'BACK_TO_SOURCE',
      line_items: [{ invoice_line_item_id: line.id, amount }],
    });
    expect(status, JSON.stringify(body)).toBe(201);
  }

  /** Rows of the inbox as they were kept. */
  const kept = () =>
    inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ body: Buffer; headers: Record<string, string> }>('select body, headers from inbound_event'),
    );

  const sides = { fake, providers, base, temporal, app, api, books, read };
  const orders = { connect, order, opened, page, payments, pay, becomes, paid };
  return { ...sides, ...orders, checkout, refundsBecome, lastEvent, notify, credit, kept };
}
