import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { EventReprocessActivities } from '../../activities/usage/event-reprocess.ts';
import { bulkStep } from '../activity-options.ts';
import { described } from '../handler-descriptions.ts';
import { progress, type ReprocessStanding, type ReprocessStart } from './event-reprocess.messages.ts';

const step = proxyActivities<EventReprocessActivities>(bulkStep);

/**
 * Reads raw events again, step after step in the order they came. Each step works for some seconds in transactions of a
 * batch; a killed worker's successor finds what was stored and stores nothing twice. spec: catalogue-and-metering §6.1, §12 I6
 */
export async function reprocessEvents(start: ReprocessStart): Promise<ReprocessStanding> {
  let standing = start.standing;
  setHandler(progress, () => standing, described(progress));
  while (!standing.isDone) {
    standing = await step.storeRawEvents({ ...start, standing });
    setCurrentDetails(
      `Raw events of environment ${start.environmentId}\n\n${standing.examined} raw events read, ${standing.stored} events stored`,
    );
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reprocessEvents>({ ...start, standing });
  }
  return standing;
}
