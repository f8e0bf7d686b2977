import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { startProcessing } from '../../../services/payment/payment-request.ts';
import { clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api, base, gateway } = await testPlatform();
const { planId } = await monthlyPlan(api);
const start = '2026-01-15T00:00:00Z';

const read = async (path: string) => (await api<Wire>('GET', path)).body;
const paymentsOf = async (invoiceId: string) =>
  (await read(`/payments?destination_id=${invoiceId}&sort=created_at&order=asc`)).items;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).balance;

/** A customer with a postpaid wallet and a card, where they are asked for. */
async function payer(options: { credits: string; card?: SandboxBehaviour; allowed?: string[] }) {
  const card = options.card ? { card: sandboxCardNumber(options.card) } : {};
  const customer = await clockedCustomer(api, { frozenTime: start, ...card });
  const { id: walletId } = await created(api, '/wallets', {
    customer_id: customer.customerId,
    currency: 'usd',
    wallet_type: 'POST_PAID',
    initial_credits_to_load: options.credits,
  });
  if (options.allowed) await api('PUT', `/wallets/${walletId}`, { config: { allowed_price_types: options.allowed } });
  return { ...customer, walletId };
}

/** Subscribes to 30 a month in advance. */
async function subscribe(customerId: string, fields: Wire = {}) {
  const answer = await api<Wire>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: planId,
    start_date: start,
    billing_period: 'MONTHLY',
    billing_cycle: 'anniversary',
    currency: 'usd',
    ...fields,
  });
  return answer;
}

/** The opening invoice, once it is settled as `expected`, and what was paid of it. */
async function opening(customerId: string, expected: Wire) {
  const first = async () => (await read(`/invoices?customer_id=${customerId}`)).items[0];
  await expect.poll(first, { timeout: 20_000 }).toMatchObject(expected);
  const invoice = await first();
  const payments = (await paymentsOf(invoice.id)).map((payment: Wire) => [
    payment.payment_method_type,
    payment.amount,
    payment.payment_status,
  ]);
  return { invoice, payments: payments.sort() };
}

test('a card pays what the wallet cannot, then the wallet pays its part', async () => {
  const { customerId, walletId } = await payer({ credits: '20', card: 'succeeds' });
  expect((await subscribe(customerId)).status).toBe(201);
  const { payments, invoice } = await opening(customerId, { payment_status: 'SUCCEEDED', amount_remaining: '0' });
  expect(payments).toEqual([
    ['CARD', '10', 'SUCCEEDED'],
    ['CREDITS', '20', 'SUCCEEDED'],
  ]);
  expect(await balanceOf(walletId)).toBe('0');
  const { items } = await read(`/wallets/${walletId}/transactions?type=debit`);
  const credits = (await paymentsOf(invoice.id)).find((payment: Wire) => payment.payment_method_type === 'CREDITS');
  expect(items).toMatchObject([
    { transaction_reason: 'INVOICE_PAYMENT', reference_type: 'PAYMENT', reference_id: credits.id, amount: '20' },
  ]);
  expect(credits).toMatchObject({ payment_method_id: walletId, payment_gateway: null, attempts: [] });
});

test('a wallet that can pay everything pays at once, and no card is asked', async () => {
  const { customerId, walletId } = await payer({ credits: '50', card: 'declines' });
  const { body } = await subscribe(customerId, { payment_behavior: 'allow_incomplete' });
  await expect
    .poll(async () => (await read(`/subscriptions/${body.id}`)).subscription_status, { timeout: 20_000 })
    .toBe('active');
  const { payments } = await opening(customerId, { payment_status: 'SUCCEEDED', amount_paid: '30' });
  expect(payments).toEqual([['CREDITS', '30', 'SUCCEEDED']]);
  expect(await balanceOf(walletId)).toBe('20');
});

test('after a decline the wallet pays its part where a part may be paid', async () => {
  const { customerId, walletId } = await payer({ credits: '20', card: 'declines' });
  await subscribe(customerId, { payment_behavior: 'default_active' });
  const { payments } = await opening(customerId, {
    payment_status: 'PENDING',
    amount_paid: '20',
    amount_remaining: '10',
  });
  expect(payments).toEqual([
    ['CARD', '10', 'FAILED'],
    ['CREDITS', '20', 'SUCCEEDED'],
  ]);
  expect(await balanceOf(walletId)).toBe('0');
});

test('a subscription that is incomplete until it is paid takes nothing from the wallet after a decline', async () => {
  const { customerId, walletId } = await payer({ credits: '20', card: 'declines' });
  const { body } = await subscribe(customerId, { payment_behavior: 'allow_incomplete' });
  const declined = async () => (await opening(customerId, { amount_paid: '0' })).payments;
  await expect.poll(declined, { timeout: 20_000 }).toEqual([['CARD', '10', 'FAILED']]);
  expect(await balanceOf(walletId)).toBe('20');
  // More credits, and a person who collects: the wallet pays everything, and the subscription begins.
  const topup = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '10' };
  expect((await api('POST', `/wallets/${walletId}/top-up`, topup)).status).toBe(200);
  const { invoice } = await opening(customerId, {});
  expect((await api('POST', `/invoices/${invoice.id}/payment/attempt`)).status).toBe(200);
  expect((await opening(customerId, { payment_status: 'SUCCEEDED' })).payments).toContainEqual([
    'CREDITS',
    '30',
    'SUCCEEDED',
  ]);
  await expect
    .poll(async () => (await read(`/subscriptions/${body.id}`)).subscription_status, { timeout: 20_000 })
    .toBe('active');
});

test('a creation that must be paid is paid by both, or by neither', async () => {
  const good = await payer({ credits: '20', card: 'succeeds' });
  const made = await subscribe(good.customerId, { payment_behavior: 'error_if_incomplete' });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const { payments } = await opening(good.customerId, { payment_status: 'SUCCEEDED' });
  expect(payments.map(([type, amount]: string[]) => [type, amount])).toEqual([
    ['CARD', '10'],
    ['CREDITS', '20'],
  ]);
  const bad = await payer({ credits: '20', card: 'declines' });
  expect((await subscribe(bad.customerId, { payment_behavior: 'error_if_incomplete' })).status).toBe(400);
  expect(await balanceOf(bad.walletId)).toBe('20');
});

test('without a card the wallet pays what it can', async () => {
  const { customerId } = await payer({ credits: '12.345' });
  await subscribe(customerId);
  const { payments } = await opening(customerId, { amount_paid: '12.34', amount_remaining: '17.66' });
  expect(payments).toEqual([['CREDITS', '12.34', 'SUCCEEDED']]);
});

test('a wallet for usage does not pay a fee', async () => {
  const { customerId, walletId } = await payer({ credits: '50', card: 'succeeds', allowed: ['USAGE'] });
  await subscribe(customerId);
  const { payments } = await opening(customerId, { payment_status: 'SUCCEEDED' });
  expect(payments).toEqual([['CARD', '30', 'SUCCEEDED']]);
  expect(await balanceOf(walletId)).toBe('50');
});

/** An invoice of 30 that is sent to its payer, who has a postpaid wallet. */
async function sent(credits: string) {
  const owner = await payer({ credits });
  const { body: invoice } = await api<Wire>('POST', '/invoices', {
    customer_id: owner.customerId,
    currency: 'usd',
    subtotal: '30',
    total: '30',
    amount_due: '30',
    collection_method: 'send_invoice',
  });
  return { ...owner, invoiceId: invoice.id };
}
const pay = (invoiceId: string, amount: string, fields: Wire = {}) =>
  api<Wire>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CREDITS',
    amount,
    currency: 'usd',
    ...fields,
  });

test('a payment by hand is taken from the only postpaid wallet, or from the one that is named', async () => {
  const { invoiceId, walletId } = await sent('25');
  const first = await pay(invoiceId, '5');
  expect(first).toMatchObject({ status: 201, body: { payment_status: 'SUCCEEDED', payment_method_id: walletId } });
  const waiting = await pay(invoiceId, '20', { payment_method_id: walletId, process_payment: false });
  expect(waiting.body.payment_status).toBe('PENDING');
  const byHand = await api<Wire>('PUT', `/payments/${waiting.body.id}`, { payment_status: 'SUCCEEDED' });
  expect(byHand).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await api<Wire>('POST', `/payments/${waiting.body.id}/process`)).body.payment_status).toBe('SUCCEEDED');
  expect(await balanceOf(walletId)).toBe('0');
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ amount_paid: '25', payment_status: 'PENDING' });
});

test('what a wallet cannot pay is refused and takes nothing', async () => {
  const { invoiceId, walletId, customerId } = await sent('10');
  const prepaid = await created(api, '/wallets', {
    customer_id: customerId,
    currency: 'usd',
    initial_credits_to_load: '9',
  });
  const foreign = await payer({ credits: '50' });
  const cases: [string, Wire, number, string, string][] = [
    ['10.01', {}, 400, 'invalid_operation', 'insufficient balance'],
    ['30.01', {}, 400, 'invalid_operation', 'remain to be paid'],
    ['0.001', {}, 400, 'validation_error', 'decimals'],
    ['1', { payment_method_id: 'wallet_none' }, 404, 'not_found', 'wallet_none'],
    ['1', { payment_method_id: prepaid.id }, 400, 'invalid_operation', 'PRE_PAID'],
    ['1', { payment_method_id: foreign.walletId }, 400, 'invalid_operation', 'customer'],
  ];
  for (const [amount, fields, status, code, text] of cases) {
    const answer = await pay(invoiceId, amount, fields);
    expect([text, answer.status, answer.body.code]).toEqual([text, status, code]);
    expect(answer.body.message).toContain(text);
  }
  await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
  expect(await pay(invoiceId, '1', { payment_method_id: walletId })).toMatchObject({ status: 400 });
  expect(await pay(invoiceId, '1')).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(await paymentsOf(invoiceId)).toEqual([]);
  expect(await balanceOf(walletId)).toBe('10');
});

test('racing-debits: of two payments of the last credits one is paid, and the balance never falls below zero', async () => {
  const { invoiceId, walletId } = await sent('10');
  const key = { idempotency_key: 'one' };
  const [one, other] = await Promise.all([pay(invoiceId, '10', key), pay(invoiceId, '10', { idempotency_key: 'two' })]);
  const ended = [one, other].map(({ status, body }) => (status === 201 ? body.payment_status : body.code)).sort();
  expect(['FAILED', 'invalid_operation']).toContain(ended.find((end) => end !== 'SUCCEEDED'));
  expect(ended).toContain('SUCCEEDED');
  expect(await balanceOf(walletId)).toBe('0');
  expect((await read(`/invoices/${invoiceId}`)).amount_paid).toBe('10');
});

test('crash-debit-payment: a process that dies after the debit leaves nothing of it, and the repeated payment is taken once', async () => {
  const { invoiceId, walletId } = await sent('10');
  const { body: waiting } = await pay(invoiceId, '10', { process_payment: false });
  const death = new Error('the process dies');
  const dying = inSqlTransaction(base.database, base.scope, async (tx) => {
    await startProcessing(tx, { paymentId: waiting.id, at: start });
    const [wallet] = await tx.rows<Wire>('select credit_balance from wallet where id = $1', [walletId]);
    expect(Number(wallet.credit_balance)).toBe(0);
    throw death;
  });
  await expect(dying).rejects.toBe(death);
  expect(await balanceOf(walletId)).toBe('10');
  expect(await read(`/payments/${waiting.id}`)).toMatchObject({ payment_status: 'PENDING' });
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ amount_paid: '0' });
  const process = () => api<Wire>('POST', `/payments/${waiting.id}/process`);
  await Promise.all([process(), process()]);
  expect(await read(`/payments/${waiting.id}`)).toMatchObject({ payment_status: 'SUCCEEDED' });
  expect(await balanceOf(walletId)).toBe('0');
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ amount_paid: '10' });
});

test('finding 36: the invoice of a top-up is not paid from the wallet it tops up', async () => {
  const { walletId } = await payer({ credits: '200' });
  const topup = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '100' };
  const { invoice_id: invoiceId } = (await api<Wire>('POST', `/wallets/${walletId}/top-up`, topup)).body;
  const answer = await pay(invoiceId, '100');
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(answer.body.message).toContain('bills credits');
  await api('POST', `/invoices/${invoiceId}/payment/attempt`);
  expect(await paymentsOf(invoiceId)).toEqual([]);
  expect(await balanceOf(walletId)).toBe('200');
});

test('a payment from a wallet is given back into the prepaid wallet', async () => {
  const { invoiceId, customerId } = await sent('30');
  const paid = await pay(invoiceId, '30');
  const invoice = await read(`/invoices/${invoiceId}`);
  const note = await api<Wire>('POST', '/creditnotes', {
    invoice_id: invoiceId,
    reason: 'DUPLICATE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '12' }],
  });
  expect(note.status, JSON.stringify(note.body)).toBe(201);
  expect((await read(`/payments/${paid.body.id}`)).payment_status).toBe('PARTIALLY_REFUNDED');
  const wallets = await read(`/customers/${customerId}/wallets`);
  expect(wallets.map((wallet: Wire) => [wallet.wallet_type, wallet.balance])).toContainEqual(['PRE_PAID', '12']);
  expect(await gateway.operator.captures()).toEqual(expect.anything());
});
