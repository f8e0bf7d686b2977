import { expect, test } from 'vitest';
import { testPlatform } from '../support/billing.ts';
import { advanceClock } from '../support/clock.ts';
import { fillingWallets, later } from './auto-top-up.fixture.ts';
import type { Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, gateway } = platform;
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

test('finding 4: terminating goes on around a charge under way, whose money goes back', async () => {
  const { walletId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { invoice_id, payment_id } = await first(walletId);
  expect(await post(`/invoices/${invoice_id}/void`)).toMatchObject({ status: 400 });
  expect((await put(walletId, { auto_topup: { enabled: false } })).body.auto_topup_standing.state).toBe('charging');
  expect((await post(`/wallets/${walletId}/terminate`)).status).toBe(200);
  expect(await gateway.operator.confirm(`${walletId}:topup:1`)).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await expect.poll(async () => (await read(`/payments/${payment_id}`)).payment_status).toBe('REFUNDED');
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
  expect(await gateway.operator.confirm(`${walletId}:topup:1`)).toBe(true);
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
  expect(await gateway.operator.fail(`${walletId}:topup:1`)).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'blocked', reason: 'pending_transaction' });
});
