import { afterAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../../db/transaction.ts';
import { decide, newCustomer, newMethod } from '../../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { savePaymentMethod } from '../../../../services/payment/payment-method.ts';
import { testApp } from '../../../support/app.ts';
import { created } from '../../../support/billing.ts';
import { testDatabase } from '../../../support/database.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { invoiceToPay } from '../../payment/payment.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices are written by hand, without their documents.
const base = await testDatabase({ breaks: ['I19'], fakes: { stripe: fake } });
const temporal = await testTemporal();
const { api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

type Wire = Record<string, never> & { id: string };

const secretKey = 'sk_test_firstAccount';
const books = fake.booksOf(secretKey);
const connect = () =>
  created<Wire>(api, '/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key: secretKey, webhook_secret: 'whsec_1' },
  });
const connection = await connect();

/** A customer with an invoice of 12.5 usd and a card that Stripe keeps, as its page leaves it behind. */
async function payer(behaviour: SandboxBehaviour, count = 0) {
  const { customerId, invoiceId } = await invoiceToPay(base, { amountDue: '12.5' });
  const customerToken = newCustomer(books);
  const { id: gatewayToken, card } = newMethod(books, sandboxCardNumber(behaviour, count), customerToken);
  const method = await inTransaction(base.database, base.scope, (tx) =>
    savePaymentMethod(tx, {
      customerId,
      gateway: 'stripe',
      gatewayToken,
      customerToken,
      brand: card.brand,
      lastFour: card.last4,
      setDefault: true,
      metadata: {},
    }),
  );
  return { customerId, invoiceId, methodId: method.id };
}

const pay = ({ invoiceId }: { invoiceId: string }) =>
  api<Wire>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    amount: '12.5',
    currency: 'usd',
  });
const paymentOf = async (id: string) => (await api<Wire>('GET', `/payments/${id}`)).body;
const become = (id: string, status: string) =>
  expect.poll(() => paymentOf(id), { timeout: 20_000 }).toMatchObject({ payment_status: status });
const capturesOf = (wireToken: string) => books.captures().filter(({ token }) => token === wireToken);

/** Columns that are nobody's business outside. */
const rowOf = (id: string) =>
  inTransaction(base.database, base.scope, async (tx) => {
    const [row] = await tx.rows<{ connection_id: string; provider_object_id: string; gateway_payment_id: string }>(
      'select connection_id, provider_object_id, gateway_payment_id from payment where id = $1',
      [id],
    );
    return row!;
  });

describe('a saved card of Stripe', () => {
  test('pays an invoice through the connection of its environment, which the payment remembers', async () => {
    const owner = await payer('succeeds');
    const { status, body } = await pay(owner);
    expect(status, JSON.stringify(body)).toBe(201);
    await become(body.id, 'SUCCEEDED');
    const row = await rowOf(body.id);
    expect(row.connection_id).toBe(connection.id);
    expect(row.gateway_payment_id).toBe(row.provider_object_id);
    expect(books.intents.get(row.provider_object_id)).toMatchObject({
      status: 'succeeded',
      amount_received: 1250,
      metadata: { payment_id: body.id, invoice_id: owner.invoiceId },
    });
    expect((await api<Wire>('GET', `/invoices/${owner.invoiceId}`)).body).toMatchObject({
      payment_status: 'SUCCEEDED',
    });
  });

  test('a decline is told with its code, and nothing is captured', async () => {
    const { body } = await pay(await payer('declines_for_good'));
    await become(body.id, 'FAILED');
    expect(await paymentOf(body.id)).toMatchObject({ error_message: 'stolen_card' });
  });

  test('finding A2: an answer that is lost behind the capture is found by the stored id, and nothing is captured twice', async () => {
    const { body } = await pay(await payer('loses_answer'));
    await become(body.id, 'SUCCEEDED');
    const { provider_object_id: intent } = await rowOf(body.id);
    const token = String(books.intents.get(intent)?.metadata.perennial_token);
    expect(capturesOf(token)).toHaveLength(1);
  });

  test('a request that is lost before it arrives is sent again and captured once', async () => {
    fake.failNext('charge', 'unreachable');
    const { body } = await pay(await payer('succeeds'));
    await become(body.id, 'SUCCEEDED');
    const { provider_object_id: intent } = await rowOf(body.id);
    expect(capturesOf(String(books.intents.get(intent)?.metadata.perennial_token))).toHaveLength(1);
  });

  test('money goes back through the connection it came by', async () => {
    const { customerId, methodId } = await payer('succeeds');
    const { body } = await api<Wire>('POST', '/payments', {
      destination_type: 'CUSTOMER',
      destination_id: customerId,
      payment_method_type: 'CARD',
      payment_method_id: methodId,
      amount: '12.5',
      currency: 'usd',
    });
    await become(body.id, 'SUCCEEDED');
    const refund = await created<Wire>(api, `/payments/${body.id}/refund`, { amount: '5' });
    await expect
      .poll(async () => (await api<Wire>('GET', `/refunds/${refund.id}`)).body, { timeout: 20_000 })
      .toMatchObject({ refund_status: 'SUCCEEDED' });
    const { provider_object_id: intent } = await rowOf(body.id);
    const returned = [...books.refunds.values()].filter(({ payment_intent }) => payment_intent === intent);
    expect(returned).toMatchObject([{ amount: 500, currency: 'usd', metadata: { perennial_refund: refund.id } }]);
  });
});

describe('finding A1: a payment knows the account it was sent to', () => {
  test('a connection is not deleted, nor another asked, while a charge is undecided', async () => {
    const owner = await payer('never_answers');
    const { body } = await pay(owner);
    await become(body.id, 'PROCESSING');
    const refused = await api<Wire>('DELETE', `/connections/${connection.id}`);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'invalid_operation', details: { open: { payments: 1, refunds: 0 } } });

    const put = (secret_key: string, webhook_secret = 'whsec_1') =>
      api<Wire>('PUT', `/connections/${connection.id}`, {
        encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key, webhook_secret },
      });
    const other = await put('sk_test_secondAccount');
    expect(other.status).toBe(400);
    expect(other.body).toMatchObject({ message: expect.stringContaining('key of another account') });
    expect((await put(secretKey, 'whsec_2')).status).toBe(200);
    expect(await paymentOf(body.id)).toMatchObject({ payment_status: 'PROCESSING' });
    expect(fake.booksOf('sk_test_secondAccount').intents.size).toBe(0);

    const { provider_object_id: intent } = await rowOf(body.id);
    expect(decide(books, intent, 'capture')).toBe(true);
    await become(body.id, 'SUCCEEDED');
    expect((await api('DELETE', `/connections/${connection.id}`)).status).toBe(204);
  });

  test('a key that Stripe refuses is not kept, and an outage of Stripe keeps nothing either', async () => {
    const body = (secret_key: string) => ({
      name: 'Stripe',
      provider_type: 'stripe',
      encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key },
    });
    const refused = await api<Wire>('POST', '/connections', body('not-a-key'));
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      details: { fields: { 'encrypted_secret_data.secret_key': 'is refused by stripe' } },
    });
    fake.failNext('other', '500');
    expect((await api('POST', '/connections', body(secretKey))).status).toBe(503);
    expect((await api<Wire>('GET', '/connections')).body).toMatchObject({ connections: [] });
  });

  test('without a connection nothing is charged, and the answer names the provider', async () => {
    const { status, body } = await pay(await payer('succeeds'));
    expect(status).toBe(400);
    expect(body).toMatchObject({ message: expect.stringContaining('stripe is not connected') });
  });

  test('no key is in any history', async () => {
    let histories = 0;
    for await (const { workflowId, runId } of temporal.client.workflow.list()) {
      const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
      const texts = JSON.stringify(history, (_key, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      );
      histories += 1;
      expect(texts).toContain('workflowExecutionStarted');
      expect(texts).not.toMatch(/sk_test|whsec/);
    }
    expect(histories).toBeGreaterThan(0);
  });
});
