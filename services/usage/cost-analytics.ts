import { amounts, analyticsTotals, usageCost } from '../../billing/line/usage-analytics.ts';
import { type CostMargin, costMargin } from '../../billing/price/cost-margin.ts';
import { type CostPrice, costPriceParts } from '../../billing/price/cost-price.ts';
import type { PriceTerms } from '../../billing/price/price-terms.ts';
import type { Interval } from '../../billing/time/calendar.ts';
import type { Costsheet } from '../../db/entities/catalogue/costsheet.ts';
import { Feature } from '../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { Transaction } from '../../db/transaction.ts';
import { activeCostsheet } from '../catalogue/costsheet.ts';
import { metersById } from '../catalogue/meter.ts';
import { currentTermsOf } from '../catalogue/price/price-terms.ts';
import { findCustomerByExternalId } from '../customer/customer.ts';
import type { UsageBucketing, UsagePart, UsagePartReader } from '../usage-part-reader.ts';
import { type AnalyticsCustomers, childrenOf, customerIdsOf } from './analytics-line.ts';
import { type AnalyticsRequest, analyticsInterval, analyticsOf } from './usage-analytics.ts';

export interface CostAnalyticsRequest extends AnalyticsRequest {
  /** Null: all customers. */
  externalCustomerId: string | null;
}

/** What the usage of one price of the sheet cost. */
export interface CostItem {
  costsheet: Costsheet;
  price: Price;
  meter: Meter;
  quantity: string;
  eventCount: number;
  cost: string;
  /** Days or months with events, by their natural start, each priced on its own. */
  periods: { timestamp: string; quantity: string; eventCount: number; cost: string }[];
}

export interface CostAnalytics extends CostMargin {
  customer: Customer | null;
  items: CostItem[];
  revenue: string;
  cost: string;
  currency: string | null;
  interval: Interval;
}

/**
 * What usage cost by the prices of the active cost sheet, against what it earns by the same customers' subscriptions over the
 * same interval. Usage of several customers is united before it is priced, as a supplier would see it. The currency is the
 * revenue's, without revenue the sheet's; what is in another one is listed and left out of the totals. Without a cost sheet the
 * cost is 0. Throws `not_found` for an unknown customer. spec: catalogue-and-metering §10.2
 */
export async function costAnalytics(
  tx: Transaction,
  request: CostAnalyticsRequest,
  readParts: UsagePartReader,
): Promise<CostAnalytics> {
  const { externalCustomerId } = request;
  const customer = externalCustomerId === null ? null : await findCustomerByExternalId(tx, externalCustomerId);
  const interval = await analyticsInterval(tx, customer?.id ?? null, request);
  const children = customer && request.includeChildren ? await childrenOf(tx, customer.id) : [];
  const whose = customer ? { customer, children } : null;
  const earned = await analyticsOf(tx, whose, interval, { ...request, ...notTakenApart }, readParts);
  const items = await costItems(tx, whose, interval, request, readParts);
  const currency = earned.cost === '0' ? (items[0]?.price.currency ?? earned.currency) : earned.currency;
  const costs = items.map(({ cost, price }) => ({ ...amounts(cost), currency: price.currency }));
  const { cost } = analyticsTotals(costs, currency ?? '');
  return {
    customer,
    items,
    revenue: earned.cost,
    cost,
    currency,
    interval,
    ...costMargin({ revenue: earned.cost, cost }),
  };
}

const notTakenApart = {
  sources: [],
  bySource: false,
  byProperties: [],
  windowSize: null,
  byTimeBucket: false,
  listSources: false,
  withPlans: false,
  withAddons: false,
};

async function costItems(
  tx: Transaction,
  whose: AnalyticsCustomers | null,
  interval: Interval,
  request: CostAnalyticsRequest,
  readParts: UsagePartReader,
): Promise<CostItem[]> {
  const costsheet = await activeCostsheet(tx);
  if (!costsheet) return [];
  const prices = costPriceParts(await usagePrices(tx, costsheet, request.featureIds), interval);
  const meters = await metersById(
    tx,
    prices.map(({ price }) => price.meterId),
  );
  const timezone = whose?.customer.timezone ?? 'UTC';
  const sizeOf = (row: Price) => row.bucketSize ?? meters.get(row.meterId ?? '')?.aggregation.bucket_size;
  const questions = prices.map(({ price: { row }, part }) => ({
    key: row.id,
    meterId: row.meterId ?? '',
    customerIds: whose ? customerIdsOf(whose) : null,
    from: part.start,
    to: part.end,
    startOfHistory: null,
    bucketing: bucketingOf(sizeOf(row), timezone),
    filters: [...(row.filterValues ? [row.filterValues] : []), request.propertyFilters],
  }));
  const terms = await currentTermsOf(
    tx,
    prices.map(({ price }) => price.row),
  );
  const found = await readParts(tx, tx.scope, questions, {
    interval: { from: interval.start, to: interval.end },
    window: { size: periodSize(interval), timezone, billingAnchor: null },
    bySource: false,
    byProperties: [],
    sources: [],
    listSources: false,
  });
  return prices.flatMap(({ price: { row } }) => {
    const [part] = found.get(row.id) ?? [];
    const meter = meters.get(row.meterId ?? '');
    return part && meter ? [costItem(costsheet, row, terms.get(row.id)!, meter, part)] : [];
  });
}

/** A supplier's buckets lie on the customer's clock, there being no subscription to name another. */
function bucketingOf(size: string | null | undefined, timezone: string): UsageBucketing | null {
  return size ? { size, timezone, billingAnchor: null } : null;
}

const yearMs = 366 * 24 * 3_600_000;

/** Days of an interval up to a year, months of a longer one: the interface has no field for it. */
function periodSize({ start, end }: Interval): string {
  return Date.parse(end) - Date.parse(start) <= yearMs ? 'DAY' : 'MONTH';
}

function costItem(costsheet: Costsheet, price: Price, terms: PriceTerms, meter: Meter, part: UsagePart): CostItem {
  return {
    costsheet,
    price,
    meter,
    quantity: part.usage,
    eventCount: part.eventCount,
    cost: usageCost(terms, part),
    periods: part.points.map((point) => ({
      timestamp: point.timestamp,
      quantity: point.usage,
      eventCount: point.eventCount,
      cost: usageCost(terms, point),
    })),
  };
}

/** The usage prices of a sheet in the order of creation; those of features' meters where features are named. */
async function usagePrices(tx: Transaction, costsheet: Costsheet, featureIds: readonly string[]) {
  const { environmentId } = tx.scope;
  const features =
    featureIds.length > 0 ? await tx.em.find(Feature, { environmentId, id: { $in: [...featureIds] } }) : null;
  const rows = await tx.em.find(
    Price,
    {
      environmentId,
      status: 'published',
      type: 'USAGE',
      entityType: 'COSTSHEET',
      entityId: costsheet.id,
      ...(features ? { meterId: { $in: features.flatMap(({ meterId }) => meterId ?? []) } } : {}),
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return rows.map((row): CostPrice & { row: Price; meterId: string } => ({
    row,
    id: row.id,
    meterId: row.meterId ?? '',
    filterValues: row.filterValues ?? null,
    startDate: row.startDate,
    endDate: row.endDate ?? null,
    createdAt: row.createdAt,
  }));
}
