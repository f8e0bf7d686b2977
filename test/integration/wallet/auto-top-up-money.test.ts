import { expect, test } from 'vitest';
import { paymentWorkflowId } from '../../../workflows/payment/payment.messages.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { fillingWallets, later } from './auto-top-up.fixture.ts';

const platform = await testPlatform();
const { api, gateway, temporal } = platform;
const {
  read,
  filled,
  payer,
  walletOf,
  addCard,
  debit,
  standingOf,
  balanceOf,
  attemptsOf,
  becomes,
  put,
  subscribed,
  use,
} = fillingWallets(platform);
const post = (path: string, body: Wire = {}) => api<Wire>('POST', path, body);
const first = async (walletId: string): Promise<Wire> => (await attemptsOf(walletId)).at(-1)!;

test('finding 2: usage of a trial, which no invoice bills, is never charged', async () => {
  const { walletId, customerId, externalId, clockId } = await filled({}, 'succeeds');
  const plan = await subscribed(customerId, { trial_period_days: 14 });
  await advanceClock(api, clockId, later(2));
  await use(plan, externalId, 95, later(1));
  await advanceClock(api, clockId, later(4));
  expect(await read(`/wallets/${walletId}/balance/real-time`)).toMatchObject({ real_time_credit_balance: '5' });
  expect(await standingOf(walletId)).toMatchObject({ state: 'armed' });
  expect(await attemptsOf(walletId)).toEqual([]);
});

test('finding 3: with the setting for trusted customers, too, an automatic invoice waits for its money', async () => {
  await api('PUT', '/settings/invoice_config', { value: { auto_complete_purchased_credit_transaction: true } });
  const { walletId } = await filled();
  await debit(walletId, '90');
  await becomes(walletId, { state: 'awaiting_payment' });
  await api('DELETE', '/settings/invoice_config');
  expect(await balanceOf(walletId)).toBe('10');
  const { invoice_id } = await first(walletId);
  expect((await post(`/invoices/${invoice_id}/void`)).status).toBe(200);
  await becomes(walletId, { state: 'cooling', until: later(1) });
});

test('finding 4, auto-topup-terminated: terminating goes on around a charge under way, whose money goes back', async () => {
  const { walletId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { invoice_id, payment_id } = await first(walletId);
  expect(await post(`/invoices/${invoice_id}/void`)).toMatchObject({ status: 400 });
  expect((await put(walletId, { auto_topup: { enabled: false } })).body.auto_topup_standing.state).toBe('charging');
  expect((await post(`/wallets/${walletId}/terminate`)).status).toBe(200);
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await expect
    .poll(async () => (await read(`/payments/${payment_id}`)).payment_status, { timeout: 20_000 })
    .toBe('REFUNDED');
  expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  expect(await first(walletId)).toMatchObject({ outcome: 'voided' });
  expect(await standingOf(walletId)).toMatchObject({ state: 'disabled' });
});

test('finding 7: a customer has one live prepaid wallet of a currency, so that usage is charged once', async () => {
  const { customerId } = await filled({}, 'succeeds');
  expect(await post('/wallets', { customer_id: customerId, currency: 'usd' })).toMatchObject({
    status: 409,
    body: { code: 'already_exists' },
  });
});

test('finding 9: wallets of one card count its declines together', async () => {
  const { customerId, clockId } = await payer('declines');
  const ids = [await walletOf(customerId), await walletOf(customerId, {}, { currency: 'eur' })];
  for (const id of ids) await debit(id, '90');
  for (const id of ids) await becomes(id, { state: 'backing_off', consecutive_declines: 1 });
  await advanceClock(api, clockId, later(20));
  const attempts = (await Promise.all(ids.map(attemptsOf))).flat();
  expect(attempts).toHaveLength(4);
  for (const id of ids)
    expect(await standingOf(id)).toMatchObject({ state: 'limited', reason: 'card_declined_per_day' });
});

test('finding 10: a payer who has to confirm is told so for a day, and then the attempt lapses', async () => {
  const { walletId, clockId } = await filled({}, 'requires_action');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'needs_action', reason: 'authentication_required', until: later(24) });
  const { invoice_id, payment_id } = await first(walletId);
  expect((await standingOf(walletId)).invoice_id).toBe(invoice_id);
  expect(await read(`/payments/${payment_id}`)).toMatchObject({ payment_status: 'PROCESSING' });
  await advanceClock(api, clockId, later(24.5));
  expect(await first(walletId)).toMatchObject({ outcome: 'lapsed', ended_at: later(24) });
  expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  expect(await standingOf(walletId)).toMatchObject({ state: 'cooling', until: later(25), consecutive_declines: 0 });
  expect(await balanceOf(walletId)).toBe('10');
  const asked = temporal.client.workflow.getHandle(paymentWorkflowId(payment_id));
  await expect.poll(async () => (await asked.describe()).status.name, { timeout: 20_000 }).toBe('COMPLETED');
});

test('finding 10: a card that wants its payer keeps the invoice for a day, in which the payer can pay it', async () => {
  const { walletId, customerId } = await filled({}, 'needs_authentication');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'needs_action', reason: 'authentication_required', until: later(24) });
  const { invoice_id } = await first(walletId);
  expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'FINALIZED' });
  await addCard(customerId, 'succeeds');
  const attempted = await post(`/invoices/${invoice_id}/payment/attempt`);
  expect(attempted.status, JSON.stringify(attempted.body)).toBe(200);
  await becomes(walletId, { state: 'cooling' });
  expect(await first(walletId)).toMatchObject({ outcome: 'succeeded' });
  expect(await balanceOf(walletId)).toBe('60');
});

test('finding 10: a payer who confirms in time has the credits', async () => {
  const { walletId } = await filled({}, 'requires_action');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'needs_action' });
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  expect((await post(`/wallets/${walletId}/auto-topup/retry`)).status).toBe(200);
  await becomes(walletId, { state: 'cooling' });
  expect(await balanceOf(walletId)).toBe('60');
});

test('finding 11: a top-up by hand and an automatic one never pay for the same shortage', async () => {
  const { walletId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { id } = await first(walletId);
  const byHand = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '50' };
  expect(await post(`/wallets/${walletId}/top-up`, byHand)).toMatchObject({
    status: 409,
    body: { code: 'already_exists', message: expect.stringContaining(id) },
  });
  expect((await put(walletId, { auto_topup: { allow_concurrent: true } })).status).toBe(200);
  expect((await post(`/wallets/${walletId}/top-up`, byHand)).status).toBe(200);
  await expect.poll(() => gateway.operator.fail(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'blocked', reason: 'pending_transaction' });
});

test('finding 1: an unpaid invoice, which credits cannot pay, buys none: one charge of the amount, and no loop', async () => {
  const { customerId, clockId, externalId } = await payer('succeeds');
  const plan = await subscribed(customerId, { collection_method: 'send_invoice' });
  await advanceClock(api, clockId, later(24));
  await use(plan, externalId, 500, later(12));
  const april = (days: number) => later(24 * (31 + days));
  await advanceClock(api, clockId, april(1));
  const unpaid = { invoice_status: 'FINALIZED', amount_remaining: '500' };
  const { items } = await read(`/invoices?customer_id=${customerId}`);
  expect(items).toContainEqual(expect.objectContaining(unpaid));
  const terms = { threshold: 10, cover_shortfall: true, cooldown: { value: 1, unit: 'hour' } };
  const walletId = await walletOf(customerId, terms, { initial_credits_to_load: '15' });
  await debit(walletId, '10');
  await becomes(walletId, { state: 'cooling' });
  const balance = await read(`/wallets/${walletId}/balance/real-time`);
  expect(balance).toMatchObject({ credit_balance: '55', real_time_credit_balance: '-445' });
  await advanceClock(api, clockId, april(10));
  expect((await attemptsOf(walletId)).map(({ credits }) => credits)).toEqual(['50']);
  expect(await standingOf(walletId)).toMatchObject({ state: 'armed', month_amount: '50' });
});

test('finding 6: a top-up bears no tax, which is due when the credits are used', async () => {
  const { customerId } = await payer('succeeds');
  const rate = { name: 'VAT', code: 'topup_vat', percentage_value: '20' };
  await created(api, '/taxes/rates', rate);
  const link = { entity_type: 'customer', entity_id: customerId, tax_rate_code: rate.code, auto_apply: true };
  await created(api, '/taxes/associations', link);
  const walletId = await walletOf(customerId);
  await debit(walletId, '90');
  await becomes(walletId, { state: 'cooling', month_amount: '50' });
  const { invoice_id, payment_id } = await first(walletId);
  expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ total: '50', total_tax: '0', taxes: [] });
  expect(await read(`/payments/${payment_id}`)).toMatchObject({ amount: '50' });
});

test('finding 8: a good card that burns five top-ups a day is charged five times, and for no more than it burns', async () => {
  const terms = { amount: 10, threshold: 5, cooldown: { value: 1, unit: 'minute' } };
  const { walletId, clockId } = await filled(terms, 'succeeds');
  for (let charge = 1; charge <= 5; charge += 1) {
    await debit(walletId, charge === 1 ? '95' : '10');
    await becomes(walletId, { attempts_24h: charge });
    await advanceClock(api, clockId, later(charge / 30));
  }
  expect(await standingOf(walletId)).toMatchObject({ state: 'armed', attempts_24h: 5, month_amount: '50' });
  expect(await balanceOf(walletId)).toBe('15');
});
