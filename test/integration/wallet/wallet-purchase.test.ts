import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, testPlatform } from '../../support/billing.ts';
import { customerOf, walletOf } from '../payment/checkout/checkout.fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const { api } = await testPlatform();
const purchase = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '25', bonus_credits_to_add: '5' };
const creditsOf = async (id: string): Promise<string> => (await api<Wire>('GET', `/wallets/${id}`)).body.credit_balance;
const paymentsOf = async (invoiceId: string): Promise<string[]> =>
  (await api<Wire>('GET', `/payments?destination_id=${invoiceId}`)).body.items.map((one: Wire) => one.payment_status);

test('credits bought with an invoice are charged to the saved card at once, and come with the money', async () => {
  const customer = await customerOf(api);
  const wallet = await walletOf(api, customer.id);
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds') };
  await api('POST', `/customers/${customer.id}/payment-methods`, card);
  const { status, body } = await api<Wire>('POST', `/wallets/${wallet.id}/top-up`, purchase);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.wallet_transaction.transaction_status).toBe('pending');
  await expect.poll(() => creditsOf(wallet.id), { timeout: 20_000 }).toBe('30');
  expect(await paymentsOf(body.invoice_id)).toEqual(['SUCCEEDED']);
});

test('a declined purchase brings no credits, and is charged again by the rules of invoices', async () => {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-04-01T00:00:00Z',
    card: sandboxCardNumber('declines_times', 1),
  });
  const wallet = await walletOf(api, customerId);
  const { body } = await api<Wire>('POST', `/wallets/${wallet.id}/top-up`, purchase);
  await expect.poll(() => paymentsOf(body.invoice_id), { timeout: 20_000 }).toEqual(['FAILED']);
  expect(await creditsOf(wallet.id)).toBe('0');
  await advanceTo(api, clockId, '2026-04-02T12:00:00Z');
  expect(await creditsOf(wallet.id)).toBe('30');
  expect((await paymentsOf(body.invoice_id)).sort()).toEqual(['FAILED', 'SUCCEEDED']);
});

test('without a saved card the invoice of a purchase waits for its payer', async () => {
  const customer = await customerOf(api);
  const wallet = await walletOf(api, customer.id);
  const { body } = await api<Wire>('POST', `/wallets/${wallet.id}/top-up`, purchase);
  expect(await paymentsOf(body.invoice_id)).toEqual([]);
  const paid = await api<Wire>('PUT', `/invoices/${body.invoice_id}/payment`, {
    payment_status: 'SUCCEEDED',
    amount: '25',
  });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  expect(await creditsOf(wallet.id)).toBe('30');
});
