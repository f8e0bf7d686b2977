import { Context } from '@temporalio/activity';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { buildChunk, dropEarlierVersions, switchVersion } from '../../metering/postgres/meter-build.ts';
import type { MeterBuildStanding, MeterBuildStart } from '../../workflows/usage/meter-build.messages.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** A step tells its workflow how far it is after this long. */
const stepMs = 5_000;

export type MeterBuildActivities = ReturnType<typeof createMeterBuildActivities>;

/** What building a meter does: chunk after chunk for some seconds, each in a transaction of its own, then the switch. */
export function createMeterBuildActivities({ database }: { database: Database }) {
  return {
    async buildMeter(start: MeterBuildStart): Promise<MeterBuildStanding> {
      const context = Context.current();
      const until = Date.now() + stepMs;
      return withHeartbeat(() =>
        buildFor(database, start, () => Date.now() >= until || context.cancellationSignal.aborted),
      );
    },
  };
}

/** Builds, so many events at a time, until `isOver` says that a step is long enough. */
export async function buildFor(
  database: Database,
  start: MeterBuildStart,
  isOver: () => boolean,
  events?: number,
): Promise<MeterBuildStanding> {
  const scope = workflowScope(start);
  const { meterId } = start;
  for (;;) {
    const built = await inSqlTransaction(database, scope, (tx) => buildChunk(tx, meterId, events));
    if (built && built.position < built.boundary) {
      if (isOver()) return { ...built, isDone: false };
      continue;
    }
    // Changed again meanwhile: there is another version to build.
    if (built && !(await inSqlTransaction(database, scope, (tx) => switchVersion(tx, meterId)))) continue;
    await inSqlTransaction(database, scope, (tx) => dropEarlierVersions(tx, meterId));
    // Nobody starts another build while this one runs, so it goes on with what was changed while the earlier version was dropped.
    if (await inSqlTransaction(database, scope, (tx) => buildChunk(tx, meterId, 0))) continue;
    return { position: built?.position ?? 0, boundary: built?.boundary ?? 0, isDone: true };
  }
}
