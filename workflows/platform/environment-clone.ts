import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { EnvironmentCloneActivities } from '../../activities/platform/environment-clone.ts';
import { refuse } from '../../billing/refusal.ts';
import { bulkStep } from '../activity-options.ts';
import { described, remedy } from '../handler-descriptions.ts';
import { retry } from '../lifecycle.messages.ts';
import { blockedOnKey, statusKey } from '../search-attributes.ts';
import {
  type CloneCounts,
  type EnvironmentCloneResult,
  type EnvironmentCloneStanding,
  type EnvironmentCloneStart,
  progress,
} from './environment-clone.messages.ts';

/**
 * Copies the published features of an environment into another, then its plans, step after step. Each feature and each plan is a
 * transaction, which also notes how far the run is, so a killed worker's successor goes on there. One that cannot be copied is noted
 * and left behind; a run that cannot go on at all waits for `retry`. spec: platform §9
 */
export async function environmentClone(start: EnvironmentCloneStart): Promise<EnvironmentCloneResult> {
  let standing: EnvironmentCloneStanding | null = null;
  let blockedOn: string | null = null;
  setHandler(
    retry,
    () => {
      if (blockedOn === null) throw refuse('invalid_operation', 'the clone is not parked; there is nothing to retry');
      blockedOn = null;
      return { performing: 'cloneItems' };
    },
    described(retry),
  );
  setHandler(progress, () => ({ standing, blockedOn }), described(progress));

  while (standing === null || standing.clone_status === 'running') {
    try {
      standing = await nextStep(start, standing);
      setCurrentDetails(detailsOf(start, standing));
    } catch (error) {
      blockedOn = reasonOf(error);
      setCurrentDetails(`${titleOf(start)}\n\n**parked:** ${blockedOn}\n\n${remedy}`);
      upsertSearchAttributes([{ key: blockedOnKey, value: 'cloneItems' }]);
      await condition(() => blockedOn === null);
      upsertSearchAttributes([{ key: blockedOnKey, value: null }]);
    }
  }
  upsertSearchAttributes([{ key: statusKey, value: standing.clone_status }]);
  await condition(allHandlersFinished);
  const { features, plans, errors } = standing;
  return { target_environment_id: start.environmentId, features, plans, errors };
}

function nextStep(
  start: EnvironmentCloneStart,
  standing: EnvironmentCloneStanding | null,
): Promise<EnvironmentCloneStanding> {
  const summary = standing ? `${standing.copying}s${standing.behind && ` behind ${standing.behind}`}` : titleOf(start);
  const step = proxyActivities<EnvironmentCloneActivities>({ ...bulkStep, summary });
  return standing ? step.cloneItems(start) : step.beginEnvironmentClone(start);
}

function titleOf({ sourceEnvironmentId, environmentId }: EnvironmentCloneStart): string {
  return `Clone of environment ${sourceEnvironmentId} into ${environmentId}`;
}

function detailsOf(start: EnvironmentCloneStart, { clone_status, features, plans }: EnvironmentCloneStanding): string {
  return `${titleOf(start)}\n\n${clone_status} · features: ${countsText(features)} · plans: ${countsText(plans)}`;
}

function countsText({ cloned, skipped, failed }: CloneCounts): string {
  return `${cloned} copied, ${skipped} there already, ${failed} failed`;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  return cause.message.slice(0, 300);
}
