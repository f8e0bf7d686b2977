import { setTimeout } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, type UpdateDefinition } from '@temporalio/common';
import { refuse } from '../billing/refusal.ts';
import type { Scope } from '../db/scope.ts';
import { type LifecycleKind, lifecycleKinds } from '../lifecycles/kinds.ts';
import { type Caller, type Command, type LifecycleStart, rowChanged } from '../workflows/lifecycle.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../workflows/start.messages.ts';
import { isBusyWorkflow } from './errors.ts';

const commandTimeoutMs = 30_000;
const signalTimeoutMs = 5_000;
/** A command that was not taken is sent again after these pauses, as long as its request has time. */
const firstPauseMs = 20;
const longestPauseMs = 1_000;

/** The object a command is for. `at` is its customer's present (`customerNow`). */
export interface LifecycleObject {
  kind: LifecycleKind;
  id: string;
  customerId: string;
  testClockId: string | null;
  at: string;
  /** True when the command makes the object, so that its workflow begins with it. */
  creating?: boolean;
}

type Sender = { temporal: Client; scope: Scope };

/**
 * Sends a command to the workflow of an object, starting that workflow when none runs, and returns its answer. A refusal is
 * thrown as it was thrown inside; an answer that is not there in time is `service_unavailable`, and the command may still
 * be carried out. A request passes as it is: `updateObject(request, object, finalizeInvoice, {})`.
 * design: architecture §2 Lifecycle
 */
export async function updateObject<Answer, Message extends Command>(
  { temporal, scope }: Sender,
  object: LifecycleObject,
  update: UpdateDefinition<Answer, [Message]>,
  message: Omit<Message, keyof Command>,
  answerWithinMs = commandTimeoutMs,
): Promise<Answer> {
  const start: LifecycleStart = {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    objectId: object.id,
    customerId: object.customerId,
    testClockId: object.testClockId,
    clockTime: object.testClockId === null ? null : object.at,
    creating: object.creating ?? false,
  };
  const args: [Message] = [{ ...message, caller: callerOf(scope), at: object.at } as Message];
  const { workflowType } = lifecycleKinds[object.kind];
  const options = lifecycleStartOptions(object.kind, start, lifecycleTaskQueue);
  const send = () => {
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, options);
    return temporal.workflow.executeUpdateWithStart(update, { startWorkflowOperation, args });
  };
  return answered(temporal, object, answerWithinMs, send);
}

/** Talks to a workflow that should be running; null when none is. Errors as `updateObject`. */
export async function updateRunning<Answer>(
  temporal: Client,
  object: Pick<LifecycleObject, 'kind' | 'id'>,
  send: (workflow: WorkflowHandle) => Promise<Answer>,
): Promise<Answer | null> {
  const workflow = temporal.workflow.getHandle(lifecycleKinds[object.kind].workflowId(object.id));
  try {
    return await answered(temporal, object, commandTimeoutMs, () => send(workflow));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/**
 * Tells the workflow of an object that its row changed without it, after the commit. A workflow that does not hear of it
 * finds out at its next step, because every activity reads the row again: so this never fails a request that is done.
 */
export async function tellRunning(
  { temporal, log }: { temporal: Client; log: { warn(fields: object, message: string): void } },
  { kind, id, clockTime = null }: Pick<LifecycleObject, 'kind' | 'id'> & { clockTime?: string | null },
): Promise<void> {
  const workflow = temporal.workflow.getHandle(lifecycleKinds[kind].workflowId(id));
  try {
    await temporal.withDeadline(Date.now() + signalTimeoutMs, () => workflow.signal(rowChanged, clockTime));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError))
      log.warn({ err: error, kind, id }, 'a workflow was not told of a change');
  }
}

/**
 * Has the workflow of an object that changed read it again, starting it when none runs, after the commit. Like `tellRunning` it
 * never fails a request that is done: what did not start is started by reconcile, because the agenda is written.
 */
export async function tellOrStart(
  request: Sender & { log: { warn(fields: object, message: string): void } },
  object: LifecycleObject,
): Promise<void> {
  try {
    await wakeObject(request, object);
  } catch (error) {
    request.log.warn({ err: error, kind: object.kind, id: object.id }, 'the workflow of a change was not told of it');
  }
}

/** Which run of which workflow was told. */
export interface WokenRun {
  workflowId: string;
  runId: string;
}

/** Has the workflow of an object read it again and do what is due, starting it when none runs; answers which run was told. */
export async function wakeObject(
  { temporal, scope }: Sender,
  { kind, id, customerId, testClockId, at }: LifecycleObject,
): Promise<WokenRun> {
  const { tenantId, environmentId } = scope;
  const clockTime = testClockId === null ? null : at;
  const start = { tenantId, environmentId, objectId: id, customerId, testClockId, clockTime, creating: false };
  const options = lifecycleStartOptions(kind, start, lifecycleTaskQueue);
  const told = { ...options, signal: rowChanged, signalArgs: [clockTime] as [string | null] };
  const handle = await temporal.withDeadline(Date.now() + signalTimeoutMs, () =>
    temporal.workflow.signalWithStart(lifecycleKinds[kind].workflowType, told),
  );
  return { workflowId: handle.workflowId, runId: handle.signaledRunId };
}

/** Who asks, as rows and audit name them. */
export function callerOf(scope: Scope): Caller {
  return { actor: scope.actor, requestId: scope.requestId };
}

async function answered<Answer>(
  temporal: Client,
  { kind, id }: Pick<LifecycleObject, 'kind' | 'id'>,
  answerWithinMs: number,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const end = Date.now() + answerWithinMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await temporal.withDeadline(end, send);
    } catch (error) {
      if (isNotTaken(error)) {
        if (Date.now() + pauseMs < end) {
          await setTimeout(pauseMs);
          continue;
        }
        throw refuse('service_unavailable', `The ${kind} ${id} is busy and took nothing of this; send it again.`, {
          [`${kind}_id`]: id,
        });
      }
      if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
      throw refuse(
        'service_unavailable',
        `The workflow of ${kind} ${id} did not answer within ${answerWithinMs / 1000} seconds. The request may still be carried out: read the ${kind} before sending it again.`,
        { [`${kind}_id`]: id },
      );
    }
  }
}

/**
 * A command of which nothing was done. The server takes none while tasks of the workflow fail, as when a signal came while a run ended
 * and its last task is done again; and it takes one back when a worker completes a task without having looked at it.
 */
function isNotTaken(error: unknown): boolean {
  if (isBusyWorkflow(error)) return true;
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === 'UnprocessedUpdate';
}
