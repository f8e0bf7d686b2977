import { committedAnalytics } from '../../billing/line/analytics-commitment.ts';
import type { ItemCommitment } from '../../billing/line/charge-terms.ts';
import { type AnalyticsAmounts, amounts, analyticsTotals, usageCost } from '../../billing/line/usage-analytics.ts';
import { compareText } from '../../billing/text-order.ts';
import type { BillingPeriod, Interval } from '../../billing/time/calendar.ts';
import { customerNow, realNow } from '../../db/clock.ts';
import type { Addon } from '../../db/entities/catalogue/addon.ts';
import type { Group } from '../../db/entities/catalogue/group.ts';
import type { Plan } from '../../db/entities/catalogue/plan.ts';
import type { PriceUnit } from '../../db/entities/catalogue/price-unit.ts';
import type { Customer } from '../../db/entities/customer/customer.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { addonsById } from '../catalogue/addon.ts';
import { groupsById } from '../catalogue/group.ts';
import { plansById } from '../catalogue/plan/plan.ts';
import { commitmentsOfItems } from '../catalogue/price/item-commitment.ts';
import { ratedTerms } from '../catalogue/price/price-terms.ts';
import { priceUnitsById } from '../catalogue/price/price-unit.ts';
import type { MeasuredUsage, UsagePart, UsagePartition, UsagePartReader } from '../usage-part-reader.ts';
import type { AnalyticsItem } from './analytics-item.ts';
import { type AnalyticsCustomers, type AnalyticsLine, analyticsLines, childrenOf } from './analytics-line.ts';
import { type CustomAnalytic, customAnalytics } from './custom-analytics.ts';

/** What analytics are about. Instants are UTC with milliseconds. */
export interface AnalyticsRequest {
  /** Empty: all. */
  featureIds: readonly string[];
  /** Null: seven days before the end. */
  startTime: string | null;
  /** Null: the customer's present. */
  endTime: string | null;
  propertyFilters: Readonly<Record<string, readonly string[]>>;
  includeChildren: boolean;
}

export interface UsageAnalyticsRequest extends AnalyticsRequest {
  sources: readonly string[];
  bySource: boolean;
  byProperties: readonly string[];
  windowSize: string | null;
  /** Takes usage apart by the time buckets of commitments too. */
  byTimeBucket: boolean;
  listSources: boolean;
  withPlans: boolean;
  withAddons: boolean;
}

export interface UsageAnalytics extends AnalyticsAmounts {
  currency: string | null;
  interval: Interval;
  items: AnalyticsItem[];
  custom: CustomAnalytic[];
}

const sevenDaysMs = 7 * 24 * 3_600_000;

/**
 * What a customer's usage is and costs before allowances, by line item, optionally by source, property and window. A line is
 * measured over the part of the interval in which it is in force, and appears with zeros unless something takes its usage
 * apart. What is committed on a line applies unless something takes its usage apart. Totals are in the currency of the customer's first subscription; items of another one are listed only. Coupons do
 * not reach lines in this release, so every discount is 0.
 *
 * Throws `validation_error` for an interval that ends before it starts, for too many
 * groups or windows, and for time buckets where no line has them. The number of statements does not grow with lines, groups or windows. spec: catalogue-and-metering §7.6
 */
export async function usageAnalytics(
  tx: Transaction,
  customer: Customer,
  request: UsageAnalyticsRequest,
  readParts: UsagePartReader,
): Promise<UsageAnalytics> {
  const interval = await analyticsInterval(tx, customer.id, request);
  const children = request.includeChildren ? await childrenOf(tx, customer.id) : [];
  const found = await analyticsOf(tx, { customer, children }, interval, request, readParts);
  if (request.byTimeBucket && !found.hasTimeBuckets) throw badField('breakdown_bucket', needsTimeBuckets);
  return { ...found, custom: await customAnalytics(tx, found.items, found.currency, interval) };
}

const needsTimeBuckets =
  'needs a line with commitment_time_buckets: none of the lines asked about has them, so leave it out';

/** The same for customers that were found already, null being everybody, without the figures of the setting. */
export async function analyticsOf(
  tx: Transaction,
  whose: AnalyticsCustomers | null,
  interval: Interval,
  request: UsageAnalyticsRequest,
  readParts: UsagePartReader,
): Promise<Omit<UsageAnalytics, 'custom'> & { hasTimeBuckets: boolean }> {
  const { featureIds } = request;
  const { lines, currency } = await analyticsLines(tx, { whose, interval, featureIds });
  const timezone = whose?.customer.timezone ?? 'UTC';
  const parts = await readParts(tx, tx.scope, questions(lines, request), partition(timezone, interval, request));
  const beside = await readBeside(tx, lines, request);
  const commitments = isTakenApart(request) ? null : await readCommitments(tx, whose, lines);
  const items = lines.flatMap((line) => {
    const own = parts.get(line.item.id) ?? [];
    const shown = isTakenApart(request) ? own.filter(({ eventCount }) => eventCount > 0) : own;
    return shown.map((part) => itemOf(line, part, beside, commitments));
  });
  items.sort(byNameAndIds);
  const hasTimeBuckets = lines.some(({ item }) => (item.commitmentTimeBuckets ?? []).length > 0);
  return { ...analyticsTotals(items, currency ?? ''), currency, interval, items, hasTimeBuckets };
}

function isTakenApart({ sources, bySource, byProperties, propertyFilters }: UsageAnalyticsRequest): boolean {
  return bySource || byProperties.length > 0 || sources.length > 0 || Object.keys(propertyFilters).length > 0;
}

/** The interval of a request: the seven days up to the customer's present, or the real one, where it says nothing. */
export async function analyticsInterval(
  tx: Transaction,
  customerId: string | null,
  { startTime, endTime }: { startTime: string | null; endTime: string | null },
): Promise<Interval> {
  const end = endTime ?? (customerId === null ? realNow() : await customerNow(tx, customerId));
  const start = startTime ?? new Date(Date.parse(end) - sevenDaysMs).toISOString();
  if (end < start) throw badField('end_time', 'must not be before start_time');
  return { start, end };
}

/** The plan a line comes from; none for an add-on's. */
export function planIdOf({ item }: AnalyticsLine): string[] {
  return item.entityType.toUpperCase() === 'PLAN' ? [item.entityId] : [];
}

/** The add-on a line comes from; none for a plan's. */
export function addonIdOf({ item }: AnalyticsLine): string[] {
  return item.entityType.toUpperCase() === 'ADDON' ? [item.entityId] : [];
}

/** What an item is called: its feature, else its meter. */
export function itemName({ feature, meter }: AnalyticsLine): string {
  return feature?.name ?? meter.name;
}

function questions(lines: readonly AnalyticsLine[], { propertyFilters }: UsageAnalyticsRequest) {
  return lines.map((line) => {
    const { item, meter, price, customerIds, overlap } = line;
    return {
      key: item.id,
      meterId: meter.id,
      customerIds,
      from: overlap.start,
      to: overlap.end,
      startOfHistory: item.startDate,
      bucketing: bucketingOf(line),
      filters: [...(price.filterValues ? [price.filterValues] : []), propertyFilters],
    };
  });
}

function bucketingOf({ price, meter, subscription }: AnalyticsLine) {
  const size = price.bucketSize ?? meter.aggregation.bucket_size;
  const { timezone, billingAnchor } = subscription;
  return size ? { size, timezone, billingAnchor } : null;
}

function partition(timezone: string, interval: Interval, request: UsageAnalyticsRequest): UsagePartition {
  const { windowSize, bySource, byProperties, sources, listSources } = request;
  return {
    interval: { from: interval.start, to: interval.end },
    window: windowSize ? { size: windowSize, timezone, billingAnchor: null } : null,
    bySource,
    byProperties,
    sources,
    listSources,
  };
}

/** What is shown beside items, read once for all of them. */
interface Beside {
  groups: ReadonlyMap<string, Group>;
  plans: ReadonlyMap<string, Plan>;
  addons: ReadonlyMap<string, Addon>;
  units: ReadonlyMap<string, PriceUnit>;
}

async function readBeside(
  tx: Transaction,
  lines: readonly AnalyticsLine[],
  { withPlans, withAddons }: UsageAnalyticsRequest,
): Promise<Beside> {
  const groupIds = lines.map(({ feature }) => feature?.groupId ?? null);
  return {
    groups: await groupsById(tx, groupIds),
    units: await priceUnitsById(
      tx,
      lines.map(({ price }) => price.priceUnitId),
    ),
    plans: withPlans ? await plansById(tx, lines.flatMap(planIdOf)) : new Map(),
    addons: withAddons ? await addonsById(tx, lines.flatMap(addonIdOf)) : new Map(),
  };
}

/** What lines are committed to, and the present until which buckets are topped up. */
interface Commitments {
  byItem: ReadonlyMap<string, ItemCommitment>;
  now: string;
}

async function readCommitments(
  tx: Transaction,
  whose: AnalyticsCustomers | null,
  lines: readonly AnalyticsLine[],
): Promise<Commitments> {
  const committed = lines.filter(({ item }) => item.commitmentType !== null || item.commitmentTimeBuckets !== null);
  const ids = committed.map(({ item }) => item.id);
  if (ids.length === 0) return { byItem: new Map(), now: '' };
  return {
    byItem: await commitmentsOfItems(tx, ids),
    now: whose ? await customerNow(tx, whose.customer.id) : realNow(),
  };
}

function itemOf(
  line: AnalyticsLine,
  part: UsagePart,
  { groups, plans, addons, units }: Beside,
  commitments: Commitments | null,
): AnalyticsItem {
  const { price, item, subscription } = line;
  const unit = units.get(price.priceUnitId ?? '') ?? null;
  const terms = ratedTerms(price, unit?.conversionRate ?? null);
  const cost = (measured: MeasuredUsage) => amounts(usageCost(terms, measured));
  const commitment = commitments?.byItem.get(item.id);
  const judged = {
    price: terms,
    billingPeriod: subscription.billingPeriod as BillingPeriod,
    billingPeriodCount: subscription.billingPeriodCount,
    timezone: subscription.timezone,
    currency: item.currency,
    bucketing: bucketingOf(line),
    interval: line.overlap,
    now: commitments?.now ?? '',
  };
  const committed = commitment ? committedAnalytics({ ...judged, commitment }, part, part.points) : null;
  return {
    ...(committed ? amounts(committed.cost) : cost(part)),
    line,
    currency: item.currency,
    part,
    pointAmounts: part.points.map((point, index) => {
      const ofPoint = committed?.points?.[index];
      return ofPoint ? amounts(ofPoint.cost) : cost(point);
    }),
    committed,
    group: groups.get(line.feature?.groupId ?? '') ?? null,
    plan: plans.get(planIdOf(line)[0] ?? '') ?? null,
    addon: addons.get(addonIdOf(line)[0] ?? '') ?? null,
    unit,
  };
}

function byNameAndIds(a: AnalyticsItem, b: AnalyticsItem): number {
  const [first, second] = [sortKey(a), sortKey(b)];
  const index = first.findIndex((text, position) => text !== second[position]);
  return index < 0 ? 0 : compareText(first[index] ?? '', second[index] ?? '');
}

function sortKey({ line, part }: AnalyticsItem): string[] {
  const ids = [line.feature?.id ?? '', line.meter.id, line.item.subscriptionId, line.item.id];
  return [itemName(line), ...ids, part.source ?? '', ...Object.values(part.properties)];
}
