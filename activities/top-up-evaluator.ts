import type { Client } from '@temporalio/client';
import type { Database } from '../db/orm.ts';
import type { Scope } from '../db/scope.ts';
import { payersOf } from '../db/stores/alert/wallet-alert-evaluate.ts';
import { claimLowWallet, type ToppedUpWallet, waitingWallets } from '../db/stores/wallet/auto-topup-watch.ts';
import { inSqlTransaction, inTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import { autoTopUpWorkflowType, balanceDropped } from '../workflows/auto-top-up.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../workflows/start.messages.ts';
import { isOutage } from './failure.ts';
import type { LookAgain, UsageEvaluator } from './usage-evaluator.ts';

interface Dependencies {
  database: Database;
  readUsage: UsageReader;
  temporal: Client;
}

const signalTimeoutMs = 20_000;

/**
 * Automatic top-ups: a wallet that only waits for its balance to fall, and whose balance has, is told so, once. The wallet is marked as
 * told in its row, which is on the agenda then: a signal that is lost is made up for by `tellLate`.
 * spec: wallets-and-payments §2.11, §2.16; design: money-in §1 The trigger
 */
export function topUpEvaluator(dependencies: Dependencies): UsageEvaluator {
  const { database } = dependencies;
  return {
    name: 'auto_top_up',
    async evaluate(scope, customerIds) {
      const waiting = await inSqlTransaction(database, scope, async (tx) =>
        waitingWallets(tx, scope, await payersOf(tx, scope, customerIds)),
      );
      const again: LookAgain[] = [];
      for (const wallet of waiting) {
        try {
          await tellWhenLow(dependencies, scope, wallet);
        } catch (error) {
          if (isOutage(error)) throw error;
          again.push({ customerId: wallet.customerId, at: null });
        }
      }
      return again;
    },
  };
}

async function tellWhenLow(
  { database, readUsage, temporal }: Dependencies,
  scope: Scope,
  wallet: ToppedUpWallet,
): Promise<void> {
  const at = await inTransaction(database, scope, (tx) => claimLowWallet(tx, wallet.id, readUsage));
  if (at !== null) await tellToLook(temporal, scope, wallet, at);
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
