import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import {
  lookAtWallet,
  type ToppedUpWallet,
  waitingWallets,
} from '../../services/wallet/auto-topup/auto-topup-watch.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { autoTopUpWorkflowType, balanceDropped } from '../../workflows/wallet/auto-top-up.messages.ts';
import type { UsageRule } from '../alert/usage-rule.ts';

const signalTimeoutMs = 20_000;

/**
 * Automatic top-ups: a wallet that only waits for its balance to fall, and whose balance has, is told so, once. The wallet is marked as
 * told in its row, which is on the agenda then: a signal that is lost is made up for by `tellLate`.
 * spec: wallets-and-payments §2.11, §2.16; design: money-in §1 The trigger
 */
export function topUpRule({ database, temporal }: { database: Database; temporal: Client }): UsageRule {
  return {
    async watch(scope, customerIds) {
      const waiting = await inSqlTransaction(database, scope, (tx) => waitingWallets(tx, scope, customerIds));
      return waiting.map((wallet) => ({
        customerId: wallet.customerId,
        wants: { wallets: true },
        async act({ balances }) {
          const looked = (tx: Transaction) => lookAtWallet(tx, wallet.id, balances.get(wallet.id));
          const { lowAt, headroom } = await inTransaction(database, scope, looked);
          if (lowAt !== null) await tellToLook(temporal, scope, wallet, lowAt);
          return { headroom, againAt: null };
        },
      }));
    },
  };
}

/** Has the workflow of a wallet that fills itself look at the wallet, and begins it where it does not run. Harmless at any time. */
export async function tellToLook(
  temporal: Client,
  { tenantId, environmentId }: Pick<Scope, 'tenantId' | 'environmentId'>,
  { id: objectId, customerId, testClockId }: ToppedUpWallet,
  at: string,
): Promise<void> {
  const clockTime = testClockId === null ? null : at;
  const start = { tenantId, environmentId, objectId, customerId, testClockId, clockTime, creating: false };
  await temporal.withDeadline(Date.now() + signalTimeoutMs, () =>
    temporal.workflow.signalWithStart(autoTopUpWorkflowType, {
      ...lifecycleStartOptions('auto_top_up', start, lifecycleTaskQueue),
      signal: balanceDropped,
      signalArgs: [{ at }],
    }),
  );
}
