import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { EventRetentionActivities } from '../../activities/usage/event-retention.ts';
import { bulkStep } from '../activity-options.ts';
import type { DroppedMonth, RetentionStart } from './event-retention.messages.ts';

const step = proxyActivities<EventRetentionActivities>(bulkStep);

/**
 * Drops the months of events that are kept no longer, one a step, and answers what it dropped, and what it could not drop and
 * why. design: usage.md Tables
 */
export async function eventRetention(start: RetentionStart): Promise<DroppedMonth[]> {
  const dropped: DroppedMonth[] = [];
  for (;;) {
    const month = await step.dropOldestMonth(start);
    if (!month) break;
    dropped.push(month);
    setCurrentDetails(dropped.map(standing).join('  \n'));
    if (month.waitsFor) break;
  }
  const kept = await step.dropKeptEvents(start);
  return kept.eventCount > 0 || kept.waitsFor ? [...dropped, kept] : dropped;
}

function standing({ partition, eventCount, waitsFor }: DroppedMonth): string {
  return `${partition}: ${waitsFor ? `waits, ${waitsFor}` : `${eventCount} events dropped`}`;
}
