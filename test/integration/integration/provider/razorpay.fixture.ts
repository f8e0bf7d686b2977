import { expect } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent, FakeLink, RazorpayBooks } from '../../../../dev/provider-fakes/razorpay/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/razorpay/notification.ts';
import { payLink } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import { startRazorpayFake } from '../../../../dev/provider-fakes/razorpay/server.ts';
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
export const checkout = { payment_provider: 'razorpay', success_url: 'https://shop.example/thanks' };

const webhookSecret = 'rwh_1';

/** The product and its workers beside a fake Razorpay, with one account of it. `close` ends the fake. */
export async function razorpayWorld(account: string) {
  const fake = await startRazorpayFake();
  const providers = providerAdapters({ razorpay: fake.url });
  const base = await testDatabase({ fakes: { razorpay: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const keyId = `rzp_test_${account}`;
  const books: RazorpayBooks = fake.booksOf(keyId);
  const secrets = { key_id: keyId, secret_key: `secret_${account}`, webhook_secret: webhookSecret };
  const linkOf = (session: Body): FakeLink => books.links.get(session.provider_result.provider_session_id)!;

  /** Sends a notification as it is to the address of the environment. */
  async function post({ headers, body }: { headers: Record<string, string>; body: string }) {
    const url = `/v1/webhooks/razorpay/${base.scope.tenantId}/${base.scope.environmentId}`;
    const answer = await app.inject({ method: 'POST', url, headers, payload: body });
    checkDocumented('POST', url, answer.statusCode, null, null);
    return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
  }

  const order = async (amount = '25', more: object = { checkout }) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, more));

  return {
    ...{ order, fake, providers, app, api, base, temporal, keyId, books, secrets, linkOf, post },
    close: () => fake.close(),
    connect: (more: object = {}) =>
      api<Body>('POST', '/connections', {
        name: 'Razorpay',
        provider_type: 'razorpay',
        encrypted_secret_data: { ...secrets, ...more },
      }),
    /** The session of an invoice of 25 that a page of Razorpay pays. */
    async opened(more: object = {}): Promise<Body> {
      const { status, body } = await order('25', { checkout, ...more });
      expect(status, JSON.stringify(body)).toBe(201);
      return body.checkout_session;
    },
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') =>
      payLink(books, linkOf(session).id, sandboxCardNumber(card)),
    becomes: (session: Body, checkout_status: string) =>
      expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status }),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast(({ body }) => body.event === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    notify: (event: FakeEvent, secret = webhookSecret) => post(signedNotification(event, secret)),
    inboxOf: (event: Pick<FakeEvent, 'id'>): Promise<InboxRow | undefined> => inboxOf({ base }, event.id),
    /** Rows of the inbox whatever their event. */
    inboxSize: () =>
      inSqlTransaction(base.database, base.scope, async (tx) => (await tx.rows('select 1 from inbound_event')).length),
    read: async (path: string): Promise<Body> => (await api<Body>('GET', path)).body,
    refundsBecome: (paymentId: string, expected: object[]) =>
      expect
        .poll(async () => (await api<Body>('GET', `/refunds?payment_ids=${paymentId}`)).body.items, { timeout: 20_000 })
        .toMatchObject(expected),
  };
}
