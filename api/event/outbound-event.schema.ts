import { z } from 'zod';
import type { FeedEvent, FeedPage } from '../../services/event/outbound-event.ts';
import { timestampOutput } from '../scalars.schema.ts';

const defaultLimit = 100;
const maxLimit = 1_000;
const maxWaitSeconds = 30;

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be an integer from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, { message: `must be an integer from ${least} to ${most}` })
    .meta({ type: 'integer', minimum: least, maximum: most });

export const outboundEventQuery = z.object({
  after: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('A `cursor` or `next` of this feed; `latest` for the present end; absent to start with the first event.'),
  limit: wholeNumber(1, maxLimit).optional().describe(`At most so many events; ${defaultLimit} when absent.`),
  wait: wholeNumber(0, maxWaitSeconds)
    .optional()
    .describe('Seconds to wait for an event when there is none; 0 when absent.'),
});

/** The page a query string asks for. */
export function feedQueryOf(query: z.output<typeof outboundEventQuery>) {
  return { after: query.after ?? null, limit: query.limit ?? defaultLimit, waitMs: (query.wait ?? 0) * 1_000 };
}

const outboundEvent = z
  .object({
    id: z.string(),
    cursor: z.string().describe('The position right after this event.'),
    event_type: z.string(),
    entity_type: z.string(),
    entity_id: z.string(),
    sequence: z.int().describe('Counts the events of this object from 1 without a gap.'),
    occurred_at: timestampOutput(),
    created_at: timestampOutput(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OutboundEvent' });

export const outboundEventPage = z
  .object({
    items: z.array(outboundEvent),
    next: z.string().describe('Send it as `after` to go on from here.'),
    has_more: z.boolean(),
  })
  .meta({ id: 'OutboundEventPage' });

export function viewOutboundEventPage(page: FeedPage): z.output<typeof outboundEventPage> {
  return { items: page.events.map(viewEvent), next: page.next, has_more: page.hasMore };
}

/** JSON of one event, the same as an element of `items` has. */
export function outboundEventText(event: FeedEvent): string {
  return JSON.stringify(z.encode(outboundEvent, viewEvent(event)));
}

function viewEvent(event: FeedEvent): z.output<typeof outboundEvent> {
  return {
    id: event.id,
    cursor: event.cursor,
    event_type: event.eventName,
    entity_type: event.entityType,
    entity_id: event.entityId,
    sequence: event.sequence,
    occurred_at: event.occurredAt,
    created_at: event.createdAt,
    payload: event.payload,
  };
}
