import type { PhaseEvent } from '../../services/platform/event-catalogue/subscription-events.ts';
import type { RejectionEvent } from '../../services/platform/event-catalogue/usage-events.ts';

const occurredAt = '2026-01-31T00:00:00.000Z';

/** An event that tests of the outbox write by themselves; its object may have any id. */
export function toldPhase(
  id: string,
  name: PhaseEvent['name'] = 'subscription.phase.updated',
  subscriptionId = 'subs_1',
): PhaseEvent {
  const phase = { id, subscription_id: subscriptionId, start_date: occurredAt, end_date: null };
  return { name, entityType: 'phase', entityId: id, payload: { phase }, occurredAt };
}

/** A rejected usage event, told alike. */
export function toldRejection(id: string): RejectionEvent {
  const event = {
    id,
    event_name: 'call',
    customer_id: null,
    external_customer_id: 'acme',
    source: null,
    properties: {},
    timestamp: occurredAt,
  };
  const payload = { reason: 'no_meter_for_event_name' as const, event };
  return { name: 'event.rejected', entityType: 'event', entityId: id, payload, occurredAt };
}
