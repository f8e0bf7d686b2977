import type { Interval } from '../billing/time/calendar.ts';
import { Feature } from '../db/entities/catalogue/feature.ts';
import { Meter } from '../db/entities/catalogue/meter.ts';
import type { Transaction } from '../db/transaction.ts';
import { findCustomerByExternalId } from '../services/customer/customer.ts';
import { childrenOf, featuresByMeter } from '../services/usage/analytics-line.ts';
import { analyticsInterval } from '../services/usage/usage-analytics.ts';
import type { UsagePart } from '../services/usage-part-reader.ts';
import { seriesWindows } from './series.ts';
import type { BreakdownRequest, BreakdownRow } from './usage-breakdown.ts';
import { usagePartReader } from './usage-part-reader.ts';
import type { UsageStore } from './usage-store.ts';

export interface DetailedUsageRequest {
  externalCustomerId: string;
  /** Both empty: every meter of the environment. Both given: the meters that are in both. */
  meterIds: readonly string[];
  featureIds: readonly string[];
  /** Null: seven days before the end. */
  startTime: string | null;
  /** Null: the customer's present. */
  endTime: string | null;
  sources: readonly string[];
  propertyFilters: Readonly<Record<string, readonly string[]>>;
  bySource: boolean;
  byProperties: readonly string[];
  windowSize: string | null;
  billingAnchor: string | null;
  includeChildren: boolean;
  listSources: boolean;
}

/** A meter's usage, or one group of it, under every measure at once. */
export interface DetailedUsage {
  meter: Meter;
  feature: Feature | null;
  source: string | null;
  sources: string[] | null;
  properties: Readonly<Record<string, string>>;
  total: string;
  greatest: string;
  latest: string;
  distinctCount: number;
  eventCount: number;
  points: { timestamp: string; value: string; eventCount: number }[];
}

/**
 * How much of each meter a customer used, with its greatest, latest and distinct values, whatever the meter aggregates; by
 * source, property and window. Meters without usage appear with zeros unless something takes usage apart. Two statements at most
 * read usage, whatever the number of meters. Throws `not_found` for an unknown customer, `validation_error` for an interval that
 * ends before it starts and for too many groups or windows. spec: catalogue-and-metering §7.5
 */
export async function detailedUsage(
  tx: Transaction,
  store: UsageStore,
  request: DetailedUsageRequest,
): Promise<DetailedUsage[]> {
  const customer = await findCustomerByExternalId(tx, request.externalCustomerId);
  const interval = await analyticsInterval(tx, customer.id, request);
  const children = request.includeChildren ? await childrenOf(tx, customer.id) : [];
  const { meters, features } = await askedMeters(tx, request);
  const customerIds = [customer.id, ...children.map(({ id }) => id)];
  const breakdown = breakdownOf(request, { meters, interval, customerIds, timezone: customer.timezone });
  const rows = await store.breakdown(tx, tx.scope, breakdown);
  const sources = request.listSources
    ? await store.breakdown(tx, tx.scope, { ...breakdown, windows: [], bySource: true })
    : null;
  const rowsOf = Map.groupBy(rows, ({ key }) => key);
  const buckets = await bucketedParts(tx, store, request, {
    meters,
    interval,
    customerIds,
    timezone: customer.timezone,
  });
  return meters.flatMap((meter) => {
    const feature = features.get(meter.id) ?? null;
    const groups = [...Map.groupBy(rowsOf.get(meter.id) ?? [], groupOf).values()];
    if (groups.length === 0 && !isTakenApart(request)) return [{ meter, feature, ...nothing, sources: sources && [] }];
    return groups.map((own) => {
      const group = detailed(own, sources);
      return { meter, feature, ...group, ...byBuckets(buckets.get(meter.id), group) };
    });
  });
}

async function askedMeters(tx: Transaction, { meterIds, featureIds }: DetailedUsageRequest) {
  const { environmentId } = tx.scope;
  const ofFeatures =
    featureIds.length > 0
      ? await tx.em.find(Feature, { environmentId, id: { $in: [...featureIds] }, meterId: { $ne: null } })
      : null;
  const meters = await tx.em.find(
    Meter,
    {
      environmentId,
      $and: [
        meterIds.length > 0 ? { id: { $in: [...meterIds] } } : {},
        ofFeatures ? { id: { $in: ofFeatures.flatMap(({ meterId }) => meterId ?? []) } } : {},
      ],
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const features = await featuresByMeter(
    tx,
    meters.map(({ id }) => id),
    featureIds,
  );
  return { meters, features };
}

function breakdownOf(
  request: DetailedUsageRequest,
  asked: { meters: readonly Meter[]; interval: Interval; customerIds: string[]; timezone: string },
): BreakdownRequest {
  const { bySource, byProperties, sources, windowSize, billingAnchor } = request;
  const interval = { from: micros(asked.interval.start), to: micros(asked.interval.end) };
  const conditions = Object.entries(request.propertyFilters).map(([key, values]) => ({ key, values }));
  const { timezone, customerIds } = asked;
  return {
    questions: asked.meters.map(({ id }) => ({ key: id, meterId: id, customerIds, ...interval, conditions })),
    windows: windowSize ? seriesWindows(interval, { windowSize, timezone, billingAnchor }) : [],
    bySource,
    byProperties,
    sources,
    everyMeasure: true,
  };
}

/** The usage of meters with buckets, which is the sum of their buckets. spec: catalogue-and-metering §7.1 bucket_size */
async function bucketedParts(
  tx: Transaction,
  store: UsageStore,
  request: DetailedUsageRequest,
  asked: { meters: readonly Meter[]; interval: Interval; customerIds: string[]; timezone: string },
): Promise<Map<string, UsagePart[]>> {
  const { timezone, customerIds, interval } = asked;
  const { bySource, byProperties, sources, windowSize, billingAnchor, propertyFilters } = request;
  const questions = asked.meters.flatMap(({ id, aggregation }) => {
    const size = aggregation.bucket_size;
    if (!size) return [];
    const bucketing = { size, timezone, billingAnchor };
    const span = { from: interval.start, to: interval.end, startOfHistory: null };
    return [{ key: id, meterId: id, customerIds, ...span, bucketing, filters: [propertyFilters] }];
  });
  return usagePartReader(store)(tx, tx.scope, questions, {
    interval: { from: interval.start, to: interval.end },
    window: windowSize ? { size: windowSize, timezone, billingAnchor } : null,
    bySource,
    byProperties,
    sources,
    listSources: false,
  });
}

/** What buckets say of a group in place of its plain total and windows. */
function byBuckets(
  parts: readonly UsagePart[] | undefined,
  group: Pick<DetailedUsage, 'source' | 'properties'>,
): Partial<Pick<DetailedUsage, 'total' | 'points'>> {
  const same = (part: UsagePart) =>
    part.source === group.source &&
    Object.entries(group.properties).every(([name, text]) => part.properties[name] === text);
  const part = parts?.find(same);
  if (!part) return {};
  const points = part.points.map(({ timestamp, usage, eventCount }) => ({ timestamp, value: usage, eventCount }));
  return { total: part.usage, points };
}

function isTakenApart(request: DetailedUsageRequest): boolean {
  const { bySource, byProperties, sources, propertyFilters } = request;
  return bySource || byProperties.length > 0 || sources.length > 0 || Object.keys(propertyFilters).length > 0;
}

const nothing = {
  source: null,
  properties: {},
  total: '0',
  greatest: '0',
  latest: '0',
  distinctCount: 0,
  eventCount: 0,
  points: [],
};

/** The rows of one group: its total, then its windows. */
function detailed(rows: readonly BreakdownRow[], bySource: readonly BreakdownRow[] | null) {
  const total = rows.find(({ window }) => window === null);
  if (!total) throw new Error('a group has windows and no total');
  const { source, properties, value, greatest, latest, distinctCount, eventCount } = total;
  const isOwn = (row: BreakdownRow) =>
    source === null ? groupOf({ ...row, source }) === groupOf(total) : groupOf(row) === groupOf(total);
  return {
    source,
    sources: bySource ? bySource.filter(isOwn).flatMap((row) => row.source || []) : null,
    properties,
    total: value,
    greatest,
    latest,
    distinctCount,
    eventCount,
    points: rows.flatMap((row) =>
      row.window === null ? [] : [{ timestamp: row.window, value: row.value, eventCount: row.eventCount }],
    ),
  };
}

function groupOf({ key, source, properties }: BreakdownRow): string {
  return JSON.stringify([key, source, ...Object.values(properties)]);
}

/** Milliseconds as the six decimals the engine compares. */
function micros(instant: string): string {
  return instant.replace(/\.(\d{3})Z$/, '.$1000Z');
}
