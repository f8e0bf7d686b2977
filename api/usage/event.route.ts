import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refusalIn, refuse } from '../../billing/refusal.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type { PreparedEvent } from '../../metering/event.ts';
import { eventPageSize, parseEventCursor } from '../../metering/event-page.ts';
import type { UnstorableEvent } from '../../metering/rejected-event.ts';
import type { SeriesWindows } from '../../metering/series-window.ts';
import type { EventQuery, UsageQuestion } from '../../metering/usage-store.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { eventBodyLimitBytes } from '../plugins/json-body.ts';
import { idParams } from '../scalars.schema.ts';
import {
  type EventQueryBody,
  eventAccepted,
  eventListQuery,
  eventPage,
  eventQueryBody,
  eventsAccepted,
  eventWithCopies,
  ingestEventBody,
  ingestEventsBulkBody,
  preparedEvents,
  viewEventPage,
  viewEventWithCopies,
} from './event.schema.ts';
import {
  timeRange,
  usageAnswer,
  usageBody,
  usageByMeterBody,
  usageQuestion,
  usageQuestionByMeter,
  usageWindows,
  viewUsage,
} from './event-usage.schema.ts';

const tags = ['Events'];

/** Usage events: ingestion, listing, one event, and usage. spec: catalogue-and-metering §6, §7.3, §7.4 */
export async function eventRoutes(app: Api): Promise<void> {
  ingestionRoutes(app);
  usageRoutes(app);
  readingRoutes(app);
}

// A 202 means durable: the answer waits for the commit. Events carry their own idempotency key.
function ingestionRoutes(app: Api): void {
  app.post('/events', {
    bodyLimit: eventBodyLimitBytes,
    schema: {
      operationId: 'ingestEvent',
      tags,
      summary: 'Ingest a usage event',
      body: ingestEventBody,
      response: { 202: eventAccepted, ...errorResponses },
    },
    config: { permission: 'event:write', publishable: true, idempotency: 'none' },
    handler: async (request, reply) => {
      const [event] = preparedEvents([request.body], idempotencyKey(request), false);
      await append(request, reply, event ? [event] : []);
      return { message: 'Event accepted for processing', event_id: event?.id ?? '' };
    },
  });

  app.post('/events/bulk', {
    bodyLimit: eventBodyLimitBytes,
    schema: {
      operationId: 'ingestEventsBulk',
      tags,
      summary: 'Ingest up to 1000 usage events',
      description:
        'Checked before any is stored: the first bad element refuses the request. An event whose data only the database finds bad is rejected alone.',
      body: ingestEventsBulkBody,
      response: { 202: eventsAccepted, ...errorResponses },
    },
    config: { permission: 'event:write', publishable: true, idempotency: 'none' },
    handler: async (request, reply) => {
      const events = preparedEvents(request.body.events, idempotencyKey(request), true);
      const unstorable = await append(request, reply, events);
      if (unstorable === 0) return { message: 'Events accepted for processing' };
      const except = `except ${unstorable} that cannot be stored: see GET /v1/events/rejected?reason=not_storable`;
      return { message: `Events accepted for processing, ${except}` };
    },
  });
}

/** Stores events and returns how many of them could not be. Throws `validation_error` when that is all of them. */
async function append(request: FastifyRequest, reply: FastifyReply, events: readonly PreparedEvent[]): Promise<number> {
  try {
    const unstorable = await request.server.dependencies.metering.append(request.scope, events);
    countIngested(request, events, unstorable);
    const [first] = unstorable;
    if (!first || unstorable.length < events.length) return unstorable.length;
    throw refuse('validation_error', `event ${first.event.id} cannot be stored: ${first.problem}`);
  } catch (error) {
    if (refusalIn(error)?.code === 'too_many_requests') void reply.header('retry-after', '1');
    throw error;
  }
}

/** Tells the metrics what became of events. */
export function countIngested(
  request: FastifyRequest,
  events: readonly PreparedEvent[],
  unstorable: readonly UnstorableEvent[],
): void {
  const { ingestedEvents } = request.server.metrics;
  ingestedEvents.inc({ result: 'accepted' }, events.length - unstorable.length);
  if (unstorable.length > 0) ingestedEvents.inc({ result: 'not_storable' }, unstorable.length);
}

/** The header, from which events without an id take theirs. */
export function idempotencyKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  if (typeof header === 'string' && header !== '' && header.length <= 240) return header;
  throw refuse('validation_error', 'Idempotency-Key must have 1 to 240 characters');
}

function usageRoutes(app: Api): void {
  app.post('/events/usage', {
    schema: {
      operationId: 'getUsageStatistics',
      tags,
      summary: 'Aggregate events of a name',
      body: usageBody,
      response: { 200: usageAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async (request) => answerUsage(request, usageQuestion(request.body), usageWindows(request.body)),
  });

  app.post('/events/usage/meter', {
    schema: {
      operationId: 'getUsageByMeter',
      tags,
      summary: 'Aggregate usage of a meter',
      body: usageByMeterBody,
      response: { 200: usageAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async (request) => answerUsage(request, usageQuestionByMeter(request.body), usageWindows(request.body)),
  });
}

async function answerUsage(request: FastifyRequest, question: UsageQuestion, windows: SeriesWindows | null) {
  const { database, metering } = request.server.dependencies;
  const { scope } = request;
  return inSqlTransaction(database, scope, async (tx) => {
    if (windows) {
      const { whole, points } = await metering.series(tx, scope, question, windows);
      return viewUsage(whole, points);
    }
    const whole = (await metering.usage(tx, scope, [question])).get(question.key);
    if (!whole) throw new Error('the usage store left the question unanswered');
    return viewUsage(whole, []);
  });
}

function readingRoutes(app: Api): void {
  const listing = { tags, response: { 200: eventPage, ...errorResponses } };
  app.post('/events/query', {
    schema: { operationId: 'listRawEvents', summary: 'List events', body: eventQueryBody, ...listing },
    config: { permission: 'event:read' },
    handler: async (request) => listEvents(request, request.body),
  });

  app.get('/events', {
    schema: { operationId: 'getEvents', summary: 'List events', querystring: eventListQuery, ...listing },
    config: { permission: 'event:read' },
    handler: async (request) => listEvents(request, request.query),
  });

  const reading = { tags, response: { 200: eventWithCopies, ...errorResponses } };
  app.get('/events/lookup', {
    schema: {
      operationId: 'lookupEvent',
      summary: 'Get an event named by the query string',
      querystring: z.object({ id: z.string().min(1, 'is required').max(255) }),
      ...reading,
    },
    config: { permission: 'event:read' },
    handler: async (request) => readEvent(request, request.query.id),
  });

  app.get('/events/:id', {
    schema: { operationId: 'getEvent', summary: 'Get an event with its copies', params: idParams, ...reading },
    config: { permission: 'event:read' },
    handler: async (request) => readEvent(request, request.params.id),
  });
}

async function readEvent(request: FastifyRequest, id: string) {
  const { database, metering } = request.server.dependencies;
  const found = await inSqlTransaction(database, request.scope, (tx) => metering.event(tx, request.scope, id));
  if (!found) throw refuse('not_found', `event ${id} was not found in this environment`);
  return viewEventWithCopies(found, request.scope.environmentId);
}

async function listEvents(request: FastifyRequest, body: EventQueryBody) {
  const { database, metering } = request.server.dependencies;
  const query = eventQuery(body);
  const page = await inSqlTransaction(database, request.scope, (tx) => metering.events(tx, request.scope, query));
  const isCursor = Boolean(query.before ?? query.after);
  return viewEventPage(page, request.scope.environmentId, isCursor ? 0 : query.offset + query.pageSize);
}

function eventQuery(body: EventQueryBody): EventQuery {
  if (body.iter_first_key && body.iter_last_key) {
    throw refuse('validation_error', 'iter_first_key and iter_last_key cannot be sent together: send one of them');
  }
  return {
    ...timeRange(body),
    pageSize: eventPageSize(body.page_size),
    offset: body.offset ?? 0,
    sort: body.sort ?? 'timestamp',
    order: body.order ?? 'desc',
    ...(body.external_customer_id ? { externalCustomerId: body.external_customer_id } : {}),
    ...(body.event_name ? { eventName: body.event_name } : {}),
    ...(body.event_id ? { eventId: body.event_id } : {}),
    ...(body.source ? { source: body.source } : {}),
    ...(body.property_filters ? { filters: body.property_filters } : {}),
    ...(body.iter_last_key ? { before: parseEventCursor(body.iter_last_key, 'iter_last_key') } : {}),
    ...(body.iter_first_key ? { after: parseEventCursor(body.iter_first_key, 'iter_first_key') } : {}),
  };
}
