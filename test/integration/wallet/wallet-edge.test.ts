import { expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';
import { invoiceOf } from '../payment/checkout/checkout.fixture.ts';

// The edge cases of wallets-and-payments §4, each under its name there.

const platform = await testPlatform();
const { api } = platform;

const read = async (path: string) => (await api<Wire>('GET', path)).body;
const post = (path: string, body: Wire = {}) => api<Wire>('POST', path, body);
const topUp = (walletId: string, body: Wire) => post(`/wallets/${walletId}/top-up`, body);
const free = (credits_to_add: string, fields: Wire = {}) => ({
  transaction_reason: 'FREE_CREDIT_GRANT',
  credits_to_add,
  ...fields,
});
const bought = (credits_to_add: string, fields: Wire = {}) => ({
  transaction_reason: 'PURCHASED_CREDIT_INVOICED',
  credits_to_add,
  ...fields,
});
const debit = (walletId: string, credits: string, idempotency_key: string) =>
  post(`/wallets/${walletId}/debit`, { credits, transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key });
const ledgerOf = async (walletId: string): Promise<Wire[]> =>
  (await read(`/wallets/${walletId}/transactions?limit=1000&order=asc`)).items;
const modified = (walletId: string) =>
  post(`/wallets/${walletId}/modify`, { modification_type: 'prepaid_to_postpaid' });

async function walletOf(fields: Wire = {}, customerId?: string): Promise<string> {
  const customer_id = customerId ?? (await clockedCustomer(api, { frozenTime: '2026-03-01T00:00:00Z' })).customerId;
  return (await created(api, '/wallets', { customer_id, currency: 'usd', ...fields })).id;
}

test('race-debit-topup: debits and top-ups at once leave a chain without a gap, and every credit is counted', async () => {
  const walletId = await walletOf({ initial_credits_to_load: '100' });
  const moves = Array.from({ length: 30 }, (_, index) =>
    index % 2 === 0 ? debit(walletId, '3', `race-${index}`) : topUp(walletId, free('5')),
  );
  expect((await Promise.all(moves)).map(({ status }) => status)).toEqual(moves.map(() => 200));
  const entries = (await ledgerOf(walletId)).toSorted(
    (a, b) => a.credit_balance_after - b.credit_balance_after || a.credit_balance_before - b.credit_balance_before,
  );
  // Each entry begins where another ended, and each ends where another begins, but the first and the last.
  const begins = entries.map(({ credit_balance_before }) => credit_balance_before).toSorted();
  const ends = ['0', ...entries.map(({ credit_balance_after }) => credit_balance_after)].toSorted();
  ends.splice(ends.indexOf('130'), 1);
  expect(begins).toEqual(ends);
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '130' });
});

test('many-small-lots: a debit of 200 takes 200 lots of 1 in their order, and leaves the other 50', async () => {
  const walletId = await walletOf();
  for (let index = 0; index < 250; index += 50) {
    await Promise.all(Array.from({ length: 50 }, () => topUp(walletId, free('1'))));
  }
  const lots = await ledgerOf(walletId);
  expect((await debit(walletId, '200', 'many')).status).toBe(200);
  const [taken] = (await read(`/wallets/${walletId}/transactions?type=debit`)).items;
  const ids = taken.metadata.consumed_credit_tx_ids.split(',');
  expect(new Set(ids).size).toBe(200);
  const order = lots.toSorted((a, b) =>
    a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1,
  );
  expect(ids).toEqual(order.slice(0, 200).map(({ id }) => id));
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '50' });
});

test('topup-key-reuse: a purchase that failed gives its key free; one that did not keeps it', async () => {
  const walletId = await walletOf();
  const purchase = () => topUp(walletId, bought('50', { idempotency_key: 'again' }));
  const { body } = await purchase();
  expect((await purchase()).status).toBe(409);
  expect((await post(`/invoices/${body.invoice_id}/void`)).status).toBe(200);
  const second = await purchase();
  expect(second.status, JSON.stringify(second.body)).toBe(200);
  expect(second.body.invoice_id).not.toBe(body.invoice_id);
  expect((await purchase()).status).toBe(409);
});

test('convert-with-lots: lots become one without expiry, and what was bought is free from then on', async () => {
  const walletId = await walletOf();
  await topUp(walletId, { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '30' });
  await topUp(walletId, free('12', { expiry_date_utc: '2026-04-01T00:00:00Z', priority: 1 }));
  const { body } = await modified(walletId);
  const { id } = body.new_wallet;
  expect(await ledgerOf(id)).toMatchObject([{ credit_amount: '42', expiry_date: null, priority: null }]);
  expect(await read(`/wallets/${id}/balance/real-time?expand=credits_available_breakdown`)).toMatchObject({
    credits_available_breakdown: { free: '42', purchased: '0' },
  });
});

test('a wallet with a purchase that waits, or with a debt, does not become postpaid', async () => {
  const waiting = await walletOf();
  const { body } = await topUp(waiting, bought('50'));
  expect(await modified(waiting)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  await post(`/invoices/${body.invoice_id}/void`);
  expect((await modified(waiting)).status).toBe(200);
  const owing = await walletOf();
  await debit(owing, '5', 'debt');
  expect(await modified(owing)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(await read(`/wallets/${owing}`)).toMatchObject({ wallet_status: 'active', credit_balance: '-5' });
});

test('freeze-during-payment: a purchase that is paid while its wallet is frozen completes', async () => {
  const walletId = await walletOf();
  const { body } = await topUp(walletId, bought('50'));
  expect((await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' })).status).toBe(200);
  expect((await api('PUT', `/invoices/${body.invoice_id}/payment`, { payment_status: 'SUCCEEDED' })).status).toBe(200);
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ wallet_status: 'frozen', credit_balance: '50' });
  expect((await debit(walletId, '1', 'frozen')).status).toBe(400);
});

test('repeating-quotient: 10 at a rate of 3 buys 3.333333333 credits, which pay an invoice of 10.00', async () => {
  const customer = await billedCustomer(platform);
  const walletId = await walletOf({ conversion_rate: '3' }, customer.customerId);
  await topUp(walletId, { transaction_reason: 'PURCHASED_CREDIT_DIRECT', amount: '10' });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '3.333333333', balance: '9.999999999' });
  await countCalls(api, customer, 100, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, customer);
  expect((await post(`/invoices/${draft.id}/finalize`)).status).toBe(200);
  expect(await read(`/invoices/${draft.id}`)).toMatchObject({ total_prepaid_credits_applied: '10' });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '0', balance: '0' });
});

test('two-wallets-finalize: two invoices of one customer that are finalized together share its credits, once', async () => {
  const customer = await billedCustomer(platform);
  const { plan_id } = await read(`/subscriptions/${customer.subscriptionId}`);
  const second = { customer_id: customer.customerId, plan_id, currency: 'usd', billing_period: 'MONTHLY' };
  await created(api, '/subscriptions', second);
  const walletId = await walletOf({ initial_credits_to_load: '8' }, customer.customerId);
  await countCalls(api, customer, 55, '2026-02-10T00:00:00Z');
  await firstDraft(api, customer);
  const drafts = (await invoicesOf(api, customer.customerId)).filter(
    ({ invoice_status }) => invoice_status === 'DRAFT',
  );
  expect(drafts).toHaveLength(2);
  const done = await Promise.all(drafts.map(({ id }) => post(`/invoices/${id}/finalize`)));
  expect(done.map(({ status }) => status)).toEqual([200, 200]);
  const applied = await Promise.all(
    drafts.map(async ({ id }) => (await read(`/invoices/${id}`)).total_prepaid_credits_applied),
  );
  expect(applied.toSorted()).toEqual(['2.5', '5.5']);
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '0' });
});

test('rates-differ: credits cost by the one rate, are worth by the other, and a refund is worth what it refunds', async () => {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-03-01T00:00:00Z' });
  const walletId = await walletOf({ conversion_rate: '0.5', topup_conversion_rate: '0.8' }, customerId);
  const { body } = await topUp(walletId, bought('100'));
  expect(await read(`/invoices/${body.invoice_id}`)).toMatchObject({ total: '80' });
  await api('PUT', `/invoices/${body.invoice_id}/payment`, { payment_status: 'SUCCEEDED' });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '100', balance: '50' });
  const { checkout: _none, ...terms } = invoiceOf(customerId, '10');
  const { id } = await created(api, '/invoices', terms);
  await api('PUT', `/invoices/${id}/payment`, { payment_status: 'SUCCEEDED' });
  expect((await post(`/invoices/${id}/void`)).status).toBe(200);
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '120', balance: '60' });
});

test('dust-wallet: less than a cent pays nothing, stays, and pays with what is added later', async () => {
  const customer = await billedCustomer(platform);
  const walletId = await walletOf({ initial_credits_to_load: '0.004' }, customer.customerId);
  await countCalls(api, customer, 55, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, customer);
  expect((await post(`/invoices/${draft.id}/finalize`)).status).toBe(200);
  expect(await read(`/invoices/${draft.id}`)).toMatchObject({ total: '35.5', total_prepaid_credits_applied: '0' });
  expect(await ledgerOf(walletId)).toMatchObject([{ type: 'credit', credits_available: '0.004' }]);
  await topUp(walletId, free('5.499'));
  await countCalls(api, customer, 60, '2026-03-10T00:00:00Z');
  await advanceTo(api, customer.clockId, '2026-03-16T00:00:00Z');
  const second = (await invoicesOf(api, customer.customerId)).at(-1);
  expect(second).toMatchObject({ total: '30.5', total_prepaid_credits_applied: '5.5' });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '0.003' });
});

test('zero-decimal-currency: whole yen pay, and the fraction stays', async () => {
  const { eventName, meterId } = await monthlyPlan(api);
  const { id: plan_id } = await created(api, '/plans', { name: 'Calls in yen' });
  await created(api, '/prices', {
    ...{ plan_id, type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
    ...{ currency: 'jpy', amount: '7', meter_id: meterId, start_date: '2020-01-01T00:00:00Z' },
  });
  const customer = { eventName, ...(await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' })) };
  const terms = { customer_id: customer.customerId, plan_id, currency: 'jpy', billing_period: 'MONTHLY' };
  const { id: subscriptionId } = await created(api, '/subscriptions', terms);
  const walletId = await walletOf({ currency: 'jpy', initial_credits_to_load: '100.75' }, customer.customerId);
  await countCalls(api, { ...customer, subscriptionId }, 20, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, { ...customer, subscriptionId });
  expect((await post(`/invoices/${draft.id}/finalize`)).status).toBe(200);
  expect(await read(`/invoices/${draft.id}`)).toMatchObject({
    ...{ subtotal: '140', total_prepaid_credits_applied: '100', total: '40' },
  });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '0.75', balance: '0.75' });
});

test('expired-unswept-lot: credits that still show in the balance and may not be used pay nothing', async () => {
  const customer = await billedCustomer(platform);
  const walletId = await walletOf({}, customer.customerId);
  await topUp(walletId, free('3'));
  await topUp(walletId, free('100', { expiry_date_utc: '2026-02-14T20:00:00Z', priority: 1 }));
  await countCalls(api, customer, 55, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, customer);
  expect(await read(`/wallets/${walletId}/balance/real-time?expand=credits_available_breakdown`)).toMatchObject({
    credit_balance: '103',
    credits_available_breakdown: { free: '3', purchased: '0' },
  });
  expect((await post(`/invoices/${draft.id}/finalize`)).status).toBe(200);
  expect(await read(`/invoices/${draft.id}`)).toMatchObject({ total_prepaid_credits_applied: '3', total: '32.5' });
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '100' });
  await advanceTo(api, customer.clockId, '2026-02-15T02:00:00Z');
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ credit_balance: '0' });
});
