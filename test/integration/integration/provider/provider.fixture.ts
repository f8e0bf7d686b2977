import { afterAll, expect } from 'vitest';
import { readProviderEvents } from '../../../../activities/integration/provider-events.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import type { FakesByGateway } from '../../../support/gateways/provider-books.ts';
import { testSecretKeys } from '../../../support/secret-keys.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { type InboxRow, inbox, inboxOf } from '../provider-inbox.fixture.ts';

type Fake = FakesByGateway[string] & { url: string; close(): Promise<void> };

const patience = { timeout: 20_000 };

/**
 * The product and its workers beside the fake of one provider, which is not connected yet, and the steps that tests of every provider
 * take. Invoices are in `currency`. The fake ends with the file.
 */
export async function providerWorld<F extends Fake>(provider: string, fake: F, currency = 'usd') {
  afterAll(() => fake.close());
  const providers = providerAdapters({ [provider]: fake.url });
  const base = await testDatabase({ fakes: { [provider]: fake } });
  const temporal = await testTemporal();
  const { app, api, gateway } = await testApp(base, temporal, { providers });
  await startWorkers(base, temporal, { gateway, providers });
  const checkout = checkoutAt(provider);
  const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;

  /** An invoice that a page of the provider pays, unless `more` says otherwise. */
  const order = async (amount = '25', more: object = {}) =>
    api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, { currency, checkout, ...more }));

  /** The session of an invoice of 25 whose page is open. */
  async function opened(more: object = {}): Promise<Body> {
    const { status, body } = await order('25', more);
    expect(status, JSON.stringify(body)).toBe(201);
    return body.checkout_session;
  }

  /** Credits a part of an invoice; the money is to go back to its card. */
  async function credit(invoiceId: string, amount: string): Promise<void> {
    const [line] = (await read(`/invoices/${invoiceId}`)).line_items;
    const { status, body } = await api<Body>('POST', '/creditnotes', {
      invoice_id: invoiceId,
      reason: 'SERVICE_ISSUE',
      refund_target: 'BACK_TO_SOURCE',
      line_items: [{ invoice_line_item_id: line.id, amount }],
    });
    expect(status, JSON.stringify(body)).toBe(201);
  }

  /** Sends a notification as it is to the address of the environment. */
  async function post({ headers, body: payload }: { headers: object; body: string }) {
    const url = `/v1/webhooks/${provider}/${base.scope.tenantId}/${base.scope.environmentId}`;
    const answer = await app.inject({ method: 'POST', url, headers: { ...headers }, payload });
    checkDocumented('POST', url, answer.statusCode, null, null);
    return { status: answer.statusCode, body: answer.json() as Body };
  }

  return {
    ...{ fake, providers, base, temporal, app, api, checkout, read, order, opened, credit, post },
    /** Connects the provider by its secrets. */
    connectBy: (name: string, secrets: object) =>
      api<Body>('POST', '/connections', { name, provider_type: provider, encrypted_secret_data: secrets }),
    cancel: ({ id }: Body) => api<Body>('POST', `/checkout/sessions/${id}/cancel`),
    becomes: ({ id }: Body, checkout_status: string) =>
      expect.poll(() => readSession(api, id), patience).toMatchObject({ checkout_status }),
    refundsBecome: (paymentId: string, expected: object[]) =>
      expect
        .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, patience)
        .toMatchObject(expected),
    /** Reads the provider's lists, as is done every hour. A change of the secrets has them read at once. */
    async readLists(connectionId: string, secrets: object): Promise<void> {
      await api('PUT', `/connections/${connectionId}`, { encrypted_secret_data: secrets });
      const connected = { adapters: providers, secretKeys: testSecretKeys.secretEncryptionKeys };
      // A look leaves out a connection whose row another look has locked, and is done again.
      const isAsked = async () => {
        await readProviderEvents(base.database, temporal.client, connected);
        const { body } = await api<{ health: { status: string } }>('GET', `/connections/${connectionId}`);
        return body.health.status !== 'unknown';
      };
      await expect.poll(isAsked, { timeout: 20_000 }).toBe(true);
    },
    /** The inbox, its rows as they were kept. */
    kept: () => inbox({ base }),
    inboxOf: (eventId: string): Promise<InboxRow | undefined> => inboxOf({ base }, eventId),
  };
}

/** Checkout object of orders that a page of a provider pays. */
export const checkoutAt = (payment_provider: string) => ({
  payment_provider,
  success_url: 'https://shop.example/thanks',
});
