import { z } from 'zod';
import { type EventInput, type PreparedEvent, prepareEvent } from '../../metering/event.ts';
import { pageKeys } from '../../metering/event-page.ts';
import { maxTextLength } from '../../metering/event-text.ts';
import { wireInstant } from '../../metering/timestamp.ts';
import type { Attribution, EventPage, EventWithCopies, StoredEvent } from '../../metering/usage-store.ts';
import { offsetInput, offsetQuery } from '../list.ts';
import { parseJson } from '../plugins/json-body.ts';

const maxBulkEvents = 1_000;

/**
 * A JSON object as it came. A number that a float cannot hold is an object too until it is written (api/plugins/json-body.ts),
 * but no such one.
 */
export function jsonObject() {
  return z
    .custom<Record<string, unknown>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value),
      'must be a JSON object',
    )
    .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} });
}

/** `prepareEvent` checks the length. */
const short = z.string().meta({ maxLength: maxTextLength });

/** One usage event. spec: catalogue-and-metering §6.2 */
export const ingestEventBody = z
  .object({
    event_name: short.meta({ examples: ['api_call'] }),
    external_customer_id: short.meta({ examples: ['acme'] }),
    event_id: short.nullish().describe('The caller’s idempotency key. Made when absent.'),
    customer_id: z.string().nullish(),
    timestamp: z
      .string()
      .nullish()
      .meta({ format: 'date-time', examples: ['2026-01-31T00:00:00Z'] }),
    source: short.nullish(),
    properties: jsonObject().nullish().describe('Names to 255 characters, texts to 65 536; 64 levels; 4 MiB of JSON.'),
  })
  .meta({ id: 'IngestEventRequest' });

export const ingestEventsBulkBody = z
  .object({
    events: z
      .array(ingestEventBody)
      .min(1, 'must hold 1 to 1000 events')
      .max(maxBulkEvents, 'must hold 1 to 1000 events'),
  })
  .meta({ id: 'BulkIngestEventRequest' });

/** Members are strings only: the published client reads the answer as a map of strings. spec: §1.4 */
export const eventAccepted = z.object({ message: z.string(), event_id: z.string() }).meta({ id: 'EventAccepted' });
export const eventsAccepted = z.object({ message: z.string() }).meta({ id: 'EventsAccepted' });

/**
 * The events of a request, ready to be stored. With an `Idempotency-Key`, an event without an id gets one that the same
 * request gets again, so that a retry counts once. Throws `validation_error` naming the first bad element.
 */
export function preparedEvents(events: readonly EventInput[], key: string | null, isBulk: boolean): PreparedEvent[] {
  return events.map((event, index) => {
    const id = event.event_id?.trim() || key === null ? event.event_id : `${key}#${index}`;
    return prepareEvent({ ...event, event_id: id }, isBulk ? `events[${index}].` : '');
  });
}

export const event = z
  .object({
    id: z.string(),
    external_customer_id: z.string(),
    customer_id: z.string().nullable(),
    event_name: z.string(),
    timestamp: z.string(),
    ingested_at: z.string(),
    source: z.string(),
    properties: z.record(z.string(), z.unknown()),
    environment_id: z.string(),
  })
  .meta({ id: 'Event' });

export function viewEvent(stored: StoredEvent, environmentId: string): z.output<typeof event> {
  return {
    id: stored.id,
    external_customer_id: stored.externalCustomerId,
    customer_id: stored.customerId,
    event_name: stored.eventName,
    timestamp: wireInstant(stored.timestamp),
    ingested_at: wireInstant(stored.ingestedAt),
    source: stored.source ?? '',
    properties: stored.properties === null ? {} : (parseJson(stored.properties) as Record<string, unknown>),
    environment_id: environmentId,
  };
}

const propertyFilters = z.record(z.string(), z.array(z.string()));

/** The raw listing. spec: catalogue-and-metering §6.4 */
export const eventQueryBody = z
  .object({
    external_customer_id: z.string().nullish(),
    event_name: z.string().nullish(),
    event_id: z.string().nullish(),
    source: z.string().nullish(),
    start_time: z.string().nullish(),
    end_time: z.string().nullish(),
    property_filters: propertyFilters.nullish(),
    page_size: z.int().nullish(),
    offset: offsetInput.nullish(),
    iter_first_key: z.string().nullish(),
    iter_last_key: z.string().nullish(),
    sort: z.enum(['timestamp', 'event_name']).nullish(),
    order: z.enum(['asc', 'desc']).nullish(),
  })
  .meta({ id: 'GetEventsRequest' });
export type EventQueryBody = z.output<typeof eventQueryBody>;

/** The same as a query string; `property_filters` is `key:v1,v2;key2:v3`. */
export const eventListQuery = eventQueryBody.extend({
  property_filters: z
    .string()
    .refine((text) => text.split(';').every((part) => part.indexOf(':') > 0), 'must look like key:v1,v2;key2:v3')
    .transform((text) => Object.fromEntries(text.split(';').map(filterOfText)))
    .optional(),
  page_size: z.coerce.number().int().optional(),
  offset: offsetQuery.optional(),
});

function filterOfText(text: string): [string, string[]] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1).split(',')];
}

export const eventPage = z
  .object({
    events: z.array(event),
    has_more: z.boolean(),
    iter_first_key: z.string(),
    iter_last_key: z.string(),
    offset: z.int(),
    total_count: z.int(),
  })
  .meta({ id: 'GetEventsResponse' });

export function viewEventPage(page: EventPage, environmentId: string, nextOffset: number): z.output<typeof eventPage> {
  return {
    events: page.events.map((stored) => viewEvent(stored, environmentId)),
    has_more: page.hasMore,
    ...pageKeys(page.events, page.hasMore),
    offset: nextOffset,
    total_count: page.totalCount,
  };
}

const step = z.enum(['unprocessed', 'not_found', 'found', 'error', 'processing', 'attributed']);
const text = z.string().nullable();
const matchedLine = z.object({
  sub_line_item_id: z.string(),
  subscription_id: z.string(),
  price_id: z.string(),
  start_date: z.string(),
  end_date: text,
  is_active_for_event: z.boolean(),
  timestamp_within_range: z.boolean(),
  subscription_line_item: z.null(),
});

/** One event with all its copies. spec: catalogue-and-metering §6.5 */
export const eventWithCopies = z
  .object({
    event,
    events: z.array(event.extend({ same_payload: z.boolean() })),
    status: z.enum(['processed', 'processing', 'failed']),
    voided_at: z.string().nullable().describe('Own: since when it does not count any more.'),
    void_reason: z.string().nullable(),
    processed_events: z.array(
      z.object({
        customer_id: text,
        subscription_id: text,
        sub_line_item_id: text,
        price_id: text,
        meter_id: z.string(),
        feature_id: text,
        qty_total: z.string(),
        processed_at: z.string(),
      }),
    ),
    debug_tracker: z.object({
      customer_lookup: z.object({ status: step, customer_id: text, customer: z.null(), error: z.null() }),
      meter_matching: z.object({
        status: step,
        error: z.null(),
        matched_meters: z.array(z.object({ meter_id: z.string(), event_name: z.string(), meter: z.null() })),
      }),
      price_lookup: z.object({
        status: step,
        error: z.null(),
        matched_prices: z.array(
          z.object({ price_id: z.string(), meter_id: z.string(), status: z.string(), price: z.null() }),
        ),
      }),
      subscription_line_item_lookup: z.object({
        status: step,
        error: z.null(),
        matched_line_items: z.array(matchedLine),
      }),
      attributed_to_customer: z.object({ status: step }),
      failure_point: z.object({ failure_point_type: z.string(), error: z.null() }).nullable(),
    }),
  })
  .meta({ id: 'GetEventByIDResponse' });

export function viewEventWithCopies(found: EventWithCopies, environmentId: string): z.output<typeof eventWithCopies> {
  const effective = viewEvent(found.event, environmentId);
  const isCounted = found.attributions.length > 0 && found.voided === null;
  return {
    event: effective,
    events: found.copies.map((copy) => ({ ...viewEvent(copy, environmentId), same_payload: copy.samePayload })),
    status: isCounted ? 'processed' : 'failed',
    voided_at: found.voided === null ? null : wireInstant(found.voided.voidedAt),
    void_reason: found.voided?.reason ?? null,
    processed_events: !isCounted ? [] : found.attributions.flatMap((attribution) => processed(attribution, effective)),
    debug_tracker: tracker(found),
  };
}

type Processed = z.output<typeof eventWithCopies>['processed_events'];

function processed(attribution: Attribution, effective: z.output<typeof event>): Processed {
  const shared = {
    customer_id: effective.customer_id,
    meter_id: attribution.meterId,
    feature_id: attribution.featureId,
    qty_total: attribution.quantity,
    processed_at: effective.ingested_at,
  };
  const lines = attribution.lineItems.filter((line) => line.coversEvent);
  if (lines.length === 0) return [{ ...shared, subscription_id: null, sub_line_item_id: null, price_id: null }];
  return lines.map((line) => ({
    ...shared,
    subscription_id: line.subscriptionId,
    sub_line_item_id: line.id,
    price_id: line.priceId,
  }));
}

/** How far the event came: the first step that found nothing is the failure point. */
function tracker(found: EventWithCopies): z.output<typeof eventWithCopies>['debug_tracker'] {
  const lines = found.attributions.flatMap((attribution) =>
    attribution.lineItems.map((line) => ({ ...line, meterId: attribution.meterId })),
  );
  const steps = [
    { type: 'customer_lookup', done: found.event.customerId !== null },
    { type: 'meter_lookup', done: found.attributions.length > 0 },
    { type: 'price_lookup', done: lines.length > 0 },
    { type: 'subscription_line_item_lookup', done: lines.some((line) => line.coversEvent) },
  ];
  const failed = steps.find((each) => !each.done);
  // Behind the first failing step nothing was looked up any more; what is known all the same is shown.
  const status = (index: number) =>
    steps[index]?.done ? 'found' : steps[index] === failed ? 'not_found' : 'unprocessed';
  return {
    customer_lookup: { status: status(0), customer_id: found.event.customerId, customer: null, error: null },
    meter_matching: {
      status: status(1),
      error: null,
      matched_meters: found.attributions.map((each) => ({
        meter_id: each.meterId,
        event_name: found.event.eventName,
        meter: null,
      })),
    },
    price_lookup: {
      status: status(2),
      error: null,
      matched_prices: lines.map((line) => ({
        price_id: line.priceId,
        meter_id: line.meterId,
        status: 'found',
        price: null,
      })),
    },
    subscription_line_item_lookup: {
      status: status(3),
      error: null,
      matched_line_items: lines.map((line) => ({
        sub_line_item_id: line.id,
        subscription_id: line.subscriptionId,
        price_id: line.priceId,
        start_date: wireInstant(line.startDate),
        end_date: line.endDate === null ? null : wireInstant(line.endDate),
        is_active_for_event: line.coversEvent,
        timestamp_within_range: line.coversEvent,
        subscription_line_item: null,
      })),
    },
    attributed_to_customer: { status: failed ? 'unprocessed' : 'attributed' },
    failure_point: failed ? { failure_point_type: failed.type, error: null } : null,
  };
}
