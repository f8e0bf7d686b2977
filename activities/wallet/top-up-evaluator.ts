import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import {
  lookAtWallet,
  type ToppedUpWallet,
  waitingWallets,
} from '../../services/wallet/auto-topup/auto-topup-watch.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { autoTopUpWorkflowType, balanceDropped } from '../../workflows/wallet/auto-top-up.messages.ts';
import type { Headroom, LookAgain, UsageEvaluator } from '../alert/usage-evaluator.ts';
import { isOutage } from '../failure.ts';

interface Dependencies {
  database: Database;
  readUsage: UsageReader;
  temporal: Client;
}

const maxAtOnce = 2;
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
      const waiting = await inSqlTransaction(database, scope, (tx) => waitingWallets(tx, scope, customerIds));
      const answers: (LookAgain | Headroom)[] = customerIds.map((customerId) => ({ customerId, headroom: null }));
      const work = async () => {
        for (let wallet = waiting.shift(); wallet; wallet = waiting.shift()) {
          const { customerId } = wallet;
          try {
            answers.push({ customerId, headroom: await tellWhenLow(dependencies, scope, wallet) });
          } catch (error) {
            if (isOutage(error)) throw error;
            answers.push({ customerId, at: null });
          }
        }
      };
      await Promise.all(Array.from({ length: maxAtOnce }, work));
      return answers;
    },
  };
}

/** Answers how much usage may cost before the wallet is low, null where it was told that it is. */
async function tellWhenLow(
  { database, readUsage, temporal }: Dependencies,
  scope: Scope,
  wallet: ToppedUpWallet,
): Promise<string | null> {
  const { lowAt, headroom } = await inTransaction(database, scope, (tx) => lookAtWallet(tx, wallet.id, readUsage));
  if (lowAt !== null) await tellToLook(temporal, scope, wallet, lowAt);
  return headroom;
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
