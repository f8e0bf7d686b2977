import { expect } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent, FakePayment } from '../../../../dev/provider-fakes/whop/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/whop/notification.ts';
import { payPage } from '../../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../../dev/provider-fakes/whop/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { type InboxRow, inboxOf } from '../provider-inbox.fixture.ts';

/** Checkout object of every order of these tests. */
export const checkout = { payment_provider: 'whop', success_url: 'https://shop.example/thanks' };

/** The product and its workers beside a fake Whop, with one account of it. `close` ends the fake. */
export async function whopWorld(account: string) {
  const fake = await startWhopFake();
  const providers = providerAdapters({ whop: fake.url });
  const base = await testDatabase({ fakes: { whop: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const secrets = { api_key: `apik_${account}`, company_id: `biz_${account}`, webhook_secret: 'ws_1' };
  const books = fake.booksOf(secrets.company_id);
  const idOf = (session: Body): string => session.provider_result.provider_session_id;
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;

  const order = async (amount = '25', more: object = { checkout }) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, { currency: 'usd', ...more }));

  return {
    ...{ order, fake, app, api, base, temporal, books, secrets, idOf, read },
    close: () => fake.close(),
    connect: (more: object = {}) =>
      api<Body>('POST', '/connections', {
        name: 'Whop',
        provider_type: 'whop',
        encrypted_secret_data: { ...secrets, ...more },
      }),
    /** The session of an invoice of 25 that a page of Whop pays. */
    async opened(): Promise<Body> {
      const { status, body } = await order();
      expect(status, JSON.stringify(body)).toBe(201);
      return body.checkout_session;
    },
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') => payPage(books, idOf(session), sandboxCardNumber(card)),
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
    cancel: ({ id }: Body) => api<Body>('POST', `/checkout/sessions/${id}/cancel`),
    becomes: (session: Body, checkout_status: string) =>
      expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status }),
    refundsBecome: (paymentId: string, expected: object[]) =>
      expect
        .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, { timeout: 20_000 })
        .toMatchObject(expected),
    /** Everything that was given back of a payment, as `amount currency`. */
    returnedOf: ({ id }: FakePayment) => books.refundsOf(id).map(({ amount, currency }) => `${amount} ${currency}`),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    /** Sends a notification to the address of the environment; `without` names a header that is left out. */
    async notify(event: FakeEvent, { secret = 'ws_1', atMs = Date.now(), without = '' } = {}) {
      const url = `/v1/webhooks/whop/${base.scope.tenantId}/${base.scope.environmentId}`;
      const { headers, body: payload } = signedNotification(event, secret, atMs);
      const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== without));
      const answer = await app.inject({ method: 'POST', url, headers: sent, payload });
      checkDocumented('POST', url, answer.statusCode, null, null);
      return { status: answer.statusCode, body: answer.json() as Body };
    },
    inboxOf: (event: Pick<FakeEvent, 'id'>): Promise<InboxRow | undefined> => inboxOf({ base }, event.id),
    /** Rows of the inbox whatever their event. */
    inboxSize: () =>
      inSqlTransaction(base.database, base.scope, async (tx) => (await tx.rows('select 1 from inbound_event')).length),
  };
}
