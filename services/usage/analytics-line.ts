import { earlier, type Interval, later } from '../../billing/time/calendar.ts';
import { Feature } from '../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import { Customer } from '../../db/entities/customer/customer.ts';
import { Subscription } from '../../db/entities/subscription/subscription.ts';
import { SubscriptionLineItem } from '../../db/entities/subscription/subscription-line-item.ts';
import type { Transaction } from '../../db/transaction.ts';
import { metersById } from '../catalogue/meter.ts';

/** A usage line of a subscription over the part of an interval in which it is in force. */
export interface AnalyticsLine {
  item: SubscriptionLineItem;
  subscription: Subscription;
  price: Price;
  meter: Meter;
  /** The feature that the meter measures: of several the one asked for, published before archived, oldest first. */
  feature: Feature | null;
  /** Whose events are its usage, united. */
  customerIds: string[];
  overlap: Interval;
}

export interface AnalyticsLines {
  lines: AnalyticsLine[];
  /** Of the customer's first subscription; null without one. */
  currency: string | null;
}

/** A customer, and those of its children that count with it. */
export interface AnalyticsCustomers {
  customer: Customer;
  children: readonly Customer[];
}

export function customerIdsOf({ customer, children }: AnalyticsCustomers): string[] {
  return [customer.id, ...children.map(({ id }) => id)];
}

/** Subscriptions in these states charge nothing. */
const uncharged = ['draft', 'incomplete_expired'];

/** The published children of a customer. spec: platform §10.1 */
export async function childrenOf(tx: Transaction, customerId: string): Promise<Customer[]> {
  return tx.em.find(
    Customer,
    { environmentId: tx.scope.environmentId, parentCustomerId: customerId, status: 'published' },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
}

/**
 * The usage lines of a customer (null: of everybody) that overlap an interval, each with what it is billed by, in as many statements for a hundred
 * lines as for one. With `children`, their own lines are there too, and the usage of a child that has no line of its own on a
 * meter is united with the customer's. `featureIds` that is not empty keeps the lines of those features.
 *
 * spec: catalogue-and-metering §7.6, §7.1 several customers
 */
export async function analyticsLines(
  tx: Transaction,
  asked: { whose: AnalyticsCustomers | null; interval: Interval; featureIds: readonly string[] },
): Promise<AnalyticsLines> {
  const { whose, interval, featureIds } = asked;
  const { environmentId } = tx.scope;
  const subscriptions = await tx.em.find(
    Subscription,
    {
      environmentId,
      ...(whose ? { customerId: { $in: customerIdsOf(whose) } } : {}),
      status: 'published',
      subscriptionStatus: { $nin: uncharged },
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const byId = new Map(subscriptions.map((row) => [row.id, row]));
  const items = await itemsWithin(tx, [...byId.keys()], interval);
  const prices = await pricesById(
    tx,
    items.map(({ priceId }) => priceId),
  );
  const meters = await metersById(
    tx,
    items.map(({ meterId }) => meterId ?? null),
  );
  const features = await featuresByMeter(tx, [...meters.keys()], featureIds);
  const lines = items.flatMap((item): AnalyticsLine[] => {
    const subscription = byId.get(item.subscriptionId);
    const price = prices.get(item.priceId);
    const meter = meters.get(item.meterId ?? '');
    const overlap = subscription ? overlapOf(item, subscription, interval) : null;
    if (!subscription || !price || !meter || !overlap) return [];
    const feature = features.get(meter.id) ?? null;
    if (featureIds.length > 0 && !feature) return [];
    return [{ item, subscription, price, meter, feature, customerIds: [subscription.customerId], overlap }];
  });
  if (whose) foldChildren(lines, whose);
  const first = subscriptions.find(({ customerId }) => customerId === whose?.customer.id) ?? subscriptions[0];
  return { lines, currency: first?.currency ?? null };
}

/** The usage items of subscriptions that are in force at some time of an interval. */
function itemsWithin(
  tx: Transaction,
  subscriptionIds: readonly string[],
  interval: Interval,
): Promise<SubscriptionLineItem[]> {
  return tx.em.find(
    SubscriptionLineItem,
    {
      environmentId: tx.scope.environmentId,
      subscriptionId: { $in: [...subscriptionIds] },
      status: 'published',
      priceType: 'USAGE',
      startDate: { $lt: interval.end },
      $or: [{ endDate: null }, { endDate: { $gt: interval.start } }],
    },
    { orderBy: { startDate: 'asc', id: 'asc' } },
  );
}

/** Who has no line of its own on a meter is measured by the customer's, so that nothing counts twice. */
function foldChildren(lines: readonly AnalyticsLine[], { customer, children }: AnalyticsCustomers): void {
  const measured = new Set(lines.map(({ subscription, meter }) => `${subscription.customerId} ${meter.id}`));
  for (const line of lines) {
    if (line.subscription.customerId !== customer.id) continue;
    const folded = children.filter(({ id }) => !measured.has(`${id} ${line.meter.id}`));
    line.customerIds.push(...folded.map(({ id }) => id));
  }
}

function overlapOf(item: SubscriptionLineItem, subscription: Subscription, interval: Interval): Interval | null {
  const ends = [item.endDate, subscription.endDate, subscription.cancelledAt].filter((end) => end != null);
  const start = later(interval.start, item.startDate);
  const end = ends.reduce(earlier, interval.end);
  return start < end ? { start, end } : null;
}

/** The prices of the given ids, ended ones too. */
async function pricesById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Price>> {
  const prices = await tx.em.find(Price, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(prices.map((price) => [price.id, price]));
}

/** The feature of each meter; one of `featureIds` where that is not empty. */
export async function featuresByMeter(
  tx: Transaction,
  meterIds: readonly string[],
  featureIds: readonly string[],
): Promise<Map<string, Feature>> {
  const features = await tx.em.find(
    Feature,
    {
      environmentId: tx.scope.environmentId,
      meterId: { $in: [...meterIds] },
      ...(featureIds.length > 0 ? { id: { $in: [...featureIds] } } : {}),
    },
    { orderBy: { status: 'desc', createdAt: 'asc', id: 'asc' } },
  );
  const byMeter = new Map<string, Feature>();
  // Of the statuses, `published` sorts last, so the descending order begins with it.
  for (const feature of features) if (!byMeter.has(feature.meterId ?? '')) byMeter.set(feature.meterId ?? '', feature);
  return byMeter;
}
