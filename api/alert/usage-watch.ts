import type { Client } from '@temporalio/client';
import type { Scope } from '../../db/scope.ts';
import {
  usageArrived,
  usageWatchStartOptions,
  usageWatchWorkflowType,
} from '../../workflows/alert/usage-watch.messages.ts';

const signalTimeoutMs = 5_000;

/**
 * Tells the watch of an environment that customers were marked, beginning it when none runs. It never fails a request that
 * is done: the marks stay, and the next event, or the look of every 30 seconds, tells of them again.
 */
export function usageWatchSignal(
  temporal: Client,
  warn: (error: unknown) => void = () => undefined,
): (scope: Scope) => void {
  return (scope) => {
    temporal
      .withDeadline(Date.now() + signalTimeoutMs, () =>
        temporal.workflow.signalWithStart(usageWatchWorkflowType, {
          ...usageWatchStartOptions(scope),
          signal: usageArrived,
        }),
      )
      .catch(warn);
  };
}
