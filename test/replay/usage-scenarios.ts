import { reprocessWorkflowId } from '../../workflows/event-reprocess.messages.ts';
import type { Stage } from './scenarios.ts';

/** Raw events that could not be read are read again, once there is a mapping that knows their shape. */
export async function rawEventsScenario({ platform }: Stage): Promise<void> {
  const { api, temporal, scope } = platform;
  await api('POST', '/events/raw/bulk', { events: [{ what: 'call', who: 'nobody' }] });
  await api('PUT', '/settings/raw_event_config', { value: { event_name: 'what', external_customer_id: 'who' } });
  await api('POST', '/events/raw/reprocess/pending', { start_date: '2020-01-01T00:00:00Z' });
  await temporal.workflow.getHandle(reprocessWorkflowId(scope.environmentId)).result();
}
