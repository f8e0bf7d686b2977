import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { nextMarkAt, purgeMarks, takeUpDated } from '../../metering/postgres/due-mark.ts';
import {
  type UsageWatchStanding,
  type UsageWatchStart,
  usageArrived,
  usageWatchStartOptions,
  usageWatchWorkflowType,
} from '../../workflows/alert/usage-watch.messages.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { UsageLooks } from './usage-look.ts';

/** An evaluator goes on with what is due for so long before the workflow hears of it. */
const longestMs = 20_000;

export type UsageWatchActivities = ReturnType<typeof createUsageWatchActivities>;

/** What watches usage in real time: which evaluators have marked customers to look at, and one activity for each of them. */
export function createUsageWatchActivities({ database, looks }: { database: Database; looks: UsageLooks }) {
  return {
    /** Takes up marks whose time has come. Answers which evaluators have something to look at, and when the next mark is due. */
    async findDueUsage(start: UsageWatchStart): Promise<UsageWatchStanding> {
      const scope = workflowScope(start);
      await inSqlTransaction(database, scope, (tx) => takeUpDated(tx, scope, 'now', new Date().toISOString()));
      const due = await looks.due(scope, 'now');
      return inSqlTransaction(database, scope, async (tx) => {
        if (due.length === 0) await purgeMarks(tx, scope);
        return { due, nextAt: await nextMarkAt(tx, scope) };
      });
    },

    /** Has one evaluator look at the customers it is due to look at, a few at a time. Answers how many it looked at. */
    async evaluateUsage({ evaluator, ...start }: UsageWatchStart & { evaluator: string }): Promise<number> {
      const context = Context.current();
      const scope = workflowScope(start);
      const until = performance.now() + longestMs;
      let examined = 0;
      return withHeartbeat(async () => {
        for (let looked = -1; looked !== 0 && performance.now() < until && !context.cancellationSignal.aborted; ) {
          looked = await looks.look(scope, evaluator, 'now');
          examined += looked;
        }
        return examined;
      });
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
