import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Usage events: what goes in is counted at the answer. */
export function eventCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  const january = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-02-01T00:00:00Z' };
  const event = (eventId: string, units: string, region = 'eu') => ({
    eventId,
    eventName: made.eventName,
    externalCustomerId: made.externalId,
    timestamp: '2026-01-10T12:00:00Z',
    source: 'conformance',
    properties: { units, region },
  });
  const events: AreaCalls = {
    async ingestEvent() {
      expect(await client.events.ingestEvent(event('event-1', '100'))).toMatchObject({ event_id: 'event-1' });
    },
    async ingestEventsBulk() {
      await client.events.ingestEventsBulk({
        events: [event('event-2', '120.5'), event('event-3', '1000', 'elsewhere'), event('event-1', '7')],
      });
    },
    async getUsageByMeter() {
      const usage = await client.events.getUsageByMeter({
        meterId: made.meterId,
        externalCustomerId: made.externalId,
        ...january,
      });
      expect(usage).toMatchObject({ value: 220.5, type: 'SUM', eventName: made.eventName });
    },
    async getUsageStatistics() {
      const usage = await client.events.getUsageStatistics({
        eventName: made.eventName,
        aggregationType: 'COUNT',
        externalCustomerId: made.externalId,
        ...january,
      });
      expect(usage).toMatchObject({ value: 3, type: 'COUNT' });
    },
    async listRawEvents() {
      const page = await client.events.listRawEvents({
        externalCustomerId: made.externalId,
        ...january,
        pageSize: 2,
        source: 'conformance',
      });
      expect(page).toMatchObject({ hasMore: true, events: [{ eventName: made.eventName }, {}] });
      expect(page.events).toHaveLength(2);
    },
    async getEvent() {
      const { event: found } = await client.events.getEvent('event-2');
      expect(present(found)).toMatchObject({
        id: 'event-2',
        externalCustomerId: made.externalId,
        properties: { units: '120.5', region: 'eu' },
      });
    },
  };
  return { events };
}
