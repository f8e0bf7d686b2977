import {
  ActivityFailure,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { MeterBuildActivities } from '../../activities/usage/meter-build.ts';
import { refuse } from '../../billing/refusal.ts';
import { bulkStep } from '../activity-options.ts';
import { described, remedy } from '../handler-descriptions.ts';
import { retry } from '../lifecycle.messages.ts';
import { blockedOnKey } from '../search-attributes.ts';
import { type MeterBuildStanding, type MeterBuildStart, progress } from './meter-build.messages.ts';

const step = proxyActivities<MeterBuildActivities>(bulkStep);

/**
 * Builds the roll-ups of a new meter, or the changed version of one beside the one in force, and has usage read from them. Where it
 * has come to is in the database, so that a killed worker's successor goes on there; a build that cannot go on waits for `retry`.
 * design: usage.md Closing and afterwards
 */
export async function meterBuild(start: MeterBuildStart): Promise<MeterBuildStanding> {
  let standing: MeterBuildStanding | null = null;
  let blockedOn: string | null = null;
  setHandler(
    retry,
    () => {
      if (blockedOn === null)
        throw refuse('invalid_operation', 'the build of the meter is not parked; there is nothing to retry');
      blockedOn = null;
      return { performing: 'buildMeter' };
    },
    described(retry),
  );
  setHandler(progress, () => ({ standing, blockedOn }), described(progress));
  for (;;) {
    try {
      standing = await step.buildMeter(start);
      setCurrentDetails(
        `Roll-ups of meter ${start.meterId}\n\n${standing.position} of ${standing.boundary} events looked at`,
      );
    } catch (error) {
      blockedOn = reasonOf(error);
      setCurrentDetails(`Roll-ups of meter ${start.meterId}\n\n**parked:** ${blockedOn}\n\n${remedy}`);
      upsertSearchAttributes([{ key: blockedOnKey, value: 'buildMeter' }]);
      await condition(() => blockedOn === null);
      upsertSearchAttributes([{ key: blockedOnKey, value: null }]);
      continue;
    }
    if (standing.isDone) return standing;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof meterBuild>(start);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  return cause.message.slice(0, 300);
}
