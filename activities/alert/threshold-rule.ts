import { type Client, WithStartWorkflowOperation, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import {
  type WatchedSubscription,
  watchedSubscriptions,
} from '../../services/subscription/period/subscription-threshold.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { invoiceThreshold } from '../../workflows/subscription/subscription.messages.ts';
import type { UsageRule } from './usage-rule.ts';

const commandTimeoutMs = 20_000;

/**
 * The auto-invoice threshold: a subscription whose usage has reached it is told to invoice it, through its own workflow, which
 * looks again under the lock of the row. spec: subscriptions-and-invoicing §2.14.1, §2.5
 */
export function thresholdRule({ database, temporal }: { database: Database; temporal: Client }): UsageRule {
  return {
    async watch(scope, customerIds) {
      const waiting = await inSqlTransaction(database, scope, (tx) => watchedSubscriptions(tx, scope, customerIds));
      return waiting.map((watched) => ({
        customerId: watched.customerId,
        wants: { thresholds: [watched.subscriptionId] },
        async act({ now, thresholds }) {
          const rest = thresholds.get(watched.subscriptionId) ?? null;
          if (rest === '0') await invoice(temporal, scope, watched, now);
          return { headroom: rest, againAt: null };
        },
      }));
    },
  };
}

async function invoice(temporal: Client, scope: Scope, watched: WatchedSubscription, at: string): Promise<void> {
  const { subscriptionId, customerId, testClockId } = watched;
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
  const told = temporal.withDeadline(Date.now() + commandTimeoutMs, () =>
    temporal.workflow.executeUpdateWithStart(invoiceThreshold, { startWorkflowOperation, args: [{ caller, at }] }),
  );
  await told.catch((error: unknown) => {
    if (testClockId !== null || !(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
    // A slow workflow is no outage; after an outage all customers of the call would be looked at again.
    throw new Error(`subscription ${subscriptionId} did not answer in ${commandTimeoutMs} ms`);
  });
}
