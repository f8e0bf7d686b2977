import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { autoTopUpWorkflowId, balanceDropped, standing } from '../../workflows/auto-top-up.messages.ts';
import { created, monthlyPlan, testPlatform } from '../support/billing.ts';
import { advanceClock, createClock } from '../support/clock.ts';
import type { Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, temporal } = platform;
const start = '2026-03-01T00:00:00.000Z';
let count = 0;

/** A customer on a test clock with a prepaid wallet of 100 credits that fills itself at 20 with 50. */
async function filled(terms: Wire = {}, card?: SandboxBehaviour, times = 0) {
  count += 1;
  const clockId = await createClock(api, start);
  const customer = { external_id: `filled-${count}`, name: 'Filled', test_clock_id: clockId };
  const { id: customerId } = await created(api, '/customers', customer);
  if (card) {
    const card_number = sandboxCardNumber(card, times);
    await created(api, `/customers/${customerId}/payment-methods`, { card_number });
  }
  const auto_topup = { enabled: true, threshold: 20, amount: 50, invoicing: true, ...terms };
  const body = { customer_id: customerId, currency: 'usd', initial_credits_to_load: '100', auto_topup };
  const { id: walletId } = await created(api, '/wallets', body);
  return { clockId, customerId, walletId };
}

const read = async (path: string) => (await api<Wire>('GET', path)).body;
const standingOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).auto_topup_standing;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance;
const attemptsOf = async (walletId: string) => (await read(`/wallets/${walletId}/auto-topup/attempts`)).items;
const becomes = (walletId: string, expected: Wire) =>
  expect.poll(() => standingOf(walletId), { timeout: 20_000, interval: 100 }).toMatchObject(expected);
const later = (hours: number) => new Date(Date.parse(start) + hours * 3_600_000).toISOString();
async function debit(walletId: string, credits: string) {
  const answer = await api<Wire>('POST', `/wallets/${walletId}/debit`, {
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `debit-${Math.random()}`,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

test('a wallet is charged once when its balance falls, and waits for an hour, which its workflow shows', async () => {
  const { walletId, clockId } = await filled({}, 'succeeds');
  expect(await standingOf(walletId)).toMatchObject({ state: 'blocked', reason: 'no_use' });
  await debit(walletId, '85');
  await becomes(walletId, { state: 'cooling', until: later(1), attempts_24h: 1, month_amount: '50' });
  expect(await balanceOf(walletId)).toBe('65');
  const [attempt] = await attemptsOf(walletId);
  expect(attempt).toMatchObject({ number: 1, credits: '50', amount: '50', outcome: 'succeeded', opened_at: start });
  expect(await read(`/invoices/${attempt.invoice_id}`)).toMatchObject({
    billing_reason: 'WALLET_AUTO_TOPUP',
    payment_status: 'SUCCEEDED',
    metadata: { auto_topup: 'true' },
  });
  const workflow = temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId));
  expect(await workflow.query(standing)).toEqual({ state: 'cooling', reason: 'cooldown', until: later(1) });
  await debit(walletId, '60');
  await advanceClock(api, clockId, later(2));
  expect(await balanceOf(walletId)).toBe('55');
  expect((await attemptsOf(walletId)).length).toBe(2);
});

test('without an invoice the card is charged first, and its decline gives nothing', async () => {
  const good = await filled({ invoicing: false }, 'succeeds');
  await debit(good.walletId, '85');
  await becomes(good.walletId, { state: 'cooling' });
  expect(await balanceOf(good.walletId)).toBe('65');
  const bad = await filled({ invoicing: false }, 'declines');
  await debit(bad.walletId, '85');
  await becomes(bad.walletId, { state: 'backing_off', consecutive_declines: 1, until: later(1) });
  expect(await balanceOf(bad.walletId)).toBe('15');
});

test('finding 8: declines back off for one, two and four hours, and the fourth in a row pauses', async () => {
  const { walletId, clockId, customerId } = await filled({}, 'declines');
  await debit(walletId, '85');
  await becomes(walletId, { state: 'backing_off', until: later(1) });
  await advanceClock(api, clockId, later(40));
  expect(await standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'declines', consecutive_declines: 4 });
  const attempts = (await attemptsOf(walletId)).toReversed();
  expect(attempts.map((each: Wire) => each.opened_at)).toEqual([0, 1, 3, 7].map(later));
  for (const { invoice_id } of attempts) {
    expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  }
  expect(await balanceOf(walletId)).toBe('15');
  const card_number = sandboxCardNumber('succeeds');
  await created(api, `/customers/${customerId}/payment-methods`, { card_number, set_default: true });
  await becomes(walletId, { state: 'cooling', consecutive_declines: 0 });
  expect(await balanceOf(walletId)).toBe('65');
});

test('an automatic top-up storm: 50 looks in one second give one attempt', async () => {
  const { walletId } = await filled({}, 'succeeds');
  await debit(walletId, '99');
  await becomes(walletId, { state: 'cooling' });
  const workflow = temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId));
  await Promise.all(Array.from({ length: 50 }, () => workflow.signal(balanceDropped, { at: start })));
  await workflow.query(standing);
  expect((await attemptsOf(walletId)).length).toBe(1);
});

test('finding 10: an invoice that nobody pays lapses after its days, and another waits an hour', async () => {
  const { walletId, clockId } = await filled({ invoice_lifetime_days: 2 });
  await debit(walletId, '85');
  await becomes(walletId, { state: 'awaiting_payment', until: later(48) });
  const [first] = await attemptsOf(walletId);
  await advanceClock(api, clockId, later(48.5));
  expect(await standingOf(walletId)).toMatchObject({ state: 'cooling', until: later(49) });
  expect(await read(`/invoices/${first.invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  await advanceClock(api, clockId, later(50));
  expect((await attemptsOf(walletId)).map((each: Wire) => each.outcome)).toEqual([null, 'lapsed']);
});

test('finding 3: losing the card blocks, and gives no credits', async () => {
  const { walletId, customerId } = await filled({ invoicing: false }, 'succeeds');
  const { items } = await read(`/customers/${customerId}/payment-methods`);
  await api('DELETE', `/customers/${customerId}/payment-methods/${items[0].id}`);
  await debit(walletId, '85');
  await becomes(walletId, { state: 'blocked', reason: 'no_method' });
  expect(await balanceOf(walletId)).toBe('15');
});

test('finding 9: switching off and on forgets no pause', async () => {
  const { walletId, clockId } = await filled({}, 'declines');
  await debit(walletId, '85');
  await becomes(walletId, { state: 'backing_off' });
  await advanceClock(api, clockId, later(10));
  const put = (enabled: boolean) => api<Wire>('PUT', `/wallets/${walletId}`, { auto_topup: { enabled } });
  expect((await put(false)).body.auto_topup_standing).toMatchObject({ state: 'disabled' });
  expect((await put(true)).body.auto_topup_standing).toMatchObject({ state: 'paused', reason: 'declines' });
  const resumed = await api<Wire>('POST', `/wallets/${walletId}/auto-topup/resume`, {});
  expect(resumed.status, JSON.stringify(resumed.body)).toBe(200);
});

test('usage that no event of a balance tells of is seen: a subscription uses credits up', async () => {
  const { walletId, customerId } = await filled({ invoicing: false, cover_shortfall: true }, 'succeeds');
  const plan = await monthlyPlan(api, { fee: '0', perCall: '1' });
  const subscription = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  await created(api, '/subscriptions', { ...subscription, start_date: start });
  const event = { event_name: plan.eventName, external_customer_id: `filled-${count}`, timestamp: start };
  const events = Array.from({ length: 190 }, (_, index) => ({ ...event, event_id: `${walletId}-${index}`, properties: {} }));
  await api('POST', '/events/bulk', { events });
  await becomes(walletId, { state: 'cooling' });
  // 100 credits less 190 used: three times 50 lift what is left above 20.
  expect((await attemptsOf(walletId)).map((each: Wire) => each.credits)).toEqual(['150']);
});
