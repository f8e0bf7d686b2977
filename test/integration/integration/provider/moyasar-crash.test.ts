import { afterAll, expect, test } from 'vitest';
import { inTransaction } from '../../../../db/transaction.ts';
import { startMoyasarFake } from '../../../../dev/provider-fakes/moyasar/server.ts';
import { addToken, verifyCard } from '../../../../dev/provider-fakes/moyasar/token.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { savePaymentMethod } from '../../../../services/payment/payment-method.ts';
import { testApp } from '../../../support/app.ts';
import { created } from '../../../support/billing.ts';
import { crashingWorkers } from '../../../support/crashing-worker.ts';
import { testDatabase } from '../../../support/database.ts';
import { testTemporal } from '../../../support/temporal.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { invoiceToPay } from '../../payment/payment.fixture.ts';

const fake = await startMoyasarFake();
// The invoice is written by hand, without its document.
const base = await testDatabase({ breaks: ['I19'], fakes: { moyasar: fake } });
const temporal = await testTemporal();
const { api } = await testApp(base, temporal, { providers: providerAdapters({ moyasar: fake.url }) });
const { startWorker, dieAt } = crashingWorkers(base, temporal, { MOYASAR_API_URL: fake.url });
afterAll(() => fake.close());

const secretKey = 'sk_test_crash';
const books = fake.booksOf(secretKey);
await created(api, '/connections', {
  ...{ name: 'Moyasar', provider_type: 'moyasar' },
  encrypted_secret_data: { secret_key: secretKey },
});
const { customerId, invoiceId } = await invoiceToPay(base, { amountDue: '12.5' });
const { id: gatewayToken } = addToken(
  books,
  { behaviour: 'succeeds', count: 0 },
  {
    ...{ name: 'Payer', month: '12', year: '2035', lastFour: '0001' },
    ...{ callbackUrl: 'http://127.0.0.1/', pageUrl: '', metadata: null },
  },
);
verifyCard(books, gatewayToken, 'confirm');
await inTransaction(base.database, base.scope, (tx) =>
  savePaymentMethod(tx, {
    ...{ customerId, gateway: 'moyasar', gatewayToken, customerToken: null, brand: 'visa', lastFour: '0001' },
    ...{ setDefault: true, metadata: {} },
  }),
);

// The answer may come long after its caller has given up.
const charge = {
  ...{ destination_type: 'INVOICE', destination_id: invoiceId, payment_method_type: 'CARD' },
  ...{ amount: '12.5', currency: 'usd' },
};
void api('POST', '/payments', charge).catch(() => undefined);

// Before anything was sent, when the money is taken and nobody knows, and when that is nearly written down.
test.each(['chargePayment.beforeEffect', 'chargePayment.afterEffect', 'recordPayment.beforeCommit'])(
  'a worker is killed at %s of a charge at Moyasar',
  async (point) => {
    await dieAt(point);
    expect(books.captures()).toHaveLength(point === 'chargePayment.beforeEffect' ? 0 : 1);
  },
);

test('its successor records the one charge that was made', async () => {
  await startWorker();
  const payments = async () => (await api<Body>('GET', `/payments?destination_id=${invoiceId}`)).body.items;
  await expect.poll(payments, { timeout: 40_000 }).toMatchObject([{ payment_status: 'SUCCEEDED', amount: '12.5' }]);
  const [{ gateway_payment_id }] = await payments();
  expect([...books.payments.values()]).toMatchObject([{ id: gateway_payment_id, status: 'paid', amount: 1250 }]);
  expect((await api<Body>('GET', `/invoices/${invoiceId}`)).body).toMatchObject({
    payment_status: 'SUCCEEDED',
    amount_paid: '12.5',
  });
});
