import type { SignalDefinition } from '@temporalio/common';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../start.messages.ts';
import {
  autoTopUpWorkflowId,
  autoTopUpWorkflowType,
  methodChanged,
  paymentSettled,
  settingsChanged,
  type TopUpNews,
} from './auto-top-up.messages.ts';

const signals = { methodChanged, paymentSettled, settingsChanged };

/** A change of a wallet's top-ups: see `ChangedTopUp` of the store. */
interface Changed {
  id: string;
  customerId: string;
  testClockId: string | null;
  at: string;
  change: keyof typeof signals;
  isOver: boolean;
}

type SignalWithStart = ReturnType<typeof startOptions> & {
  signal: SignalDefinition<[TopUpNews]>;
  signalArgs: [TopUpNews];
};

/** The part of a Temporal client that is used. */
interface WorkflowClient {
  signalWithStart(workflowType: string, options: SignalWithStart): Promise<unknown>;
  getHandle(workflowId: string): { signal(signal: SignalDefinition<[TopUpNews]>, news: TopUpNews): Promise<void> };
}

/**
 * Tells workflows of changed top-ups after the commit, and begins those that do not run. What fails is told to `warn`: the change is in
 * the rows, and what is due is on the agenda, where reconcile finds it.
 */
export function topUpTeller(workflow: WorkflowClient, warn: (error: unknown, walletId: string) => void) {
  return (owner: { tenantId: string; environmentId: string }, changed: Changed): void => {
    const { id, at, change, isOver } = changed;
    const told = isOver
      ? workflow.getHandle(autoTopUpWorkflowId(id)).signal(signals[change], { at })
      : workflow.signalWithStart(autoTopUpWorkflowType, {
          ...startOptions(owner, changed),
          signal: signals[change],
          signalArgs: [{ at }],
        });
    told.catch((error: unknown) => {
      // A workflow that was to end may have ended.
      if ((error as Error).name !== 'WorkflowNotFoundError') warn(error, id);
    });
  };
}

function startOptions(
  { tenantId, environmentId }: { tenantId: string; environmentId: string },
  { id: objectId, customerId, testClockId, at }: Omit<Changed, 'change' | 'isOver'>,
) {
  const clockTime = testClockId === null ? null : at;
  const start = { tenantId, environmentId, objectId, customerId, testClockId, clockTime, creating: false };
  return lifecycleStartOptions('auto_top_up', start, lifecycleTaskQueue);
}
