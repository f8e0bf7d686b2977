import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Database } from '../db/orm.ts';
import { workflowScope } from '../db/scope.ts';
import { inSqlTransaction } from '../db/transaction.ts';
import { dueMarks, settleMarks } from '../metering/postgres/dirty-customer.ts';
import {
  type UsageWatchStanding,
  type UsageWatchStart,
  usageArrived,
  usageWatchStartOptions,
  usageWatchWorkflowType,
} from '../workflows/usage-watch.messages.ts';
import { crashPoint } from './crash-points.ts';
import type { LookAgain, UsageEvaluator } from './usage-evaluator.ts';

const marksALook = 500;
/** When a customer is looked at again whose evaluation failed. spec: subscriptions-and-invoicing §2.5, five minutes at most */
const againAfterMs = 5 * 60_000;

export type UsageWatchActivities = ReturnType<typeof createUsageWatchActivities>;

/** What watches usage: marked customers are handed to every evaluator, and their marks taken away afterwards. */
export function createUsageWatchActivities(dependencies: {
  database: Database;
  evaluators: readonly UsageEvaluator[];
}) {
  const { database, evaluators } = dependencies;
  return {
    async evaluateUsage(start: UsageWatchStart): Promise<UsageWatchStanding> {
      const context = Context.current();
      const beating = setInterval(() => context.heartbeat(), 2_000);
      const scope = workflowScope(start);
      try {
        const marks = await inSqlTransaction(database, scope, (tx) => dueMarks(tx, scope, marksALook));
        const customerIds = [...new Set(marks.flatMap(({ customerId }) => customerId ?? []))];
        const again: LookAgain[] = [];
        for (const { evaluate } of customerIds.length === 0 ? [] : evaluators) {
          again.push(...(await evaluate(scope, customerIds)));
        }
        crashPoint('evaluateUsage.beforeEffect');
        const soon = new Date(Date.now() + againAfterMs).toISOString();
        const lookAgain = again.map(({ customerId, at }) => ({ customerId, at: at ?? soon }));
        const nextAt = await inSqlTransaction(database, scope, (tx) => settleMarks(tx, scope, marks, lookAgain));
        return { examined: customerIds.length, isMoreDue: marks.length === marksALook, nextAt };
      } finally {
        clearInterval(beating);
      }
    },
  };
}

/** Begins the watch of an environment, or tells the running one that customers were marked. */
export async function signalUsageWatch(temporal: Client, scope: UsageWatchStart): Promise<void> {
  await temporal.workflow.signalWithStart(usageWatchWorkflowType, {
    ...usageWatchStartOptions(scope),
    signal: usageArrived,
  });
}
