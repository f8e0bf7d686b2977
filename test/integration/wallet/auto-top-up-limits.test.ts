import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { advanceClock, createClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { checkout, invoiceOf, payAtSandbox, readSession } from '../payment/checkout/checkout.fixture.ts';
import { fillingWallets, later, start } from './auto-top-up.fixture.ts';

const platform = await testPlatform();
const { api, gateway } = platform;
const { filled, payer, walletOf, addCard, debit, standingOf, balanceOf, attemptsOf, becomes, put } =
  fillingWallets(platform);
const post = (path: string, body: Wire = {}) => api<Wire>('POST', path, body);
const limited = (value: object) => api('PUT', '/settings/auto_topup_limits', { value });

test('finding 9: two wallets of one card that fall low at once share its last charge', async () => {
  await limited({ succeeded_per_day: 1 });
  const { customerId } = await payer('succeeds');
  const ids = [await walletOf(customerId), await walletOf(customerId, {}, { currency: 'eur' })];
  await Promise.all(ids.map((id) => debit(id, '90')));
  for (const id of ids) await becomes(id, { state: 'limited', until: later(24) });
  expect((await Promise.all(ids.map(attemptsOf))).flat()).toHaveLength(1);
  await api('DELETE', '/settings/auto_topup_limits');
});

test('finding 9: the month of a limit is that of the customer’s own calendar', async () => {
  await limited({ monthly_amount: { usd: '50' } });
  const clockId = await createClock(api, start);
  const { id: customerId } = await created(api, '/customers', {
    external_id: 'auckland',
    name: 'Auckland',
    timezone: 'Pacific/Auckland',
    test_clock_id: clockId,
  });
  await addCard(customerId, 'succeeds');
  const walletId = await walletOf(customerId);
  await debit(walletId, '90');
  // Midnight of 1 April there.
  await becomes(walletId, { state: 'limited', reason: 'monthly_amount', until: '2026-03-31T11:00:00.000Z' });
  await advanceClock(api, clockId, later(24 * 10));
  await debit(walletId, '50');
  await advanceClock(api, clockId, '2026-03-31T10:59:00.000Z');
  expect(await attemptsOf(walletId)).toHaveLength(1);
  await advanceClock(api, clockId, '2026-03-31T11:01:00.000Z');
  expect((await attemptsOf(walletId))[0]).toMatchObject({ opened_at: '2026-03-31T11:00:00.000Z' });
  await api('DELETE', '/settings/auto_topup_limits');
});

test('finding 26: what a person paused only a person resumes: no new card, no settings, no look', async () => {
  const { walletId, customerId } = await filled({}, 'succeeds');
  const paused = await post(`/wallets/${walletId}/auto-topup/pause`);
  expect(paused, JSON.stringify(paused.body)).toMatchObject({
    status: 200,
    body: { auto_topup_standing: { state: 'paused', reason: 'operator', until: null } },
  });
  expect((await post(`/wallets/${walletId}/auto-topup/pause`)).status).toBe(200);
  await debit(walletId, '90');
  await addCard(customerId, 'succeeds');
  await put(walletId, { auto_topup: { amount: 60 } });
  expect((await post(`/wallets/${walletId}/auto-topup/retry`)).body.auto_topup_standing).toMatchObject({
    state: 'paused',
  });
  expect(await attemptsOf(walletId)).toEqual([]);
  expect((await post(`/wallets/${walletId}/auto-topup/resume`)).status).toBe(200);
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
  expect(await balanceOf(walletId)).toBe('70');
});

test('finding 26: a pause leaves the charge under way its end, and then holds', async () => {
  const { walletId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const paused = await post(`/wallets/${walletId}/auto-topup/pause`);
  expect(paused.body.auto_topup_standing).toMatchObject({ state: 'charging' });
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'paused', reason: 'operator' });
  expect(await balanceOf(walletId)).toBe('60');
  const { id: customer_id } = await created(api, '/customers', { external_id: 'plain', name: 'Plain' });
  const { id: plain } = await created(api, '/wallets', { customer_id, currency: 'usd' });
  expect(await post(`/wallets/${plain}/auto-topup/pause`)).toMatchObject({ status: 400 });
  expect((await post('/wallets/wallet_none/auto-topup/pause')).status).toBe(404);
});

test.each([
  ['a refund of its direct charge', false, ({ payment_id }: Wire) => post(`/payments/${payment_id}/refund`)],
  ['a credit note of its invoice', true, creditedWhole],
  ['voiding its paid invoice', true, ({ invoice_id }: Wire) => post(`/invoices/${invoice_id}/void`)],
])(
  'a refund pauses the wallet, so that its card is not charged at once again: %s',
  async (_door, invoicing, giveBack) => {
    const { walletId, clockId } = await filled({ invoicing }, 'succeeds');
    await debit(walletId, '90');
    await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
    await advanceClock(api, clockId, later(2));
    const [attempt] = await attemptsOf(walletId);
    const given = await giveBack(attempt);
    expect(given.status, JSON.stringify(given.body)).toBeLessThan(300);
    expect(await standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'refund', until: null });
    expect(await balanceOf(walletId)).toBe('10');
    await advanceClock(api, clockId, later(48));
    expect(await attemptsOf(walletId)).toHaveLength(1);
    expect((await post(`/wallets/${walletId}/auto-topup/resume`)).status).toBe(200);
    await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
    expect(await balanceOf(walletId)).toBe('60');
  },
);

async function creditedWhole({ invoice_id }: Wire) {
  const { body } = await api<Wire>('GET', `/invoices/${invoice_id}`);
  const line_items = [{ invoice_line_item_id: body.line_items[0].id, amount: '50' }];
  return post('/creditnotes', { invoice_id, reason: 'SERVICE_ISSUE', line_items, process_credit_note: true });
}

test('a refund pauses no wallet that is switched off, and switching it on is a decision to charge', async () => {
  const { walletId, clockId } = await filled({ invoicing: false }, 'succeeds');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
  await advanceClock(api, clockId, later(2));
  await put(walletId, { auto_topup: { enabled: false } });
  const [{ payment_id }] = (await attemptsOf(walletId)) as [Wire];
  expect((await post(`/payments/${payment_id}/refund`)).status).toBe(201);
  expect(await standingOf(walletId)).toMatchObject({ state: 'disabled' });
  await put(walletId, { auto_topup: { enabled: true } });
  await becomes(walletId, { state: 'cooling', attempts_24h: 2 });
});

const onPage = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '40', checkout };

test('finding 11: a purchase on a page is refused beside an automatic charge', async () => {
  const { walletId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { attempt_id } = await standingOf(walletId);
  expect(await post(`/wallets/${walletId}/top-up`, onPage)).toMatchObject({
    status: 409,
    body: { code: 'already_exists', message: expect.stringContaining(attempt_id) },
  });
  await expect.poll(() => gateway.operator.fail(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'backing_off' });
  expect((await post(`/wallets/${walletId}/top-up`, onPage)).status).toBe(200);
});

test('finding 11: while a page that buys credits can be paid nothing is charged besides, and paid it is enough', async () => {
  const { walletId, clockId } = await filled({}, 'succeeds');
  const { body } = await post(`/wallets/${walletId}/top-up`, onPage);
  await debit(walletId, '90');
  await becomes(walletId, { state: 'blocked', reason: 'pending_transaction' });
  await payAtSandbox(gateway, body.checkout_session);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  await becomes(walletId, { state: 'armed' });
  await advanceClock(api, clockId, later(2));
  expect(await attemptsOf(walletId)).toEqual([]);
  expect(await balanceOf(walletId)).toBe('50');
});

test('finding 37: what the mandate of a card does not allow is not charged, counts as no attempt, and caps what covers a shortage', async () => {
  const { customerId } = await payer();
  const withMandate = (max_amount: string) =>
    created(api, `/customers/${customerId}/payment-methods`, {
      card_number: sandboxCardNumber('succeeds'),
      set_default: true,
      max_amount,
    });
  const { id } = await withMandate('49.99');
  expect((await api<Wire>('GET', `/customers/${customerId}/payment-methods`)).body.items[0].max_amount).toBe('49.99');
  const walletId = await walletOf(customerId, { cover_shortfall: true });
  await debit(walletId, '300');
  await becomes(walletId, { state: 'blocked', reason: 'above_mandate', attempts_24h: 0 });
  await withMandate('120');
  // Four times 50 would lift it above 20; the mandate allows two.
  await becomes(walletId, { state: 'cooling', attempts_24h: 1, month_amount: '100' });
  expect((await attemptsOf(walletId)).map(({ amount }) => amount)).toEqual(['100']);
  await post(`/customers/${customerId}/payment-methods/${id}/default`);
  const { id: invoiceId } = await created<Wire>(api, '/invoices', invoiceOf(customerId, '60', { checkout: undefined }));
  const attempted = await post(`/invoices/${invoiceId}/payment/attempt`);
  expect(attempted.status, JSON.stringify(attempted.body)).toBeLessThan(500);
  expect((await api<Wire>('GET', `/invoices/${invoiceId}`)).body).toMatchObject({ amount_remaining: '60' });
});
