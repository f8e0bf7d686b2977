import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { AgendaItem } from '../billing/agenda.ts';

/**
 * Short idempotent database work. Outages are retried for as long as they last; what is not an outage ends the activity
 * after a few tries (activities/failure.ts decides which is which), and the object is parked.
 */
export const databaseStep: LocalActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '20s' },
};

/**
 * Silence after which a worker is taken for dead and its step goes to another. Steps that are no short ones beat each second
 * (activities/heartbeat.ts), so a machine that stands still for a moment loses nothing.
 */
export const heartbeatTimeout = '5s';

/**
 * One call to the outside world, with heartbeats, on a task queue of its own, so that a slow gateway delays no period. As
 * above, what is no outage ends it after a few tries: killed workers and an absent database must not use them up.
 */
export const externalStep: ActivityOptions = {
  taskQueue: 'external',
  startToCloseTimeout: '2m',
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' },
};

/** A step through very many rows, on the task queue of its workflow; it notes how far it is, so it may be long and may be repeated. */
export const bulkStep: ActivityOptions = {
  startToCloseTimeout: '2m',
  heartbeatTimeout,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '20s' },
};

/** What a step shows in the Temporal UI: the agenda entry it performs, `closePeriod · 2026-02-01T00:00:00.000Z`. */
export function summaryOf(item: AgendaItem): { summary: string } {
  return { summary: [item.kind, item.ref, item.at].filter((part) => part !== '').join(' · ') };
}
