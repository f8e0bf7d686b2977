import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { pendingBuilds } from '../../metering/postgres/meter-build.ts';
import { meterBuildStartOptions, meterBuildWorkflowType } from '../../workflows/usage/meter-build.messages.ts';

const startTimeoutMs = 3_000;

/**
 * Has the new and changed meters of the environment built, after the commit that made or changed them. It never fails the request: what did not start
 * is started by reconcile. design: usage.md Closing and afterwards
 */
export async function beginMeterBuilds(
  request: { temporal: Client; scope: Scope; log: { warn(fields: object, message: string): void } },
  database: Database,
): Promise<void> {
  const { temporal, scope, log } = request;
  const meterIds = await inSqlTransaction(database, scope, (tx) => pendingBuilds(tx, scope));
  for (const meterId of meterIds) {
    const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, meterId };
    try {
      await temporal.withDeadline(Date.now() + startTimeoutMs, () =>
        temporal.workflow.start(meterBuildWorkflowType, meterBuildStartOptions(start)),
      );
    } catch (err) {
      log.warn({ err, meterId }, 'the build of a meter was not started; npm run reconcile starts it');
    }
  }
}
