import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { customerNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import {
  restOfThreshold,
  type WatchedSubscription,
  watchedSubscriptions,
} from '../../services/subscription/period/subscription-threshold.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { lifecycleKinds, lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { invoiceThreshold } from '../../workflows/subscription/subscription.messages.ts';
import { isOutage } from '../failure.ts';
import type { Headroom, LookAgain, UsageEvaluator } from './usage-evaluator.ts';

interface Dependencies {
  database: Database;
  readUsage: UsageReader;
  temporal: Client;
}

const maxAtOnce = 2;
const commandTimeoutMs = 20_000;

/**
 * The auto-invoice threshold: a subscription whose usage has reached it is told to invoice it, through its own workflow, which
 * looks again under the lock of the row. spec: subscriptions-and-invoicing §2.14.1, §2.5
 */
export function thresholdEvaluator(dependencies: Dependencies): UsageEvaluator {
  const { database } = dependencies;
  return {
    name: 'auto_invoice_threshold',
    async evaluate(scope, customerIds) {
      const waiting = await inSqlTransaction(database, scope, (tx) => watchedSubscriptions(tx, scope, customerIds));
      const answers: (LookAgain | Headroom)[] = customerIds.map((customerId) => ({ customerId, headroom: null }));
      const work = async () => {
        for (let watched = waiting.shift(); watched; watched = waiting.shift()) {
          const { customerId } = watched;
          try {
            answers.push({ customerId, headroom: await invoiceWhenReached(dependencies, scope, watched) });
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

/** Answers how much may still be spent before the threshold, null where none is in force. */
async function invoiceWhenReached(
  { database, readUsage, temporal }: Dependencies,
  scope: Scope,
  watched: WatchedSubscription,
): Promise<string | null> {
  const { subscriptionId, customerId, testClockId } = watched;
  const { at, rest } = await inSqlTransaction(database, scope, async (tx) => {
    const at = await customerNow(tx, customerId);
    return { at, rest: await restOfThreshold(tx, scope, { subscriptionId, at }, readUsage) };
  });
  if (rest !== '0') return rest;
  const start = {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    objectId: subscriptionId,
    customerId,
    testClockId,
    clockTime: testClockId === null ? null : at,
    creating: false,
  };
  const startWorkflowOperation = new WithStartWorkflowOperation(
    lifecycleKinds.subscription.workflowType,
    lifecycleStartOptions('subscription', start, lifecycleTaskQueue),
  );
  const caller = { actor: scope.actor, requestId: scope.requestId };
  await temporal.withDeadline(Date.now() + commandTimeoutMs, () =>
    temporal.workflow.executeUpdateWithStart(invoiceThreshold, { startWorkflowOperation, args: [{ caller, at }] }),
  );
  return '0';
}
