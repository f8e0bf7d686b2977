import type { Client } from '@temporalio/client';
import {
  notificationStored,
  type ProviderInboxStart,
  providerInboxStartOptions,
  providerInboxWorkflowType,
} from '../../workflows/integration/provider-inbox.messages.ts';

const signalTimeoutMs = 5_000;

/**
 * Tells the workflow of a connection's notifications that some were stored, after their commit; one message is under way at a time, and says
 * for all that came meanwhile. It never fails a request that is done: whoever is not told is found by the lifecycle watch.
 */
export function providerInboxSignal(
  temporal: Client,
  warn: (error: unknown) => void,
): (start: ProviderInboxStart) => void {
  const underWay = new Map<string, 'told' | 'tell again'>();

  async function tell(start: ProviderInboxStart): Promise<void> {
    const { connectionId } = start;
    do {
      underWay.set(connectionId, 'told');
      await temporal
        .withDeadline(Date.now() + signalTimeoutMs, () =>
          temporal.workflow.signalWithStart(providerInboxWorkflowType, {
            ...providerInboxStartOptions(start),
            signal: notificationStored,
          }),
        )
        .catch(warn);
    } while (underWay.get(connectionId) === 'tell again');
    underWay.delete(connectionId);
  }

  return (start) => {
    if (underWay.has(start.connectionId)) underWay.set(start.connectionId, 'tell again');
    else void tell(start);
  };
}
