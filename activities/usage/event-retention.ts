import { Context } from '@temporalio/activity';
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { ClickHouse } from '../../metering/clickhouse/connection.ts';
import { dropUnkept, untakenReason } from '../../metering/clickhouse/retention.ts';
import { dropKept, dropOldestMonth } from '../../metering/postgres/retention.ts';
import { bulkTaskQueue, workflowTaskTimeout } from '../../workflows/start.messages.ts';
import {
  type DroppedMonth,
  type RetentionStart,
  retentionScheduleId,
  retentionWorkflowType,
} from '../../workflows/usage/event-retention.messages.ts';
import { withHeartbeat } from '../heartbeat.ts';

export type EventRetentionActivities = ReturnType<typeof createEventRetentionActivities>;

const dayMs = 86_400_000;

/**
 * What the retention of events does. Each step is one transaction and harmless to repeat. With a second engine nothing is dropped
 * that it has not taken, and what was dropped goes from it with the last step.
 */
export function createEventRetentionActivities(dependencies: { database: Database; clickhouse: ClickHouse | null }) {
  const { database, clickhouse } = dependencies;
  const guard = clickhouse ? untakenReason : undefined;
  return {
    dropOldestMonth: (start: RetentionStart): Promise<DroppedMonth | null> =>
      withHeartbeat(async () => warned(await dropOldestMonth(database, keptFrom(start), guard))),
    dropKeptEvents: (start: RetentionStart): Promise<DroppedMonth> =>
      withHeartbeat(async () => {
        const dropped = warned(await dropKept(database, keptFrom(start), guard));
        if (clickhouse) await dropUnkept({ database, clickhouse });
        return dropped;
      }),
  };
}

function warned<T extends DroppedMonth | null>(month: T): T {
  if (month?.waitsFor) Context.current().log.warn('events wait to be dropped', { ...month });
  return month;
}

function keptFrom({ days }: RetentionStart): string {
  return new Date(Date.now() - days * dayMs).toISOString();
}

/** Has the retention run once a day, by a schedule that all workers share; without `days` there is none. */
export async function scheduleRetention(temporal: Client, days: number | null): Promise<void> {
  const handle = temporal.schedule.getHandle(retentionScheduleId);
  if (days === null) {
    await handle.delete().catch(unless(ScheduleNotFoundError));
    return;
  }
  const schedule = {
    spec: { calendars: [{ hour: 3, minute: 40 }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType: retentionWorkflowType,
      workflowId: retentionScheduleId,
      taskQueue: bulkTaskQueue,
      workflowTaskTimeout,
      args: [{ days }] as [RetentionStart],
      staticSummary: `Events older than ${days} days`,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
  };
  const create = () => temporal.schedule.create({ ...schedule, scheduleId: retentionScheduleId });
  try {
    await create();
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update((present) => ({ ...present, ...schedule }));
  }
}

function unless(kind: abstract new (...args: never[]) => Error): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof kind)) throw error;
  };
}
