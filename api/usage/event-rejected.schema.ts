import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import { type RejectedEvent, type RejectedEventQuery, rejectionReasons } from '../../metering/rejected-event.ts';
import { wireInstant } from '../../metering/timestamp.ts';
import { timestampOutput } from '../scalars.schema.ts';

const defaultLimit = 50;

export const rejectedEventQuery = z.object({
  event_name: z.string().optional(),
  external_customer_id: z.string().optional(),
  reason: z.enum(rejectionReasons).optional(),
  after: z.string().max(100).optional().describe('`next` of an earlier page; absent to start with the newest.'),
  limit: z.coerce.number().int().min(1).max(1_000).optional().describe(`${defaultLimit} when absent.`),
});

/** What a query string asks for. Throws `validation_error` for a cursor that is not ours. */
export function rejectedQueryOf(query: z.output<typeof rejectedEventQuery>): RejectedEventQuery {
  if (query.after !== undefined && !/^\d{1,18}$/.test(query.after)) {
    throw badField('after', 'must be `next` of an earlier page, or absent to start with the newest');
  }
  return {
    limit: query.limit ?? defaultLimit,
    ...(query.event_name === undefined ? {} : { eventName: query.event_name }),
    ...(query.external_customer_id === undefined ? {} : { externalCustomerId: query.external_customer_id }),
    ...(query.reason === undefined ? {} : { reason: query.reason }),
    ...(query.after === undefined ? {} : { after: query.after }),
  };
}

const rejectedEvent = z
  .object({
    event_id: z.string(),
    event_name: z.string(),
    external_customer_id: z.string(),
    timestamp: timestampOutput(),
    rejected_at: timestampOutput(),
    reason: z.enum(rejectionReasons),
    problem: z.string().nullable().describe('Why the database could not store it; null for what no meter counted.'),
  })
  .meta({ id: 'RejectedEvent' });

/** Own operation; spec: catalogue-and-metering §6.6 */
export const rejectedEventPage = z
  .object({
    items: z.array(rejectedEvent),
    next: z.string().describe('Send it as `after` for older ones; empty at the end.'),
    has_more: z.boolean(),
  })
  .meta({ id: 'RejectedEventPage' });

export function viewRejectedEvents(page: {
  events: readonly RejectedEvent[];
  hasMore: boolean;
}): z.output<typeof rejectedEventPage> {
  return {
    items: page.events.map((event) => ({
      event_id: event.eventId,
      event_name: event.eventName,
      external_customer_id: event.externalCustomerId,
      timestamp: wireInstant(event.timestamp),
      rejected_at: wireInstant(event.rejectedAt),
      reason: event.reason,
      problem: event.problem,
    })),
    next: page.hasMore ? (page.events.at(-1)?.cursor ?? '') : '',
    has_more: page.hasMore,
  };
}
