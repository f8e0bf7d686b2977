import {
  type EvaluatedUsage,
  type Evaluation,
  type EventCopy,
  evaluateSeries,
  evaluateUsage,
} from '../../../metering/evaluate.ts';
import { eventPageSize, pageKeys, parseEventCursor, selectEventPage } from '../../../metering/event-page.ts';
import { utcInstant } from '../../../metering/timestamp.ts';
import type { Adapters, Given } from '../adapter.ts';

function aggregate(given: Given): unknown {
  return { value: evaluateUsage(copiesOf(given.events), evaluationOf(given)).value };
}

/** The rows of the given events by bucket and group. */
export function bucketsOf(given: Given): EvaluatedUsage {
  return evaluateUsage(copiesOf(given.events), evaluationOf(given));
}

function windowedUsage(given: Given): unknown {
  const points = evaluateSeries(copiesOf(given.events), evaluationOf(given), {
    windowSize: given.window_size,
    timezone: given.timezone ?? 'UTC',
    billingAnchor: given.billing_anchor ?? null,
  });
  return { results: points.map(({ start, value }) => ({ window_size: start, value })) };
}

function evaluationOf({ aggregation, filters, period, timezone, billing_anchor, ...given }: Given): Evaluation {
  return {
    aggregation,
    filters: filters ?? [],
    from: period?.start ?? given.start_time,
    to: period?.end ?? given.end_time,
    timezone: timezone ?? 'UTC',
    billingAnchor: billing_anchor ?? null,
  };
}

function eventPage(given: Given): unknown {
  const rows = given.events.map((event: Given) => ({ id: event.id, timestamp: instant(event.timestamp) }));
  const { iter_last_key: last, iter_first_key: first } = given;
  const page = selectEventPage<{ id: string; timestamp: string }>(rows, {
    pageSize: eventPageSize(given.page_size),
    ...(last ? { before: parseEventCursor(last, 'iter_last_key') } : {}),
    ...(first ? { after: parseEventCursor(first, 'iter_first_key') } : {}),
  });
  return {
    ids: page.rows.map((row) => row.id),
    has_more: page.hasMore,
    total_count: rows.length,
    ...pageKeys(page.rows, page.hasMore),
  };
}

function copiesOf(events: Given): EventCopy[] {
  return events.map((event: Given) => ({
    id: event.id,
    timestamp: event.timestamp,
    ingestedAt: event.ingested_at ?? event.timestamp,
    properties: event.properties ?? {},
  }));
}

function instant(text: string): string {
  return utcInstant(text) ?? text;
}

export const meteringAdapters: Adapters = {
  aggregate,
  windowed_usage: windowedUsage,
  event_page: eventPage,
};
