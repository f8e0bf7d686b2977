import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { MeterBuildActivities } from '../activities/meter-build.ts';
import { bulkStep } from './activity-options.ts';
import { type MeterBuildStanding, type MeterBuildStart, progress } from './meter-build.messages.ts';

const step = proxyActivities<MeterBuildActivities>(bulkStep);

/**
 * Builds the changed version of a meter beside the one in force, and puts it in force. Where it has come to is in the database, so
 * that a killed worker's successor goes on there. design: usage.md Closing and afterwards
 */
export async function meterBuild(start: MeterBuildStart): Promise<MeterBuildStanding> {
  let standing: MeterBuildStanding | null = null;
  setHandler(progress, () => standing);
  for (;;) {
    standing = await step.buildMeter(start);
    setCurrentDetails(`${standing.position} of ${standing.boundary} events looked at`);
    if (standing.isDone) return standing;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof meterBuild>(start);
  }
}
