import { Context } from '@temporalio/activity';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { parseExactJson } from '../../integrations/import-file.ts';
import type { PreparedEvent } from '../../metering/event.ts';
import {
  noteRawEvents,
  type RawEventRow,
  readRawEventMapping,
  readRawEvents,
  unknownEvents,
} from '../../metering/postgres/event/raw-event.ts';
import { eventOfRaw } from '../../metering/raw-event.ts';
import type { UnstorableEvent } from '../../metering/rejected-event.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import { readCommand } from '../../services/lifecycle/kept-command.ts';
import {
  type ReprocessOrder,
  type ReprocessStanding,
  type ReprocessStart,
  reprocessWorkflowType,
} from '../../workflows/usage/event-reprocess.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { withHeartbeat } from '../heartbeat.ts';

interface Dependencies {
  database: Database;
  metering: UsageStore;
}

/** A step tells its workflow how far it is after this long. */
const stepMs = 5_000;

export type EventReprocessActivities = ReturnType<typeof createEventReprocessActivities>;

/** What a reprocessing of raw events does. spec: catalogue-and-metering §6.1 */
export function createEventReprocessActivities(dependencies: Dependencies) {
  return {
    /** Reads batch after batch for some seconds, each in one transaction with what it stores. */
    async storeRawEvents(start: ReprocessStart): Promise<ReprocessStanding> {
      const context = Context.current();
      const until = Date.now() + stepMs;
      return withHeartbeat(async () => {
        let { standing } = start;
        while (!standing.isDone) {
          standing = await storeBatch(dependencies, { ...start, standing });
          if (Date.now() >= until || context.cancellationSignal.aborted) break;
        }
        return standing;
      });
    },
  };
}

/** Somebody else read one of the batch's raw events meanwhile: what it became is read again. */
class BatchChanged extends Error {}

interface Reading {
  readonly row: RawEventRow;
  readonly event: PreparedEvent | null;
  readonly problem: string | null;
}

/** Reads one batch again and stores the events that no copy is there of. spec: catalogue-and-metering §12 I3, I6 */
export async function storeBatch(dependencies: Dependencies, start: ReprocessStart): Promise<ReprocessStanding> {
  const { database, metering } = dependencies;
  const scope = workflowScope(start);
  const { standing } = start;
  const { rows, readings, unknown, batchSize } = await inSqlTransaction(database, scope, async (tx) => {
    const kept = { id: start.commandId, command: reprocessWorkflowType };
    const { batchSize, ...order } = await readCommand<ReprocessOrder>(tx, scope, kept);
    const { from, to, pendingOnly } = order;
    const rows = await readRawEvents(tx, scope, { from, to, pendingOnly, limit: batchSize, after: standing.after });
    const mapping = await readRawEventMapping(tx, scope);
    const readings = rows.map((row) => readingOf(row, mapping)).filter((reading) => isWanted(reading, order));
    const events = readings.flatMap(({ event }) => event ?? []);
    return { rows, readings, unknown: await unknownEvents(tx, scope, events), batchSize };
  });
  const stored = readings
    .filter(({ event }) => event !== null && unknown.has(event))
    .flatMap(({ event }) => event ?? []);
  crashPoint('storeRawEvents.beforeEffect');
  let unstorable: readonly UnstorableEvent[];
  try {
    unstorable = await metering.load(scope, stored, async (sql, bad) => {
      const problems = new Map(bad.map(({ event, problem }) => [event.key, `it cannot be stored: ${problem}`]));
      const outcomes = readings.map((reading) => outcomeOf(reading, problems));
      if (!(await noteRawEvents(sql, scope, outcomes))) throw new BatchChanged('raw events changed');
    });
  } catch (error) {
    if (error instanceof BatchChanged) return standing;
    throw error;
  }
  crashPoint('storeRawEvents.beforeAnswer');
  const unreadable = readings.filter(({ event }) => event === null).length;
  return {
    after: rows.at(-1)?.seq ?? standing.after,
    examined: standing.examined + rows.length,
    stored: standing.stored + stored.length - unstorable.length,
    known: standing.known + readings.length - unreadable - stored.length,
    unreadable: standing.unreadable + unreadable + unstorable.length,
    isDone: rows.length < batchSize,
  };
}

function readingOf(row: RawEventRow, mapping: Parameters<typeof eventOfRaw>[1]): Reading {
  const made = eventOfRaw(parseExactJson(row.payloadText) as Record<string, unknown>, mapping, row.fallbackId);
  return 'event' in made ? { row, event: made.event, problem: null } : { row, event: null, problem: made.problem };
}

/** The event a raw one became, or why it became none; `problems` are those of keys that could not be stored. */
function outcomeOf({ row, event, problem }: Reading, problems: ReadonlyMap<string, string>) {
  const unstorable = event === null ? undefined : problems.get(event.key);
  const outcome = unstorable === undefined ? { key: event?.key ?? null, problem } : { key: null, problem: unstorable };
  return { seq: row.seq, state: row.state, ...outcome };
}

type Filters = Pick<ReprocessOrder, 'externalCustomerIds' | 'eventNames' | 'eventIds'>;

/** True for what the filters ask for. An object from which no event can be read is met by none of them. */
function isWanted({ event }: Reading, { externalCustomerIds, eventNames, eventIds }: Filters): boolean {
  if (event === null) return externalCustomerIds === null && eventNames === null && eventIds === null;
  return (
    (externalCustomerIds?.includes(event.externalCustomerId) ?? true) &&
    (eventNames?.includes(event.eventName) ?? true) &&
    (eventIds?.includes(event.id) ?? true)
  );
}
