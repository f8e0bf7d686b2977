import type { MeteredEvent } from '../../billing/allowance/grant-usage.ts';
import {
  type EvaluatedUsage,
  type Evaluation,
  type EventCopy,
  effectiveCopies,
  evaluateEvents,
  evaluateSeries,
  evaluateUsage,
} from '../../metering/evaluate.ts';
import { selectEventPage } from '../../metering/event-page.ts';
import type { SeriesWindows } from '../../metering/series-window.ts';
import type { EventCursor } from '../../metering/usage-store.ts';

/** An ingested copy of a vector; `user` is one of several customers whose usage is united. */
export type VectorEvent = EventCopy & { readonly user?: string };

export interface PageRequest {
  readonly pageSize: number;
  readonly before?: EventCursor;
  readonly after?: EventCursor;
}

export interface VectorPage {
  readonly rows: readonly { readonly id: string; readonly timestamp: string }[];
  readonly hasMore: boolean;
  readonly totalCount: number;
}

/** What answers what a vector asks about its events: the definition in memory, or a usage engine that was sent them. */
export interface UsageSource {
  usage(events: readonly VectorEvent[], evaluation: Evaluation): Promise<EvaluatedUsage>;
  series(
    events: readonly VectorEvent[],
    evaluation: Evaluation,
    windows: SeriesWindows,
  ): Promise<{ start: string; value: string }[]>;
  eachEvent(events: readonly VectorEvent[], evaluation: Evaluation): Promise<MeteredEvent[]>;
  page(events: readonly VectorEvent[], request: PageRequest): Promise<VectorPage>;
}

const inMemory: UsageSource = {
  usage: async (events, evaluation) => evaluateUsage(events, evaluation),
  series: async (events, evaluation, windows) => evaluateSeries(events, evaluation, windows),
  eachEvent: async (events, evaluation) => evaluateEvents(events, evaluation),
  async page(events, request) {
    const rows = effectiveCopies(events).map(({ id, timestamp }) => ({ id, timestamp }));
    return { ...selectEventPage(rows, request), totalCount: rows.length };
  },
};

let source = inMemory;

/** What adapters ask. */
export function usageSource(): UsageSource {
  return source;
}

/** Has adapters ask a usage engine, or nothing but the definition again. */
export function askUsageOf(engine: UsageSource | null): void {
  source = engine ?? inMemory;
}
