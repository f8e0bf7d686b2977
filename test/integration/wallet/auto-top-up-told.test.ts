import { expect, test } from 'vitest';
import { usageWatchSignal } from '../../../api/alert/usage-watch.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { onCustomersMarked } from '../../../services/usage-mark.ts';
import { lookAtWallet, waitingWallets } from '../../../services/wallet/auto-topup/auto-topup-watch.ts';
import { findWallet } from '../../../services/wallet/wallet.ts';
import { walletBalances } from '../../../services/wallet/wallet-balance.ts';
import {
  type LifecycleWatchResult,
  lifecycleWatchWorkflowType,
} from '../../../workflows/check/lifecycle-watch.messages.ts';
import { lifecycleTaskQueue } from '../../../workflows/start.messages.ts';
import {
  autoTopUpWorkflowId,
  balanceDropped,
  methodChanged,
  paymentSettled,
  settingsChanged,
  standing,
} from '../../../workflows/wallet/auto-top-up.messages.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { fillingWallets, later, start } from './auto-top-up.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal } = platform;
const { walletOf, filled, debit, becomes, attemptsOf, balanceOf } = fillingWallets(platform);
const inScope = <T>(work: Parameters<typeof inSqlTransaction<T>>[2]) =>
  inSqlTransaction(base.database, base.scope, work);

/** A wallet of a customer in real time, with a card, that waits for its first use. */
async function inRealTime(name: string): Promise<{ walletId: string; customerId: string }> {
  const { id: customerId } = await created(api, '/customers', { external_id: name, name });
  const method = { card_number: sandboxCardNumber('succeeds'), set_default: true };
  await created(api, `/customers/${customerId}/payment-methods`, method);
  const walletId = await walletOf(customerId);
  await begun(walletId);
  return { walletId, customerId };
}

/** The workflow of a wallet, which has begun and waits for the first use. */
async function begun(walletId: string) {
  const workflow = temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId));
  await expect
    .poll(() => workflow.query(standing), { timeout: 20_000 })
    .toMatchObject({ state: 'blocked', reason: 'no_use' });
  return workflow;
}

/** What the schedule of the production worker does every 30 seconds. */
function look(name: string): Promise<LifecycleWatchResult> {
  return temporal.client.workflow.execute(lifecycleWatchWorkflowType, {
    taskQueue: lifecycleTaskQueue,
    workflowId: `look-${name}`,
  });
}

/** Does what a process does that ends between its commit and its signal. */
async function withoutTelling(work: () => Promise<void>): Promise<void> {
  onCustomersMarked(() => undefined);
  try {
    await work();
  } finally {
    onCustomersMarked(usageWatchSignal(temporal.client));
  }
}

test('in real time a wallet fills itself when its balance falls', async () => {
  const { walletId } = await inRealTime('told');
  await debit(walletId, '90');
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
});

test('a mark that nobody was told of is found by the next look', async () => {
  const { walletId } = await inRealTime('marked');
  await withoutTelling(() => debit(walletId, '90'));
  expect(await attemptsOf(walletId)).toEqual([]);
  await look('marked');
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
});

test('a low wallet whose workflow was not told so is told by the next look', async () => {
  const { walletId } = await inRealTime('claimed');
  await withoutTelling(() => debit(walletId, '90'));
  const readUsage = usageReader(openPostgresUsageStore(base.database));
  const lookedAt = () =>
    inTransaction(base.database, base.scope, async (tx) => {
      const wallet = await findWallet(tx, walletId);
      const balances = await walletBalances(tx, wallet.customerId, [wallet], readUsage);
      return lookAtWallet(tx, walletId, balances.get(walletId));
    });
  expect((await lookedAt()).lowAt).not.toBeNull();
  expect((await lookedAt()).lowAt).toBeNull();
  await inScope((tx) =>
    tx.rows(`update agenda_entry set due_at = due_at - interval '2 minutes' where object_id = $1`, [walletId]),
  );
  expect(await look('claimed')).toMatchObject({ told: 1 });
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
});

test('who is marked while the wallet is being looked at is looked at after that', async () => {
  const { walletId, customerId } = await filled({}, 'succeeds');
  await becomes(walletId, { state: 'blocked', reason: 'no_use' });
  const change = (set: string) =>
    inScope((tx) => tx.rows(`update wallet_auto_topup set ${set} where id = $1`, [walletId]));
  await change(`state = 'cooling', evaluate_at = '2026-03-01T00:00:00Z'`);
  const looked = await inScope(async (tx) => {
    await tx.rows(`update wallet_auto_topup set state = 'armed', evaluate_at = null where id = $1`, [walletId]);
    const asked = inScope((other) => waitingWallets(other, base.scope, [customerId]));
    expect(await locksAreAwaited(base)).toBe(true);
    return { asked };
  });
  expect((await looked.asked).map(({ id }) => id)).toEqual([walletId]);
  await change(`state = 'blocked'`);
});

test('news of a wallet that come in the wrong order, twice, too early and late end where news in order do', async () => {
  const { walletId, clockId } = await filled({}, 'succeeds');
  const workflow = await begun(walletId);
  const lookedAt = () => api('POST', `/wallets/${walletId}/auto-topup/retry`);
  const disordered = [paymentSettled, balanceDropped, methodChanged, balanceDropped, settingsChanged, paymentSettled];
  for (const news of disordered) await workflow.signal(news, { at: start });
  await lookedAt();
  expect(await attemptsOf(walletId)).toEqual([]);

  await debit(walletId, '90');
  for (const news of disordered) await workflow.signal(news, { at: start });
  await becomes(walletId, { state: 'cooling', attempts_24h: 1 });
  await advanceClock(api, clockId, later(2));
  for (const news of disordered.toReversed()) await workflow.signal(news, { at: start });
  await lookedAt();
  await becomes(walletId, { state: 'armed', reason: null, until: null, attempts_24h: 1 });
  expect(await attemptsOf(walletId)).toHaveLength(1);
  expect(await balanceOf(walletId)).toBe('60');
});
