import { afterAll, expect } from 'vitest';
import type { FakeEvent, FakeTransaction } from '../../../../dev/provider-fakes/paddle/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/paddle/notification.ts';
import { payTransaction } from '../../../../dev/provider-fakes/paddle/payment.ts';
import { startPaddleFake } from '../../../../dev/provider-fakes/paddle/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';

/** A Perennial whose environment may be connected to an account at the fake of Paddle, and both sides of its payments. */
export async function paddleWorld() {
  const fake = await startPaddleFake();
  const providers = providerAdapters({ paddle: fake.url });
  const base = await testDatabase({ fakes: { paddle: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  afterAll(() => fake.close());

  const apiKey = 'pdl_sdbx_apikey_pages';
  const books = fake.booksOf(apiKey);
  const checkout = { payment_provider: 'paddle', success_url: 'https://shop.example/thanks' };
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const idOf = (session: Body): string => session.provider_result.provider_session_id;
  const order = async (amount = '25', more: object = {}) =>
    api<Body>(
      'POST',
      '/invoices',
      invoiceOf((await customerOf(api)).id, amount, { currency: 'usd', checkout, ...more }),
    );

  const world = {
    fake,
    providers,
    base,
    temporal,
    app,
    api,
    books,
    read,
    order,
    idOf,
    connect: (more: object = {}) =>
      api<Body>('POST', '/connections', {
        name: 'Paddle',
        provider_type: 'paddle',
        encrypted_secret_data: { api_key: apiKey, client_side_token: 'test_pages', webhook_secret: 'pwh_1', ...more },
      }),
    async opened(): Promise<Body> {
      const { status, body } = await order();
      expect(status, JSON.stringify(body)).toBe(201);
      return body.checkout_session;
    },
    transactionOf: (session: Body): FakeTransaction => books.transactions.get(idOf(session))!,
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') =>
      payTransaction(books, idOf(session), sandboxCardNumber(card)),
    becomes: (session: Body, checkout_status: string) =>
      expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status }),
    refundsBecome: (paymentId: string, expected: object[]) =>
      expect
        .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, { timeout: 20_000 })
        .toMatchObject(expected),
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.event_type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    cancel: ({ id }: Body) => api<Body>('POST', `/checkout/sessions/${id}/cancel`),
    page: (url: string) => app.inject({ method: 'GET', url: new URL(url).pathname }),
    async notify(event: FakeEvent | object, secret = 'pwh_1', atMs = Date.now()) {
      const url = `/v1/webhooks/paddle/${base.scope.tenantId}/${base.scope.environmentId}`;
      const { headers, body: payload } = signedNotification(event, secret, { atMs });
      const answer = await app.inject({ method: 'POST', url, headers, payload });
      checkDocumented('POST', url, answer.statusCode, null, null);
      return { status: answer.statusCode, body: answer.json() as Body };
    },
  };
  return world;
}
