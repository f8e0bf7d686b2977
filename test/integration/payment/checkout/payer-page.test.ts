import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { created, testPlatform } from '../../../support/billing.ts';
import { type Body, customerOf, invoiceOf, payAtSandbox, readSession } from './checkout.fixture.ts';

const { api, gateway } = await testPlatform({ pages: { signingKeys: [], url: 'http://localhost:80' } });

test('a worker without keys opens no page and says so; a person opens it, and it is paid', async () => {
  const { id: customerId } = await customerOf(api);
  const card_number = sandboxCardNumber('succeeds');
  await created(api, `/customers/${customerId}/payment-methods`, { card_number, max_amount: '24' });
  const { checkout: _none, ...body } = invoiceOf(customerId, '25', { collection_method: 'charge_automatically' });
  const { id } = await created<Body>(api, '/invoices', body);
  const payment = async (): Promise<Body> => (await api<Body>('GET', `/payments?destination_id=${id}`)).body.items[0];
  await expect
    .poll(payment, { timeout: 20_000 })
    .toMatchObject({ payment_status: 'INITIATED', error_message: expect.stringContaining('PORTAL_SIGNING_KEYS') });
  const opened = await api<Body>('POST', `/payments/${(await payment()).id}/process`);
  expect(opened).toMatchObject({ status: 200, body: { payment_status: 'PENDING', error_message: null } });
  const { items } = (await api<Body>('GET', `/checkout/sessions?invoice_id=${id}`)).body;
  await payAtSandbox(gateway, items[0]);
  expect(await readSession(api, items[0].id)).toMatchObject({ checkout_status: 'completed' });
  expect((await api<Body>('GET', `/invoices/${id}`)).body).toMatchObject({ payment_status: 'SUCCEEDED' });
});
