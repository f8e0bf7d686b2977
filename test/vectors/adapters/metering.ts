import { type EventCopy, evaluateUsage } from '../../../metering/evaluate.ts';
import { eventPageSize, pageKeys, parseEventCursor, selectEventPage } from '../../../metering/event-page.ts';
import { refuseUnsupportedAggregation } from '../../../metering/meter.ts';
import { seriesQuestions, seriesWindows } from '../../../metering/series.ts';
import { utcInstant } from '../../../metering/timestamp.ts';
import type { Adapters, Given } from '../adapter.ts';

function aggregate({ aggregation, period, filters, events }: Given): unknown {
  refuseUnsupportedAggregation(aggregation);
  const evaluation = { aggregation, filters: filters ?? [], from: period.start, to: period.end };
  return { value: evaluateUsage(copiesOf(events), evaluation).value };
}

function windowedUsage(given: Given): unknown {
  refuseUnsupportedAggregation(given.aggregation);
  const copies = copiesOf(given.events);
  const question = { key: '', meterId: '', from: instant(given.start_time), to: instant(given.end_time) };
  const windows = seriesWindows(question, {
    windowSize: given.window_size,
    timezone: given.timezone ?? 'UTC',
    billingAnchor: given.billing_anchor ?? null,
  });
  const answers = seriesQuestions(question, windows).map((part) =>
    evaluateUsage(copies, { aggregation: given.aggregation, filters: given.filters ?? [], ...part }),
  );
  const results = windows.flatMap((window, index) => {
    const answer = answers[index];
    return answer && answer.eventCount > 0 ? [{ window_size: window.start, value: answer.value }] : [];
  });
  return { results };
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
