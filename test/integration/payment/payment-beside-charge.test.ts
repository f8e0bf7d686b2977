import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { invoiceToPay, paymentPlatform } from './payment.fixture.ts';

const { api, base, gateway } = await paymentPlatform();

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const payBody = (invoiceId: string, fields: object = {}) => ({
  destination_type: 'INVOICE',
  destination_id: invoiceId,
  payment_method_type: 'CARD',
  amount: '100',
  currency: 'usd',
  ...fields,
});

test('an invoice is not charged while another charge of it has no answer, and is once that was given up', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'requires_action' });
  const pay = (fields: object = {}) => api<Wire>('POST', '/payments', payBody(invoiceId, fields));
  const { body: first } = await pay();
  expect(first.payment_status).toBe('PROCESSING');
  const second = await pay({ amount: '40' });
  expect(second).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(second.body.message).toContain(first.id);
  expect((await pay()).body.id).toBe(first.id);
  const { body: listed } = await api<Wire>('GET', `/payments?destination_id=${invoiceId}`);
  expect(listed.items).toHaveLength(1);
  expect((await api('POST', `/payments/${first.id}/cancel`)).status).toBe(200);
  expect((await pay({ amount: '40' })).body).toMatchObject({ payment_status: 'PROCESSING', amount: '40' });
});

test('money received elsewhere is recorded although a charge has no answer', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'never_answers' });
  await api('POST', '/payments', payBody(invoiceId));
  const cash = await api<Wire>(
    'POST',
    '/payments',
    payBody(invoiceId, { payment_method_type: 'OFFLINE', amount: '30' }),
  );
  expect(cash).toMatchObject({ status: 201, body: { payment_status: 'SUCCEEDED' } });
});

test('a payment that waits to be processed stays so while another charge of its invoice has no answer', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'requires_action' });
  const waiting = await api<Wire>('POST', '/payments', payBody(invoiceId, { amount: '40', process_payment: false }));
  expect(waiting.body.payment_status).toBe('INITIATED');
  await api('PUT', `/payments/${waiting.body.id}`, { payment_status: 'PENDING' });
  const { body: other } = await api<Wire>('POST', '/payments', payBody(invoiceId));
  const processed = await api<Wire>('POST', `/payments/${waiting.body.id}/process`);
  expect(processed).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(processed.body.message).toContain(other.id);
  expect((await api<Wire>('GET', `/payments/${waiting.body.id}`)).body.payment_status).toBe('PENDING');
  await api('POST', `/payments/${other.id}/cancel`);
  expect((await api<Wire>('POST', `/payments/${waiting.body.id}/process`)).status).toBe(200);
});

test('a person cannot pay by card while the automatic charge of the same invoice is under way', async () => {
  const platform = await testPlatform();
  const plan = await monthlyPlan(platform.api);
  const { customerId } = await clockedCustomer(platform.api, {
    frozenTime: '2026-04-01T00:00:00Z',
    card: sandboxCardNumber('requires_action'),
  });
  const { id } = await subscribe(platform.api, { customer_id: customerId, plan_id: plan.planId });
  const [invoice] = (await platform.api<Wire>('GET', `/invoices?subscription_id=${id}`)).body.items;
  const automatic = async () =>
    (await platform.api<Wire>('GET', `/payments?destination_id=${invoice.id}`)).body.items as Wire[];
  await expect.poll(automatic, { timeout: 20_000 }).toMatchObject([{ payment_status: 'PROCESSING' }]);
  const answer = await platform.api<Wire>('POST', '/payments', payBody(invoice.id, { amount: '30' }));
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const [{ id: charging }] = await automatic();
  // The payment is there before the charge has come to its gateway, where the payer can confirm it.
  await expect
    .poll(async () => (await platform.api('POST', `/payments/${charging}/payer`, { action: 'confirm' })).status, {
      timeout: 20_000,
    })
    .toBe(200);
  // Reading a payment asks its gateway, once its workflow has taken it over from the subscription's.
  await expect
    .poll(async () => (await platform.api<Wire>('GET', `/payments/${charging}`)).body.payment_status, {
      timeout: 20_000,
    })
    .toBe('SUCCEEDED');
  const { body: paid } = await platform.api<Wire>('GET', `/invoices/${invoice.id}`);
  expect(paid).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30', overpaid_amount: '0' });
});
