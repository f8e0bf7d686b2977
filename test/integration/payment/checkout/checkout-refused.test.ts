import { expect, test } from 'vitest';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import { testPlatform } from '../../../support/billing.ts';
import { rowCounts } from '../../api/bad-input.fixture.ts';
import { type Body, checkout, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const { api, base, gateway } = await testPlatform();

const drafted =
  /^public\.(checkout_session|invoice|payment|refund|subscription|wallet|wallet_transaction|outbox_event) /;

/** Rows that a checkout would write; open sessions of other tests are asked about meanwhile, which is noted elsewhere. */
async function draftedRows(): Promise<string[]> {
  return (await rowCounts(base)).split('\n').filter((line) => drafted.test(line));
}

type Answer = { status: number; body: Body };

async function refused(asked: () => Promise<Answer>, status: number, code: string, ...words: string[]): Promise<void> {
  const before = await draftedRows();
  const answer = await asked();
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([status, code]);
  for (const word of words) expect(answer.body.message).toContain(word);
  expect(await draftedRows()).toEqual(before);
}

const topUp = (walletId: string, more: object = {}, headers: Record<string, string> = {}) =>
  api<Body>(
    'POST',
    `/wallets/${walletId}/top-up`,
    { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '40', checkout, ...more },
    headers,
  );

test('a session of another tenant is as one that does not exist', async () => {
  const { body } = await api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id));
  const session = body.checkout_session;
  const foreigner = { 'x-api-key': (await createSandbox(base.database, { tenantName: 'Other' })).apiKey };
  const path = `/checkout/sessions/${session.id}`;
  await refused(() => api<Body>('GET', path, undefined, foreigner), 404, 'not_found', session.id);
  await refused(() => api<Body>('POST', `${path}/cancel`, undefined, foreigner), 404, 'not_found', session.id);
  await refused(() => api<Body>('DELETE', path, undefined, foreigner), 404, 'not_found', session.id);
  const { body: page } = await api<Body>('GET', `/checkout/sessions?invoice_id=${body.id}`, undefined, foreigner);
  expect(page.items).toEqual([]);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending' });
});

test('finding B17: a completed session cannot be cancelled, and a customer with an open one is not archived', async () => {
  const customer = await customerOf(api);
  const { body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
  const { id } = body.checkout_session;
  await refused(() => api<Body>('DELETE', `/customers/${customer.id}`), 400, 'invalid_operation', id);
  await payAtSandbox(gateway, body.checkout_session);
  await readSession(api, id);
  await refused(() => api<Body>('POST', `/checkout/sessions/${id}/cancel`), 400, 'invalid_operation', 'completed');
  expect((await api('DELETE', `/customers/${customer.id}`)).status).toBe(204);
});

test.each([
  ['relative', '/thanks'],
  ['without a host', 'https:'],
  ['javascript:', 'javascript:alert(1)'],
  ['data:', 'data:text/html,x'],
  ['foreign http', 'http://shop.example/'],
  ['with a password', 'https://a:b@shop.example/'],
])('an address of return that is %s is refused wherever a checkout is taken', async (_what, url) => {
  const { id } = await customerOf(api);
  const wallet = await walletOf(api, id);
  for (const field of ['success_url', 'failure_url', 'cancel_url']) {
    const bad = { checkout: { ...checkout, [field]: url } };
    await refused(() => api<Body>('POST', '/invoices', invoiceOf(id, '25', bad)), 400, 'validation_error', field);
    await refused(() => topUp(wallet.id, bad), 400, 'validation_error', field);
  }
});

test('an invoice of nothing, or that credits pay whole, opens no page', async () => {
  const { id } = await customerOf(api);
  await refused(() => api<Body>('POST', '/invoices', invoiceOf(id, '0')), 400, 'validation_error');
  const late = { invoice_number: 'INV-MINE' };
  await refused(
    () => api<Body>('POST', '/invoices', invoiceOf(id, '25', late)),
    400,
    'validation_error',
    'invoice_number',
  );
  for (const [field, value] of [
    ['amount_paid', '5'],
    ['invoice_pdf_url', 'https://shop.example/1.pdf'],
  ] as const) {
    const body = invoiceOf(id, '25', { [field]: value });
    await refused(() => api<Body>('POST', '/invoices', body), 400, 'validation_error', field);
  }
  await refused(() => api<Body>('POST', '/invoices', invoiceOf('cust_unknown')), 404, 'not_found', 'cust_unknown');
  // Credits of the customer pay all of it: there is nothing to collect, and none of them is taken.
  const wallet = await walletOf(api, id, { initial_credits_to_load: '40' });
  const line_items = [{ display_name: 'Calls', quantity: '1', amount: '25', price_type: 'USAGE' }];
  const covered = invoiceOf(id, '25', { line_items });
  await refused(() => api<Body>('POST', '/invoices', covered), 400, 'validation_error');
  expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('40');
});

test('finding B25: a payer without a telephone number cannot be asked by UPI', async () => {
  const { id } = await customerOf(api);
  const upi = { checkout: { ...checkout, payment_provider_config: { payment_method: 'UPI' } } };
  await refused(() => api<Body>('POST', '/invoices', invoiceOf(id, '25', upi)), 400, 'validation_error', 'contact');
});

test('credits are bought on a page with their own reason and by an open wallet alone', async () => {
  const wallet = await walletOf(api, (await customerOf(api)).id);
  const free = { transaction_reason: 'FREE_CREDIT_GRANT' };
  await refused(() => topUp(wallet.id, free), 400, 'validation_error', 'checkout');
  await refused(() => topUp(wallet.id, { credits_to_add: '0' }), 400, 'validation_error', 'credits_to_add');
  await refused(
    () => topUp(wallet.id, { checkout: { ...checkout, payment_provider: 'nobody' } }),
    400,
    'invalid_operation',
  );
  await refused(() => topUp('wallet_unknown'), 404, 'not_found');
  await api('PUT', `/wallets/${wallet.id}`, { wallet_status: 'frozen' });
  await refused(() => topUp(wallet.id), 400, 'invalid_operation', 'frozen');
});

test('a repeated top-up with the same header is answered like the first, and buys once', async () => {
  const wallet = await walletOf(api, (await customerOf(api)).id);
  const headers = { 'idempotency-key': `top-up-${wallet.id}` };
  const first = await topUp(wallet.id, {}, headers);
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  const again = await topUp(wallet.id, {}, headers);
  expect(again).toMatchObject({
    status: 200,
    body: {
      invoice_id: first.body.invoice_id,
      wallet_transaction: { id: first.body.wallet_transaction.id },
      checkout_session: {
        id: first.body.checkout_session.id,
        payment_action: first.body.checkout_session.payment_action,
      },
    },
  });
  await payAtSandbox(gateway, first.body.checkout_session);
  await readSession(api, first.body.checkout_session.id);
  expect((await topUp(wallet.id, {}, headers)).status).toBe(200);
  expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('40');
});

test('finding B17: a wallet frozen while its page is open: the money completes the purchase', async () => {
  const wallet = await walletOf(api, (await customerOf(api)).id);
  const { body } = await topUp(wallet.id);
  await api('PUT', `/wallets/${wallet.id}`, { wallet_status: 'frozen' });
  await payAtSandbox(gateway, body.checkout_session);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body).toMatchObject({
    credit_balance: '40',
    wallet_status: 'frozen',
  });
});
