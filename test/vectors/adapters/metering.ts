import type { EvaluatedUsage, Evaluation } from '../../../metering/evaluate.ts';
import { eventPageSize, pageKeys, parseEventCursor } from '../../../metering/event-page.ts';
import { utcInstant } from '../../../metering/timestamp.ts';
import type { Adapters, Given } from '../adapter.ts';
import { usageSource, type VectorEvent } from '../usage-source.ts';

async function aggregate(given: Given): Promise<unknown> {
  return { value: (await bucketsOf(given)).value };
}

/** The usage of the given events, with its rows by bucket and group. */
export function bucketsOf(given: Given): Promise<EvaluatedUsage> {
  return usageSource().usage(copiesOf(given.events), evaluationOf(given));
}

async function windowedUsage(given: Given): Promise<unknown> {
  const points = await usageSource().series(copiesOf(given.events), evaluationOf(given), {
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

async function eventPage(given: Given): Promise<unknown> {
  const events = copiesOf(given.events).map((event) => ({ ...event, timestamp: instant(event.timestamp) }));
  const { iter_last_key: last, iter_first_key: first } = given;
  const page = await usageSource().page(events, {
    pageSize: eventPageSize(given.page_size),
    ...(last ? { before: parseEventCursor(last, 'iter_last_key') } : {}),
    ...(first ? { after: parseEventCursor(first, 'iter_first_key') } : {}),
  });
  return {
    ids: page.rows.map((row) => row.id),
    has_more: page.hasMore,
    total_count: page.totalCount,
    ...pageKeys(page.rows, page.hasMore),
  };
}

export function copiesOf(events: Given): VectorEvent[] {
  return events.map((event: Given) => ({
    id: event.id,
    timestamp: event.timestamp,
    ingestedAt: event.ingested_at ?? event.timestamp,
    properties: event.properties ?? {},
    ...(event.user ? { user: event.user } : {}),
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
