import type { GrantFold, GrantFolding } from '../billing/allowance/grant-usage.ts';
import type { Scope } from '../db/scope.ts';
import type { ScopedSql, Sql } from '../db/transaction.ts';
import type { BilledWindow, InheritedUsage } from '../services/usage-reader.ts';
import type { PreparedEvent } from './event.ts';
import type { AggregationType } from './meter.ts';
import type { UnstorableEvent } from './rejected-event.ts';
import type { SeriesWindow, SeriesWindows } from './series-window.ts';
import type { BreakdownRequest, BreakdownRow, BucketBreakdownRequest, BucketBreakdownRow } from './usage-breakdown.ts';

/** What a price or a caller asks besides the meter's own filters: AND over keys, OR over values, by text form. */
export type PropertyFilters = Readonly<Record<string, readonly string[]>>;

/** A meter of the catalogue, or a definition made up for one question. */
export type UsageMeasure =
  | { readonly meterId: string }
  | {
      readonly eventName: string;
      readonly type: AggregationType;
      readonly field: string | null;
      readonly multiplier: string | null;
      /** Only with MAX: the greatest of each group, added up. */
      readonly groupBy?: string | null;
    };

/**
 * One question: how much was used in `[from, to)`. Customers are given by id, by external id, or not at all (everybody);
 * several are united before they are aggregated. Instants are RFC 3339 texts in UTC with up to six decimals.
 */
export type UsageQuestion = UsageMeasure & {
  /** The caller's name for the answer, unique among the questions of one call. */
  readonly key: string;
  readonly customerIds?: readonly string[];
  /** More customers, each for a time of its own. */
  readonly inherited?: readonly InheritedUsage[];
  readonly externalCustomerIds?: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Taken for `from` where the meter's `reset_usage` is NEVER: the start of the line's history. */
  readonly startOfHistory?: string;
  readonly filters?: PropertyFilters;
  /** Answers as of an earlier answer's watermark, from raw events: what a finalized line was computed from. */
  readonly watermark?: string;
  /** With a watermark: by the filters the meter had at it, not by those it has now. */
  readonly asDefinedThen?: true;
  /** A price's bucket size, or one for a made-up SUM or MAX; without it the meter's own. spec: §4.1, §7.1 */
  readonly bucketSize?: string | null;
  /** Where the local clock of buckets is; UTC without one, and for an unknown one. `billingAnchor` gives a MONTH its day. */
  readonly timezone?: string;
  readonly billingAnchor?: string | null;
  /** The interval that weighs a WEIGHTED_SUM where it is not the question's own: the windows of a series. */
  readonly weighedOver?: { readonly from: string; readonly to: string };
};

export interface UsageAnswer {
  /** The aggregate, at most 15 decimals, never below zero. */
  readonly value: string;
  /** How many events matched. */
  readonly eventCount: number;
  /** Which events this answer knew. An event ingested later is not visible at it, whatever its timestamp. */
  readonly watermark: string;
  readonly type: AggregationType;
  readonly eventName: string;
  /** A row for each bucket (and group) with an event, by start and group; null for usage that is one quantity. */
  readonly buckets: readonly UsageBucket[] | null;
}

/** A question for the events themselves, which `begin` is told; `filters` mark events instead of leaving them out. */
export interface EachEventQuestion {
  readonly key: string;
  readonly meterId: string;
  readonly customerIds: readonly string[];
  readonly inherited?: readonly InheritedUsage[];
  readonly from: string;
  readonly to: string;
  readonly filters?: PropertyFilters;
  readonly begin: GrantFolding;
}

/** What was told the events a meter counts, by time and id, after the last of them. */
export interface MeterEvents {
  readonly fold: GrantFold;
  readonly watermark: string;
}

/** What one bucket, or one group in it, measured. spec: catalogue-and-metering §7.1 */
export interface UsageBucket {
  /** Where the bucket begins by itself, also where the question's interval begins later. */
  readonly start: string;
  readonly group: string;
  readonly value: string;
}

/** A question with the values of its windows; windows without events are left out. */
export interface UsageSeries {
  readonly whole: UsageAnswer;
  readonly points: readonly { readonly start: string; readonly value: string }[];
}

/** A stored ingestion of an event. */
export interface StoredEvent {
  readonly id: string;
  readonly externalCustomerId: string;
  readonly customerId: string | null;
  readonly eventName: string;
  readonly timestamp: string;
  readonly ingestedAt: string;
  readonly source: string | null;
  /** The JSON text of the properties as they came. */
  readonly properties: string | null;
}

/** That an event does not count any more. */
export interface EventVoid {
  readonly voidedAt: string;
  readonly reason: string;
  readonly actor: string;
}

/** An event with every copy of its id, newest ingestion first, at most 50. spec: catalogue-and-metering §6.5 */
export interface EventWithCopies {
  readonly event: StoredEvent;
  readonly copies: readonly (StoredEvent & { readonly samePayload: boolean })[];
  /** Null while the event counts. */
  readonly voided: EventVoid | null;
  /** The meters that count the effective event, or did until it was voided. */
  readonly attributions: readonly Attribution[];
}

/** What one meter makes of an event, and the customer's line items that charge by that meter. */
export interface Attribution {
  readonly meterId: string;
  readonly featureId: string | null;
  readonly quantity: string;
  readonly lineItems: readonly AttributedLineItem[];
}

export interface AttributedLineItem {
  readonly id: string;
  readonly subscriptionId: string;
  readonly priceId: string;
  readonly startDate: string;
  readonly endDate: string | null;
  /** The event's time lies in the line's. */
  readonly coversEvent: boolean;
}

/** What the raw listing selects. `before` and `after` are cursors; with neither, `offset` pages. spec: §6.4 */
export interface EventQuery {
  readonly externalCustomerId?: string;
  readonly eventName?: string;
  readonly eventId?: string;
  readonly source?: string;
  readonly from: string;
  /** Inclusive, unlike every other interval. */
  readonly to: string;
  readonly filters?: PropertyFilters;
  readonly pageSize: number;
  readonly offset: number;
  readonly sort: 'timestamp' | 'event_name';
  readonly order: 'asc' | 'desc';
  readonly before?: EventCursor;
  readonly after?: EventCursor;
}

export interface EventCursor {
  readonly timestamp: string;
  readonly id: string;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly hasMore: boolean;
  readonly totalCount: number;
}

/** What one event adds to one line of its customer. */
export interface ChargedEvent {
  readonly id: string;
  readonly priceId: string;
  /** What the line's meter makes of this event alone; never below zero. */
  readonly quantity: string;
}

export interface EventCounts {
  readonly total: number;
  /** Windows with events, by their natural start. */
  readonly windows: readonly { readonly timestamp: string; readonly count: number }[];
}

/** A roll-up bucket that recompute found to differ from its events. */
export interface BucketDifference {
  readonly meterId: string;
  readonly externalCustomerId: string;
  readonly bucket: string;
  readonly stored: string;
  readonly recomputed: string;
}

/**
 * The contract of a usage engine. What `append` acknowledged is durable and visible to every later question. Reads take
 * the caller's transaction, so billing and dashboards ask the same function. design: usage.md The engine contract
 */
export interface UsageStore {
  /**
   * Stores events of one environment in one transaction. An event whose data the database refuses is left out, kept as a rejected
   * one and returned; the others are stored. The first stored copy of an id is the one that is metered.
   * Throws `too_many_requests` when too much waits to be written. spec: catalogue-and-metering §6.2, §6.3
   */
  append(scope: Scope, events: readonly PreparedEvent[]): Promise<readonly UnstorableEvent[]>;
  /**
   * Stores a large batch past the queue of `append`, and does `also`, which hears what could not be stored, in its transaction: both
   * or neither. For one writer at
   * a time that brings many events, such as an import. The same rules for repeats and copies as `append`. With `turn` the batch
   * is sent to the database at once, but stored only when `turn` is over, and not when that fails: the next batch of the writer
   * is on its way while one is being stored.
   */
  load(
    scope: Scope,
    events: readonly PreparedEvent[],
    also: (sql: Sql, unstorable: readonly UnstorableEvent[]) => Promise<void>,
    turn?: Promise<unknown>,
  ): Promise<readonly UnstorableEvent[]>;
  /**
   * Stores events in the caller's transaction, with the rules of `append`: for a rehearsal, which takes them back. Throws
   * `validation_error` for an event that cannot be stored.
   */
  appendWithin(sql: ScopedSql, events: readonly PreparedEvent[]): Promise<void>;
  /**
   * Answers every question, those without buckets in one statement. Throws `not_found` for an unknown meter, and
   * `validation_error` for more buckets and groups than an answer holds. spec: §7.1
   */
  usage(sql: Sql, scope: Scope, questions: readonly UsageQuestion[]): Promise<Map<string, UsageAnswer>>;
  /** Tells every question its events one by one, all as of one instant, without holding them. Throws as `usage` does. spec: §9.2 */
  eachEvent(sql: Sql, scope: Scope, questions: readonly EachEventQuestion[]): Promise<Map<string, MeterEvents>>;
  /** Answers a question as a whole and for the windows it is cut into. Throws as `usage` does. spec: §7.2 – §7.4 */
  series(sql: Sql, scope: Scope, question: UsageQuestion, windows: SeriesWindows): Promise<UsageSeries>;
  /** Answers questions taken apart by source, by properties and by windows, in one statement. spec: §7.5, §7.6 */
  breakdown(sql: Sql, scope: Scope, request: BreakdownRequest): Promise<BreakdownRow[]>;
  /** Answers questions of bucketed usage taken apart by source and by properties, in one statement a grid. spec: §4.4, §7.6 */
  bucketBreakdown(sql: Sql, scope: Scope, request: BucketBreakdownRequest): Promise<BucketBreakdownRow[]>;
  /** What events add to the lines that charge for them, in one statement. spec: §6.1 */
  charged(sql: Sql, scope: Scope, ids: readonly string[]): Promise<ChargedEvent[]>;
  /** How many events there are, in all and in each window, by the time they tell. spec: §6.1 */
  counts(
    sql: Sql,
    scope: Scope,
    interval: { from: string; to: string },
    windows: readonly SeriesWindow[],
  ): Promise<EventCounts>;
  events(sql: Sql, scope: Scope, query: EventQuery): Promise<EventPage>;
  event(sql: Sql, scope: Scope, id: string): Promise<EventWithCopies | null>;
  /**
   * Builds the aggregates of a meter anew from its events, while writers of the environment wait: for a new meter, for
   * changed filters, and after a verification that found a difference. Runs in a transaction of the meter's environment.
   */
  recompute(tx: Sql & { readonly scope: Scope }, meter: { id: string }): Promise<void>;
  /**
   * Takes an event out of every count, with the buckets it was in. Voiding it again changes nothing. Throws `not_found`.
   * Runs in a transaction of the environment, whose writers wait for it.
   */
  voidEvent(
    tx: Sql & { readonly scope: Scope },
    input: { id: string; reason: string },
  ): Promise<{ eventVoid: EventVoid; isNew: boolean }>;
  /** How many events of each billed time were voided after it was billed, by key; times without any are absent. */
  countVoided(sql: Sql, scope: Scope, windows: readonly BilledWindow[]): Promise<Map<string, number>>;
  /** Compares a random sample of customers' days with their events. */
  verifySample(sql: Sql, scope: Scope, size: number): Promise<{ examined: number; differences: BucketDifference[] }>;
  /** Compares the roll-ups of the environment with their events and returns what differs: nothing, always. */
  verify(sql: Sql, scope: Scope): Promise<BucketDifference[]>;
  /** Writes what waits and stops accepting. */
  close(): Promise<void>;
}
