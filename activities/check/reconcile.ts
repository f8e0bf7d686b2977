import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/common';
import { realNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { type LifecycleKind, lifecycleKinds } from '../../lifecycles/kinds.ts';
import { begunClone } from '../../services/catalogue/clone/environment-clone.ts';
import { type LiveObject, liveObjects } from '../../services/lifecycle/live-object.ts';
import { timerSpread } from '../../services/lifecycle/timer-spread.ts';
import { usageWatchStartOptions, usageWatchWorkflowType } from '../../workflows/alert/usage-watch.messages.ts';
import {
  customerOnboardingWorkflowType,
  onboardingStartOptions,
} from '../../workflows/customer/customer-onboarding.messages.ts';
import {
  providerInboxStartOptions,
  providerInboxWorkflowType,
} from '../../workflows/integration/provider-inbox.messages.ts';
import {
  environmentCloneStartOptions,
  environmentCloneWorkflowType,
} from '../../workflows/platform/environment-clone.messages.ts';
import { importWorkflowType } from '../../workflows/platform/task.messages.ts';
import { importStartOptions } from '../../workflows/platform/task-start.messages.ts';
import { testClockStartOptions, testClockWorkflowType } from '../../workflows/platform/test-clock.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { meterBuildStartOptions, meterBuildWorkflowType } from '../../workflows/usage/meter-build.messages.ts';
import { walletStartDelayMs } from '../../workflows/wallet/wallet-start.messages.ts';

const pageSize = 500;
const maxStarting = 32;

/**
 * Starts the workflow of every live object that has none: after a loss of Temporal's storage, or for what a crash left
 * between a commit and a start. Running workflows are left alone, and nothing is billed twice, because rows decide. With
 * `restarts` the workflows of lifecycles and test clocks are ended and begun again from their rows: after PostgreSQL was
 * restored from a backup they remember what their rows do not know. design: architecture §3, §8
 */
export async function reconcile({
  database,
  temporal,
  timerSpreadMs = 0,
  restarts = false,
}: {
  database: Database;
  temporal: Client;
  timerSpreadMs?: number;
  restarts?: boolean;
}): Promise<{ live: number; started: number }> {
  let live = 0;
  let started = 0;
  for (let after: LiveObject | null = null; ; ) {
    const page: LiveObject[] = await inSqlTransaction(database, systemScope, (tx) => liveObjects(tx, after, pageSize));
    const last = page.at(-1);
    if (!last) break;
    const waiting = [...page];
    await Promise.all(
      Array.from({ length: maxStarting }, async () => {
        for (let object = waiting.shift(); object; object = waiting.shift()) {
          const wasStarted = await startObject({ database, temporal, timerSpreadMs }, object, restarts);
          if (wasStarted) started += 1;
        }
      }),
    );
    live += page.length;
    after = last;
  }
  return { live, started };
}

/** Starts one object's workflow; false when it was running. */
export function startObject(
  { database, temporal, timerSpreadMs = 0 }: { database: Database; temporal: Client; timerSpreadMs?: number },
  object: LiveObject,
  restarts: boolean,
): Promise<boolean> {
  if (object.objectType === 'test_clock') return startClock(temporal, object, restarts);
  if (object.objectType === 'usage_watch') return startUsageWatch(temporal, object);
  if (object.objectType === 'customer_onboarding') return startOnboarding(temporal, object);
  if (object.objectType === 'meter_build') return startMeterBuild(temporal, object);
  if (object.objectType === 'environment_clone') return startClone(database, temporal, object);
  if (object.objectType === 'task') return startImport(temporal, object);
  if (object.objectType === 'provider_inbox') return startProviderInbox(temporal, object);
  return startLifecycle(temporal, object, { restarts, timerSpreadMs });
}

async function startImport(temporal: Client, { tenantId, environmentId, objectId }: LiveObject): Promise<boolean> {
  const start = { tenantId, environmentId, taskId: objectId };
  return unlessRunning(() => temporal.workflow.start(importWorkflowType, importStartOptions(start)));
}

async function startUsageWatch(temporal: Client, { tenantId, environmentId }: LiveObject): Promise<boolean> {
  const options = usageWatchStartOptions({ tenantId, environmentId });
  const workflowIdConflictPolicy = WorkflowIdConflictPolicy.FAIL;
  return unlessRunning(() => temporal.workflow.start(usageWatchWorkflowType, { ...options, workflowIdConflictPolicy }));
}

async function startProviderInbox(temporal: Client, object: LiveObject): Promise<boolean> {
  const { tenantId, environmentId, objectId: connectionId } = object;
  const options = providerInboxStartOptions({ tenantId, environmentId, connectionId });
  const workflowIdConflictPolicy = WorkflowIdConflictPolicy.FAIL;
  return unlessRunning(() =>
    temporal.workflow.start(providerInboxWorkflowType, { ...options, workflowIdConflictPolicy }),
  );
}

async function startOnboarding(temporal: Client, object: LiveObject): Promise<boolean> {
  const { tenantId, environmentId, customerId, objectId: onboardingId } = object;
  const options = onboardingStartOptions({ tenantId, environmentId, customerId, onboardingId });
  return unlessRunning(() => temporal.workflow.start(customerOnboardingWorkflowType, options));
}

async function startMeterBuild(temporal: Client, object: LiveObject): Promise<boolean> {
  const { tenantId, environmentId, objectId: meterId } = object;
  const options = meterBuildStartOptions({ tenantId, environmentId, meterId });
  const workflowIdConflictPolicy = WorkflowIdConflictPolicy.FAIL;
  return unlessRunning(() => temporal.workflow.start(meterBuildWorkflowType, { ...options, workflowIdConflictPolicy }));
}

async function startClone(database: Database, temporal: Client, object: LiveObject): Promise<boolean> {
  const { tenantId, environmentId, objectId: cloneId } = object;
  const begun = await inSqlTransaction(database, systemScope, (tx) => begunClone(tx, cloneId));
  const caller = { actor: begun.actor, requestId: '' };
  const options = environmentCloneStartOptions({
    tenantId,
    environmentId,
    cloneId,
    caller,
    sourceEnvironmentId: begun.sourceEnvironmentId,
  });
  return unlessRunning(() => temporal.workflow.start(environmentCloneWorkflowType, options));
}

async function startLifecycle(
  temporal: Client,
  object: LiveObject,
  { restarts, timerSpreadMs }: { restarts: boolean; timerSpreadMs: number },
): Promise<boolean> {
  const kind = object.objectType as LifecycleKind;
  const firstAt = object.firstAt ? instantText(object.firstAt) : null;
  const waits = { firstAt, spreadMs: timerSpread(object.objectId, timerSpreadMs), now: realNow() };
  const delayMs = lifecycleKinds[kind].sleeps ? walletStartDelayMs(object, waits) : 0;
  const options = lifecycleStartOptions(
    kind,
    {
      tenantId: object.tenantId,
      environmentId: object.environmentId,
      objectId: object.objectId,
      customerId: object.customerId,
      testClockId: object.testClockId,
      clockTime: object.clockTime ? instantText(object.clockTime) : null,
      creating: false,
    },
    lifecycleTaskQueue,
  );
  return unlessRunning(() =>
    temporal.workflow.start(lifecycleKinds[kind].workflowType, {
      ...options,
      ...(delayMs > 0 ? { startDelay: delayMs } : {}),
      workflowIdConflictPolicy: whereOneRuns(restarts),
    }),
  );
}

function whereOneRuns(restarts: boolean): WorkflowIdConflictPolicy {
  return restarts ? WorkflowIdConflictPolicy.TERMINATE_EXISTING : WorkflowIdConflictPolicy.FAIL;
}

async function startClock(temporal: Client, object: LiveObject, restarts: boolean): Promise<boolean> {
  const { tenantId, environmentId, objectId: testClockId } = object;
  return unlessRunning(() =>
    temporal.workflow.start(testClockWorkflowType, {
      ...testClockStartOptions({ tenantId, environmentId, testClockId }),
      workflowIdConflictPolicy: whereOneRuns(restarts),
    }),
  );
}

async function unlessRunning(begin: () => Promise<unknown>): Promise<boolean> {
  try {
    await begin();
    return true;
  } catch (error) {
    if ((error as Error).name === 'WorkflowExecutionAlreadyStartedError') return false;
    throw error;
  }
}
