import { expect, test } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { evaluateAutoTopup } from '../../../services/wallet/auto-topup/auto-topup-open.ts';
import { testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { checkout, payAtSandbox, readSession } from '../payment/checkout/checkout.fixture.ts';
import { fillingWallets, later } from './auto-top-up.fixture.ts';

// What happened elsewhere, played here. design: money-in §8
const platform = await testPlatform();
const { api, base, gateway } = platform;
const { filled, debit, standingOf, balanceOf, attemptsOf, becomes, subscribed, use } = fillingWallets(platform);
const post = (path: string, body: Wire = {}) => api<Wire>('POST', path, body);
const chargesOf = (customerId: string) =>
  inTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ id: string; payment_status: string }>('select id, payment_status from payment where customer_id = $1', [
      customerId,
    ]),
  );
const toldOf = async (walletId: string): Promise<string[]> => {
  const rows = await inTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ state: string }>(
      `select payload -> 'wallet' -> 'auto_topup_standing' ->> 'state' as state from outbox_event
       where event_name = 'wallet.updated' and entity_id = $1 order by sequence`,
      [walletId],
    ),
  );
  return rows.map(({ state }) => state);
};

test('a draining wallet charged for weeks: usage that credits pay costs what it is, and an idle wallet nothing', async () => {
  const { walletId, customerId, externalId, clockId } = await filled({}, 'succeeds');
  const plan = await subscribed(customerId);
  await use(plan, externalId, 85, later(24));
  await advanceClock(api, clockId, later(24 * 60));
  // 100 credits, 85 used, 50 bought once; the invoices of both months take nothing more.
  expect((await attemptsOf(walletId)).map(({ credits }) => credits)).toEqual(['50']);
  expect(await balanceOf(walletId)).toBe('65');
});

test('486 declines in 4.5 hours and about 950 in a day: a card that declines is asked three times, and four', async () => {
  const { walletId, customerId, clockId } = await filled({}, 'declines');
  await debit(walletId, '85');
  for (let half = 1; half <= 9; half += 1) {
    await debit(walletId, '0.5');
    await advanceClock(api, clockId, later(half / 2));
  }
  expect((await attemptsOf(walletId)).map(({ opened_at }) => opened_at).toReversed()).toEqual([0, 1, 3].map(later));
  await advanceClock(api, clockId, later(24));
  await debit(walletId, '1');
  expect(await standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'declines', consecutive_declines: 4 });
  expect(await chargesOf(customerId)).toHaveLength(4);
});

test('silence between declines: that it is paused is told once, with the reason, and each decline as a failed payment', async () => {
  const { walletId, clockId, customerId } = await filled({}, 'declines');
  await debit(walletId, '85');
  await advanceClock(api, clockId, later(20));
  expect((await toldOf(walletId)).filter((state) => state === 'paused')).toEqual(['paused']);
  const ids = (await chargesOf(customerId)).map(({ id }) => id);
  const failed = await inTransaction(base.database, base.scope, (tx) =>
    tx.rows(`select id from outbox_event where event_name = 'payment.failed' and entity_id = any($1)`, [ids]),
  );
  expect(failed).toHaveLength(4);
});

test('20 declines in 8 minutes, one a reservation: twenty debits of a wallet whose card declines are one charge', async () => {
  const { walletId, customerId, clockId } = await filled({}, 'declines');
  await debit(walletId, '79');
  for (let times = 1; times <= 20; times += 1) {
    await debit(walletId, '1');
    if (times % 5 === 0) await advanceClock(api, clockId, later((times * 8) / (20 * 60)));
  }
  await becomes(walletId, { state: 'backing_off', consecutive_declines: 1 });
  expect(await chargesOf(customerId)).toHaveLength(1);
});

test('a refill above the maximum that stops silently for good: it is capped, the rest is told, and the next month goes on', async () => {
  await api('PUT', '/settings/auto_topup_limits', { value: { monthly_amount: { usd: '120' } } });
  const { walletId, clockId } = await filled({ cover_shortfall: true }, 'succeeds');
  await debit(walletId, '600');
  await becomes(walletId, { state: 'limited', reason: 'monthly_amount', until: '2026-04-01T00:00:00.000Z' });
  expect((await attemptsOf(walletId)).map(({ amount }) => amount)).toEqual(['100']);
  expect(await toldOf(walletId)).toContain('limited');
  await advanceClock(api, clockId, later(24 * 20));
  await debit(walletId, '1');
  await advanceClock(api, clockId, '2026-04-01T00:01:00Z');
  expect((await attemptsOf(walletId)).map(({ opened_at, amount }) => [opened_at, amount])).toEqual([
    ['2026-04-01T00:00:00.000Z', '100'],
    ['2026-03-01T00:00:00.000Z', '100'],
  ]);
  await api('DELETE', '/settings/auto_topup_limits');
});

test('the same manual top-up twice: asked for at once with one key it is bought once', async () => {
  const { walletId, customerId } = await filled({ enabled: false }, 'succeeds');
  const byHand = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '25', idempotency_key: 'order-25' };
  const answers = await Promise.all([1, 2, 3].map(() => post(`/wallets/${walletId}/top-up`, byHand)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  const { invoice_id } = answers.find(({ status }) => status === 200)!.body;
  await Promise.all([1, 2, 3].map(() => post(`/invoices/${invoice_id}/payment/attempt`)));
  await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('125');
  expect(await chargesOf(customerId)).toHaveLength(1);
});

test('a payment link paid while the automatic charge runs: the link is paid, and no charge runs beside it', async () => {
  const { walletId, customerId } = await filled({}, 'succeeds');
  const onPage = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '40', checkout };
  const { body } = await post(`/wallets/${walletId}/top-up`, onPage);
  await debit(walletId, '99');
  const [paid] = await Promise.all([
    payAtSandbox(gateway, body.checkout_session, sandboxCardNumber('succeeds')),
    post(`/wallets/${walletId}/auto-topup/retry`),
  ]);
  expect(paid).toMatchObject({ status: 'paid' });
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  await becomes(walletId, { state: 'armed' });
  expect((await chargesOf(customerId)).map(({ payment_status }) => payment_status)).toEqual(['SUCCEEDED']);
  expect(await balanceOf(walletId)).toBe('41');
});

test('50 evaluations in one second: one attempt', async () => {
  const { walletId, customerId } = await filled({}, 'succeeds');
  const readUsage = usageReader(openPostgresUsageStore(base.database));
  await debit(walletId, '99');
  await Promise.all(
    Array.from({ length: 50 }, () =>
      inTransaction(base.database, base.scope, (tx) => evaluateAutoTopup(tx, { walletId, readUsage })),
    ),
  );
  await post(`/wallets/${walletId}/auto-topup/retry`);
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
  expect(await chargesOf(customerId)).toHaveLength(1);
  expect(await balanceOf(walletId)).toBe('51');
});
