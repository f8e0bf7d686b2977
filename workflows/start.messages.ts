import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { type LifecycleKind, lifecycleKinds } from '../lifecycles/kinds.ts';
import type { LifecycleStart } from './lifecycle.messages.ts';
import { customerIdKey, environmentIdKey, tenantIdKey, testClockIdKey } from './search-attributes.ts';

/** The task queue of workflows and database activities; tests give each file its own by a suffix. */
export const lifecycleTaskQueue = 'lifecycle';

/** The task queue of what goes through very many rows, with workflows and steps of its own: it delays no renewal. */
export const bulkTaskQueue = 'bulk';

/**
 * How long the server waits for a worker that took a task and was killed; local activities that take longer prolong it.
 * Temporal's own 10 s are what a command under way would stand still after each crash.
 */
export const workflowTaskTimeout = '4s';

/**
 * How the workflow of an object is started, whoever starts it: the API with its first command, a test clock, reconcile.
 * A running one is used; a closed one is started again, because what makes that safe are the rows. design: architecture §3
 */
export function lifecycleStartOptions(kind: LifecycleKind, start: LifecycleStart, taskQueue: string) {
  const { workflowId, noun } = lifecycleKinds[kind];
  const summary = `${noun} ${start.objectId}, customer ${start.customerId}`;
  return {
    workflowId: workflowId(start.objectId),
    taskQueue,
    args: [start] as [LifecycleStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: summary,
    // Temporal drops a summary with the first run, and hands a memo to those that follow.
    memo: { summary },
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: ownerAttributes(start),
  };
}

/** The attributes with which every lifecycle begins, of whatever kind: whose object it is, and its test clock where it has one. */
export function ownerAttributes(
  owner: Pick<LifecycleStart, 'tenantId' | 'environmentId' | 'customerId' | 'testClockId'>,
) {
  return [
    { key: tenantIdKey, value: owner.tenantId },
    { key: environmentIdKey, value: owner.environmentId },
    { key: customerIdKey, value: owner.customerId },
    ...(owner.testClockId === null ? [] : [{ key: testClockIdKey, value: owner.testClockId }]),
  ];
}
