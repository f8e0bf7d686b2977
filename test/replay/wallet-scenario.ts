import { advanceClock, makeCustomer } from '../../bench/account.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { walletWorkflowId } from '../../workflows/wallet/wallet.messages.ts';
import { asOwner, newExternalId, type Stage, start, until } from './stage.ts';

/**
 * Lots that expire: some at one instant, one that was used up, one of a wallet that is frozen when it is due, one whose step fails and
 * is retried. And a wallet in real time that waits for the first of its lots, and is told of an earlier one.
 */
export async function lotsExpired(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const walletId = await walletOf(stage, clockId);
  const lots = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-28T00:00:00Z`);
  for (const expiry of [...lots, lots[0]!]) await topUp(stage, walletId, expiry);
  await advanceClock(api, clockId, '2026-02-20T00:00:00Z');
  await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
  await advanceClock(api, clockId, '2026-03-01T00:00:00Z');
  await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
  await asOwner(stage, 'alter table wallet_transaction add constraint none_now check (false) not valid');
  try {
    await advanceClock(api, clockId, '2026-04-01T00:00:00Z');
  } finally {
    await asOwner(stage, 'alter table wallet_transaction drop constraint none_now');
  }
  await temporal.workflow.getHandle(walletWorkflowId(walletId)).executeUpdate(retry);
  await advanceClock(api, clockId, '2027-01-15T00:00:00Z');

  const realId = await walletOf(stage);
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  await topUp(stage, realId, inHours(48));
  await topUp(stage, realId, inHours(24));
  const handle = temporal.workflow.getHandle(walletWorkflowId(realId));
  await until(async () => (await handle.query<{ next: unknown }>('waitingFor').catch(() => null))?.next ?? undefined);
}

async function walletOf({ platform: { api } }: Stage, clockId?: string): Promise<string> {
  const externalId = newExternalId();
  const customerId = await makeCustomer(api, { externalId, ...(clockId ? { clockId } : {}) });
  return (await api('POST', '/wallets', { customer_id: customerId, currency: 'usd' })).id;
}

async function topUp({ platform: { api } }: Stage, walletId: string, expiry: string): Promise<void> {
  const credits = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '1', expiry_date_utc: expiry };
  await api('POST', `/wallets/${walletId}/top-up`, credits);
}
