import { expect, test } from 'vitest';
import { monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { checkout, customerOf, invoiceOf, payAtSandbox, walletOf } from '../payment/checkout/checkout.fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;
type Method = 'GET' | 'POST' | 'PUT';

const { api, gateway } = await testPlatform();
const page = { payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' };

/** A customer with a portal session of its own. */
async function visitor() {
  const customer = await customerOf(api);
  const { token } = (await api<Wire>('GET', `/customers/portal/${customer.external_id}`)).body;
  const credentials = { 'x-api-key': '', 'x-session-token': token };
  const portal = (method: Method, path: string, body?: unknown) =>
    api<Wire>(method, `/customer/portal${path}`, body, credentials);
  return { customer, portal };
}
const saveCard = (customerId: string, card_number = '4000000000000002') =>
  api<Wire>('POST', `/customers/${customerId}/payment-methods`, { gateway: 'sandbox', card_number });
async function invoiceFor(customerId: string, amount = '25'): Promise<Wire> {
  const { checkout: _none, ...body } = invoiceOf(customerId, amount);
  return (await api<Wire>('POST', '/invoices', body)).body;
}

test('a customer reads its wallets and their ledger, and nobody else’s', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id, { initial_credits_to_load: '40' });
  const listed = await portal('POST', '/wallets');
  expect(listed.body).toMatchObject([{ id: wallet.id, credit_balance: '40', real_time_balance: '40' }]);
  expect((await portal('GET', `/wallets/${wallet.id}`)).body).toMatchObject({ id: wallet.id, credit_balance: '40' });
  const ledger = await portal('GET', `/wallets/${wallet.id}/transactions?page=1&limit=5`);
  expect(ledger.body.items).toMatchObject([{ wallet_id: wallet.id, credit_amount: '40' }]);
  for (const query of ['page=0', 'page=1&offset=0', 'limit=101', 'expand=created_by_user']) {
    expect((await portal('GET', `/wallets/${wallet.id}/transactions?${query}`)).status, query).toBe(400);
  }
  expect((await portal('GET', `/wallets/${wallet.id}/transactions?type=debit`)).body.items).toEqual([]);
  const foreign = await walletOf(api, (await customerOf(api)).id);
  for (const path of [`/wallets/${foreign.id}`, `/wallets/${foreign.id}/transactions`]) {
    expect(await portal('GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
  const topup = { credits_to_add: '5', checkout: page };
  expect((await portal('POST', `/wallets/${foreign.id}/top-up`, topup)).status).toBe(404);
  expect((await portal('PUT', `/wallets/${foreign.id}/auto-topup`, { enabled: false })).status).toBe(404);
});

test('a customer buys credits on a page, and asking again leads to the same page', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id);
  const buy = (more: object = {}) =>
    portal('POST', `/wallets/${wallet.id}/top-up`, { credits_to_add: '25', checkout: { ...page, ...more } });
  const { status, body } = await buy();
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    wallet_transaction: { transaction_status: 'pending' },
    checkout_session: { action: 'wallet_topup', customer_id: customer.id, payment_action: { type: 'checkout_url' } },
  });
  const again = (await buy()).body;
  expect(again.checkout_session.id).toBe(body.checkout_session.id);
  expect(again.wallet_transaction.id).toBe(body.wallet_transaction.id);
  await payAtSandbox(gateway, body.checkout_session);
  const read = await portal('GET', `/checkout-sessions/${body.checkout_session.id}`);
  expect(read.body).toMatchObject({ checkout_status: 'completed', terminal: true });
  expect((await portal('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('25');
});

test('finding 24: a customer buys so many credits, or credits for so much money, and has to say one of the two', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id, { conversion_rate: '0.5', topup_conversion_rate: '0.5' });
  const buy = (what: object) => portal('POST', `/wallets/${wallet.id}/top-up`, { ...what, checkout: page });
  for (const wrong of [{}, { amount: '0' }, { amount: '-1' }, { credits_to_add: '0' }]) {
    expect(await buy(wrong), JSON.stringify(wrong)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  }
  const { status, body } = await buy({ amount: '12.5' });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.wallet_transaction).toMatchObject({ credit_amount: '25', transaction_status: 'pending' });
  await payAtSandbox(gateway, body.checkout_session);
  const session = await portal('GET', `/checkout-sessions/${body.checkout_session.id}`);
  expect(session.body).toMatchObject({ checkout_status: 'completed' });
  expect((await portal('GET', `/wallets/${wallet.id}`)).body).toMatchObject({ credit_balance: '25', balance: '12.5' });
});

test('decision 37: the page may be asked for beside the amount, at the only provider there is', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id);
  const buy = (body: object) => portal('POST', `/wallets/${wallet.id}/top-up`, { amount: '25', ...body });
  const urls = { success_url: 'https://shop.example/thanks', cancel_url: 'https://shop.example/back' };
  const twice = await buy({ ...urls, checkout: page });
  expect(twice).toMatchObject({ status: 400, body: { message: expect.stringContaining('success_url') } });
  expect((await buy({ success_url: 'javascript:alert(1)' })).status).toBe(400);
  const { status, body } = await buy(urls);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.checkout_session).toMatchObject({ ...urls, payment_provider: 'sandbox', checkout_status: 'pending' });
  await payAtSandbox(gateway, body.checkout_session);
  const session = await portal('GET', `/checkout-sessions/${body.checkout_session.id}`);
  expect(session.body).toMatchObject({ checkout_status: 'completed' });
  expect((await portal('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('25');
  await saveCard(customer.id);
  const charged = await buy({ customer_not_present: true });
  expect(charged, JSON.stringify(charged.body)).toMatchObject({ status: 200, body: { checkout_session: null } });
  await expect
    .poll(async () => (await portal('GET', `/wallets/${wallet.id}`)).body.credit_balance, { timeout: 20_000 })
    .toBe('50');
});

test('a customer who asks for no page buys with an invoice: no saved card is charged, and nothing is given for trust', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id);
  await saveCard(customer.id);
  await api('PUT', '/settings/invoice_config', { value: { auto_complete_purchased_credit_transaction: true } });
  const { status, body } = await portal('POST', `/wallets/${wallet.id}/top-up`, { credits_to_add: '25' });
  await api('DELETE', '/settings/invoice_config');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ wallet_transaction: { transaction_status: 'pending' }, checkout_session: null });
  const invoice = (await portal('GET', `/invoices/${body.invoice_id}`)).body;
  expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', amount_remaining: '25' });
  expect((await api<Wire>('GET', `/payments?destination_id=${body.invoice_id}`)).body.items).toEqual([]);
  const paid = await portal('POST', `/invoices/${body.invoice_id}/pay`, { ...page, customer_not_present: true });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  await expect
    .poll(async () => (await portal('GET', `/wallets/${wallet.id}`)).body.credit_balance, { timeout: 20_000 })
    .toBe('25');
});

test('a customer who is not present pays with the saved card, and on a page while there is none', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id);
  const buy = (flag: object) =>
    portal('POST', `/wallets/${wallet.id}/top-up`, { credits_to_add: '25', checkout: { ...page, ...flag } });
  const first = (await buy({ customer_not_present: true })).body;
  expect(first.checkout_session.payment_action.url).toContain('/checkout/');
  expect((await portal('POST', `/checkout-sessions/${first.checkout_session.id}/cancel`)).status).toBe(200);
  await saveCard(customer.id);
  const second = await buy({ use_saved_method: true });
  expect(second, JSON.stringify(second.body)).toMatchObject({ status: 200, body: { checkout_session: null } });
  await expect
    .poll(async () => (await portal('GET', `/wallets/${wallet.id}`)).body.credit_balance, { timeout: 20_000 })
    .toBe('25');
});

test.each([
  ['customer_not_present', { customer_present: true }],
  ['use_saved_method', { customer_not_present: true, use_saved_method: false }],
  ['success_url', { success_url: 'javascript:alert(1)' }],
  ['payment_provider', { payment_provider: 'nobody' }],
])('a top-up is refused by %s: %j', async (word, more) => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id);
  const body = { credits_to_add: '25', checkout: { ...page, ...more } };
  const answer = await portal('POST', `/wallets/${wallet.id}/top-up`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  expect(answer.body.message).toContain(word);
  expect((await portal('GET', `/wallets/${wallet.id}/transactions`)).body.items).toEqual([]);
});

test('automatic top-ups need a saved card, and are switched on and off by the customer', async () => {
  const { customer, portal } = await visitor();
  const wallet = await walletOf(api, customer.id, { initial_credits_to_load: '40' });
  const terms = { enabled: true, threshold: '10', amount: '50' };
  const put = (body: object) => portal('PUT', `/wallets/${wallet.id}/auto-topup`, body);
  expect(await put(terms)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  await saveCard(customer.id);
  const on = await put(terms);
  expect(on, JSON.stringify(on.body)).toMatchObject({
    status: 200,
    body: { auto_topup: { enabled: true, threshold: 10, amount: 50, collection: 'charge' } },
  });
  expect((await put({ enabled: false })).body.auto_topup.enabled).toBe(false);
});

test('an invoice is paid on a page or with the saved card, and a page that is open is shown again', async () => {
  const { customer, portal } = await visitor();
  const invoice = await invoiceFor(customer.id);
  const pay = (id: string, more: object = {}) => portal('POST', `/invoices/${id}/pay`, { ...page, ...more });
  const opened = await pay(invoice.id);
  expect(opened, JSON.stringify(opened.body)).toMatchObject({
    status: 200,
    body: { invoice_id: invoice.id, status: 'PENDING', amount: '25', currency: 'usd' },
  });
  expect(opened.body.payment_action.url).toContain('/checkout/');
  expect((await pay(invoice.id)).body).toEqual(opened.body);
  await gateway.payer!.payLink(`${opened.body.payment_id}:1`, { cardNumber: '4000000000000002' });
  expect((await api<Wire>('GET', `/payments/${opened.body.payment_id}`)).body.payment_status).toBe('SUCCEEDED');
  expect((await portal('GET', `/invoices/${invoice.id}`)).body.payment_status).toBe('SUCCEEDED');
  expect((await pay(invoice.id)).body.code).toBe('invalid_operation');

  // Made before there is a card, so that it is not charged by itself.
  const second = await invoiceFor(customer.id, '35');
  await saveCard(customer.id);
  const charged = await pay(second.id, { customer_not_present: true });
  expect(charged, JSON.stringify(charged.body)).toMatchObject({
    status: 200,
    body: { invoice_id: second.id, status: 'SUCCEEDED', amount: '35', payment_action: null },
  });
  const foreign = await invoiceFor((await customerOf(api)).id);
  expect((await pay(foreign.id)).status).toBe(404);
});

test('portal-foreign-session: a session of another customer is not found, and not cancelled', async () => {
  const { portal } = await visitor();
  const other = await customerOf(api);
  const { body } = await api<Wire>('POST', '/invoices', { ...invoiceOf(other.id), checkout });
  const { id } = body.checkout_session;
  expect(await portal('GET', `/checkout-sessions/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await portal('POST', `/checkout-sessions/${id}/cancel`)).status).toBe(404);
  expect((await api<Wire>('GET', `/checkout/sessions/${id}`)).body.checkout_status).toBe('pending');
});

test('a customer saves a card on a page, makes it the default and forgets it', async () => {
  const { customer, portal } = await visitor();
  expect((await portal('GET', '/integrations')).body).toMatchObject({
    payment_integrations: [{ provider: 'sandbox', capabilities: [{ is_default: true }, { is_default: false }] }],
  });
  const { body } = await portal('POST', '/payment-methods', page);
  expect(body).toMatchObject({ provider: 'sandbox', action: { type: 'redirect' } });
  expect(body.action.url).toContain('/checkout/');
  const first = (await saveCard(customer.id)).body;
  const second = (await saveCard(customer.id)).body;
  const named = (id: string) => ({ payment_provider: 'sandbox', payment_method_id: id });
  expect((await portal('POST', '/payment-methods/default', named(second.id))).status).toBe(200);
  const [{ items }] = (await portal('GET', '/payment-methods')).body.providers;
  expect(items.find((one: Wire) => one.id === second.id)).toMatchObject({ is_default: true, can_auto_charge: true });
  expect((await portal('POST', '/payment-methods/delete', named(first.id))).status).toBe(200);
  expect((await portal('POST', '/payment-methods/delete', named(first.id))).status).toBe(404);
  const foreign = (await saveCard((await customerOf(api)).id)).body;
  expect((await portal('POST', '/payment-methods/default', named(foreign.id))).status).toBe(404);
});

test('finding B6: the default card of a subscription that is charged automatically is not deleted, on either path', async () => {
  const { customer, portal } = await visitor();
  const [card, other] = [(await saveCard(customer.id)).body, (await saveCard(customer.id)).body];
  const { planId } = await monthlyPlan(api);
  await subscribe(api, { customer_id: customer.id, plan_id: planId, collection_method: 'charge_automatically' });
  const ways = (id: string) => [
    () => api<Wire>('DELETE', `/customers/${customer.id}/payment-methods/${id}`),
    () => portal('POST', '/payment-methods/delete', { payment_provider: 'sandbox', payment_method_id: id }),
  ];
  for (const forget of ways(card.id)) {
    expect(await forget()).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('make another one the default first') },
    });
  }
  const named = { payment_provider: 'sandbox', payment_method_id: other.id };
  expect((await portal('POST', '/payment-methods/default', named)).status).toBe(200);
  for (const forget of ways(card.id)) expect([200, 204, 404]).toContain((await forget()).status);
  expect((await api<Wire>('GET', `/customers/${customer.id}/payment-methods`)).body.items).toMatchObject([
    { id: other.id, is_default: true },
  ]);
});
