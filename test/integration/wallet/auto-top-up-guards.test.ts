import pg from 'pg';
import { expect, test } from 'vitest';
import { tellOrStart } from '../../../api/lifecycle.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { recordPaymentOutcome } from '../../../services/payment/payment-outcome.ts';
import { evaluateAutoTopup } from '../../../services/wallet/auto-topup/auto-topup-open.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { fillingWallets, later, start } from './auto-top-up.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal, gateway } = platform;
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

async function asOwner(text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

test('finding 28: who left is not charged, and who comes back is', async () => {
  const { walletId, clockId, customerId, externalId } = await filled({ invoicing: false }, 'succeeds');
  await debit(walletId, '50');
  await becomes(walletId, { state: 'armed' });
  const days = (count: number) => later(24 * count);
  await advanceClock(api, clockId, days(31));
  const credit = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '1' };
  await post(`/wallets/${walletId}/top-up`, credit);
  expect(await standingOf(walletId)).toMatchObject({ state: 'blocked', reason: 'no_use' });
  expect(await attemptsOf(walletId)).toEqual([]);
  const plan = await subscribed(customerId, { start_date: days(31) });
  await advanceClock(api, clockId, days(32));
  await use(plan, externalId, 45, days(31.5));
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
});

test('finding 29: nobody of a suspended tenant is charged, and the next use after that is', async () => {
  const { walletId } = await filled({}, 'succeeds');
  await debit(walletId, '75');
  const { tenantId } = base.scope;
  await asOwner(`update tenant set state = 'suspended' where id = $1`, [tenantId]);
  try {
    const readUsage = () => expect.fail('a suspended tenant is not rated');
    const evaluated = await inTransaction(base.database, base.scope, (tx) =>
      evaluateAutoTopup(tx, { walletId, readUsage, isForced: true }),
    );
    expect(evaluated?.standing).toEqual({ state: 'blocked', reason: 'suspended', until: null });
  } finally {
    await asOwner(`update tenant set state = 'active' where id = $1`, [tenantId]);
  }
  expect(await attemptsOf(walletId)).toEqual([]);
  await debit(walletId, '10');
  await becomes(walletId, { state: 'cooling' });
});

test('finding 30: switching on below the threshold charges at once, and the answer says so', async () => {
  const { walletId } = await filled({ enabled: false }, 'never_answers');
  await debit(walletId, '90');
  const switched = await put(walletId, { auto_topup: { enabled: true } });
  expect(switched).toMatchObject({
    status: 200,
    body: { auto_topup_standing: { state: 'charging', attempts_24h: 1 } },
  });
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'cooling' });
});

test('finding 33: money that comes after its decline goes back, and the attempt stays declined', async () => {
  const { walletId, customerId, clockId: testClockId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { payment_id: paymentId, invoice_id } = await first(walletId);
  const outcome = (status: 'declined' | 'succeeded') => ({
    status,
    gatewayPaymentId: null,
    actionUrl: null,
    reason: status === 'declined' ? 'declined' : null,
    gatewayMetadata: {},
  });
  const recorded = (status: 'declined' | 'succeeded') =>
    inTransaction(base.database, base.scope, (tx) =>
      recordPaymentOutcome(tx, { paymentId, outcome: outcome(status), at: start }),
    );
  await recorded('declined');
  expect(await first(walletId)).toMatchObject({ outcome: 'declined', late_capture: false });
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  const { refundIds } = await recorded('succeeded');
  expect(refundIds).toHaveLength(1);
  // A recording that is repeated, because its answer was lost, answers the same.
  expect(await recorded('succeeded')).toMatchObject({ refundIds, walletId });
  const log = { warn: (_: object, message: string) => expect.fail(message) };
  const refund = { kind: 'refund', id: refundIds![0]!, customerId, testClockId, at: start } as const;
  await tellOrStart({ temporal: temporal.client, scope: base.scope, log }, refund);
  await expect
    .poll(async () => (await read(`/payments/${paymentId}`)).payment_status, { timeout: 20_000 })
    .toBe('REFUNDED');
  expect(await first(walletId)).toMatchObject({ outcome: 'declined', late_capture: true });
  expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  expect(await balanceOf(walletId)).toBe('10');
});

test.each([true, false])(
  'finding 34: a person gives up a silent gateway (invoicing: %s), and later money goes back',
  async (invoicing) => {
    const { walletId, clockId } = await filled({ invoicing }, 'never_answers');
    await debit(walletId, '90');
    await becomes(walletId, { state: 'charging' });
    const { payment_id } = await first(walletId);
    await advanceClock(api, clockId, later(25));
    const asked = await post(`/wallets/${walletId}/auto-topup/retry`);
    expect(asked).toMatchObject({ status: 200, body: { auto_topup_standing: { state: 'charging' } } });
    const given = await post(`/wallets/${walletId}/auto-topup/resume`, { give_up: true });
    expect(given, JSON.stringify(given.body)).toMatchObject({
      status: 200,
      body: { auto_topup_standing: { state: 'cooling' } },
    });
    expect(await first(walletId)).toMatchObject({ outcome: 'unknown' });
    expect((await read(`/payments/${payment_id}`)).payment_status).toBe('PROCESSING');
    await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
    await expect
      .poll(async () => (await read(`/payments/${payment_id}`)).payment_status, { timeout: 20_000 })
      .toBe('REFUNDED');
    expect(await balanceOf(walletId)).toBe('10');
  },
  120_000,
);

test('finding 35: what was paid in part of a waiting invoice goes back to its source when it lapses', async () => {
  const { walletId, clockId, customerId } = await filled({ invoice_lifetime_days: 1 });
  await debit(walletId, '90');
  await becomes(walletId, { state: 'awaiting_payment' });
  const { invoice_id } = await first(walletId);
  await addCard(customerId, 'succeeds');
  const part = {
    destination_type: 'INVOICE',
    destination_id: invoice_id,
    payment_method_type: 'CARD',
    amount: '30',
    currency: 'usd',
  };
  const { id: paymentId } = await created(api, '/payments', part);
  await expect
    .poll(async () => (await read(`/payments/${paymentId}`)).payment_status, { timeout: 20_000 })
    .toBe('SUCCEEDED');
  await advanceClock(api, clockId, later(24.1));
  expect(await first(walletId)).toMatchObject({ outcome: 'lapsed' });
  await expect
    .poll(async () => (await read(`/payments/${paymentId}`)).payment_status, { timeout: 20_000 })
    .toBe('REFUNDED');
  expect(await balanceOf(walletId)).toBe('10');
});

test('finding 36: a postpaid wallet takes the terms over and fills itself by its balance', async () => {
  const { walletId } = await filled({}, 'declines_for_good');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'paused', reason: 'hard_decline' });
  const converted = await post(`/wallets/${walletId}/modify`, { modification_type: 'prepaid_to_postpaid' });
  expect(converted, JSON.stringify(converted.body)).toMatchObject({ status: 200 });
  const { new_wallet, original_wallet } = converted.body;
  expect(original_wallet.auto_topup_standing).toMatchObject({ state: 'disabled' });
  // Finding 9: converting forgets no pause.
  expect(new_wallet).toMatchObject({
    auto_topup_standing: { state: 'paused', reason: 'hard_decline', attempts_24h: 1 },
  });
  await addCard(new_wallet.customer_id, 'succeeds');
  await becomes(new_wallet.id, { state: 'cooling' });
  expect(await balanceOf(new_wallet.id)).toBe('10');
});

test('finding 37: what a gateway cannot charge is blocked, and counts as no attempt', async () => {
  const { customerId } = await payer('succeeds');
  const walletId = await walletOf(customerId, { amount: '0.001' }, { currency: 'eur' });
  await debit(walletId, '90');
  await becomes(walletId, { state: 'blocked', reason: 'below_gateway_minimum', attempts_24h: 0 });
});

test('finding 41: a customer is not archived while money of it is under way', async () => {
  const { walletId, customerId } = await filled({ invoicing: false }, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { payment_id } = await first(walletId);
  expect((await post(`/wallets/${walletId}/terminate`)).status).toBe(200);
  expect(await api('DELETE', `/customers/${customerId}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining(payment_id) },
  });
  await expect.poll(() => gateway.operator.confirm(`${walletId}:topup:1`), { timeout: 20_000 }).toBe(true);
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await expect
    .poll(async () => (await read(`/payments/${payment_id}`)).payment_status, { timeout: 20_000 })
    .toBe('REFUNDED');
  expect((await api('DELETE', `/customers/${customerId}`)).status).toBe(204);
});

test('findings 42, 43: the standing has every member, and events tell of those that people wait for', async () => {
  const { walletId } = await filled({}, 'declines_for_good');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'paused' });
  const standing = await standingOf(walletId);
  expect(standing).toEqual({
    state: 'paused',
    reason: 'hard_decline',
    until: null,
    consecutive_declines: 1,
    attempts_24h: 1,
    attempts_30d: 1,
    month_amount: '0',
    month_limit: '10000',
    attempt_id: null,
    invoice_id: null,
    evaluated_at: start,
  });
  const told = await inTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ payload: Wire }>(
      `select payload from outbox_event where event_name = 'wallet.updated' and entity_id = $1`,
      [walletId],
    ),
  );
  expect(told.map(({ payload }) => payload.wallet.auto_topup_standing?.state)).toContain('paused');
});

test('finding 49: a number that JSON may have rounded is refused, and what is sent as a string stays exact', async () => {
  const { walletId } = await filled({}, 'succeeds');
  const long = await put(walletId, { auto_topup: { amount: 1234567890.123456 } });
  expect(long).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect(long.body.message).toContain('auto_topup.amount');
  const exact = '12345678901234.123456789';
  expect((await put(walletId, { auto_topup: { amount: exact } })).status).toBe(200);
  // A raw number, for the published clients refuse a string there; its digits are all in the text.
  const { payload } = await platform.app.inject({
    url: `/v1/wallets/${walletId}`,
    headers: { 'x-api-key': base.apiKey },
  });
  expect(payload).toContain(`"amount":${exact}`);
});

test('an agenda that changed without a word to its workflow, as by a process that died then, does not hold up a clock', async () => {
  const { walletId, clockId } = await filled({}, 'never_answers');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'charging' });
  const { payment_id: paymentId } = await first(walletId);
  const asked = async () => (await gateway.operator.callsOf(`${walletId}:topup:1`)).length;
  await expect.poll(asked, { timeout: 20_000 }).toBeGreaterThan(0);
  const agenda = async () =>
    inTransaction(base.database, base.scope, (tx) =>
      tx.rows('select due_at from agenda_entry where object_id = $1 order by due_at', [paymentId]),
    );
  await expect.poll(agenda, { timeout: 20_000 }).not.toEqual([]);
  const before = await asked();
  await asOwner(`update agenda_entry set due_at = due_at - interval '2 seconds' where object_id = $1 and due_at = $2`, [
    paymentId,
    (await agenda())[0]!.due_at,
  ]);
  await advanceClock(api, clockId, new Date(Date.parse(start) + 4_000).toISOString());
  expect(await asked()).toBeGreaterThan(before);
});
