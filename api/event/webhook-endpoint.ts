import type { Client } from '@temporalio/client';
import type { Scope } from '../../db/scope.ts';
import {
  standingChanged,
  webhookEndpointStartOptions,
  webhookEndpointWorkflowType,
} from '../../workflows/event/webhook-endpoint.messages.ts';

const signalTimeoutMs = 5_000;

/**
 * Has the workflow of an endpoint say how it stands after a change, once that is committed. It is about what is shown: a failure never
 * fails the request, and the next change or failed attempt tells it again. design: people-and-events §A 5
 */
export function endpointTold(
  temporal: Client,
  warn: (error: unknown) => void,
): (scope: Scope, endpointId: string) => void {
  return ({ tenantId, environmentId }, endpointId) => {
    const options = webhookEndpointStartOptions({ tenantId, environmentId, endpointId });
    temporal
      .withDeadline(Date.now() + signalTimeoutMs, () =>
        temporal.workflow.signalWithStart(webhookEndpointWorkflowType, { ...options, signal: standingChanged }),
      )
      .catch(warn);
  };
}
