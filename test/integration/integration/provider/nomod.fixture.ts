import { expect } from 'vitest';
import type { FakeEvent } from '../../../../dev/provider-fakes/nomod/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/nomod/notification.ts';
import { payCheckout } from '../../../../dev/provider-fakes/nomod/payment.ts';
import { startNomodFake } from '../../../../dev/provider-fakes/nomod/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf } from '../../payment/checkout/checkout.fixture.ts';

export const secretOf = (name: string) => `whsec_${Buffer.from(name.padEnd(24, '.')).toString('base64')}`;
export const webhookSecret = secretOf('present');
export const apiKey = 'sk_test_pages';
export const checkout = { payment_provider: 'nomod', success_url: 'https://shop.example/thanks' };

/** An installation with workers and a fake of Nomod, which is not connected yet. */
export async function nomodWorld() {
  const fake = await startNomodFake();
  const providers = providerAdapters({ nomod: fake.url });
  const base = await testDatabase({ fakes: { nomod: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const books = fake.booksOf(apiKey);

  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
  const connect = (more: object = {}) =>
    api<Body>('POST', '/connections', {
      name: 'Nomod',
      provider_type: 'nomod',
      encrypted_secret_data: { api_key: apiKey, webhook_secret: webhookSecret, ...more },
    });
  const order = async (amount = '25', more: object = { checkout }) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, { currency: 'aed', ...more }));
  const pageOf = (session: Body) => books.checkoutOf(session.provider_result.provider_session_id);
  const pay = (session: Body, card: SandboxBehaviour = 'succeeds', count = 0) =>
    payCheckout(books, pageOf(session).id, sandboxCardNumber(card, count));

  /** A session of an invoice of 25 whose page is open. */
  async function opened(): Promise<Body> {
    const { status, body } = await order();
    expect(status, JSON.stringify(body)).toBe(201);
    return body.checkout_session;
  }

  function lastEvent(type: string): FakeEvent {
    const event = books.events.findLast(({ body }) => body.type === type);
    if (!event) throw new Error(`the account told of no ${type}`);
    return event;
  }

  /** Sends a notification as it is to the address of the environment. */
  async function post(headers: Record<string, string>, payload: string) {
    const url = `/v1/webhooks/nomod/${base.scope.tenantId}/${base.scope.environmentId}`;
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    checkDocumented('POST', url, answer.statusCode, null, null);
    return { status: answer.statusCode, body: answer.json() as Body };
  }

  /** Sends an event of Nomod, signed. */
  function notify(event: FakeEvent, secret = webhookSecret) {
    const { headers, body } = signedNotification(event, secret);
    return post({ ...headers }, body);
  }

  return { fake, base, app, api, books, read, connect, order, pageOf, pay, opened, lastEvent, post, notify };
}
