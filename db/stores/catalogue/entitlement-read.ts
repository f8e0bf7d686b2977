import { later } from '../../../billing/calendar.ts';
import { realNow } from '../../clock.ts';
import { instantText } from '../../columns.ts';
import type { Coupon } from '../../entities/coupon.ts';
import type { CouponAssociation } from '../../entities/coupon-association.ts';
import type { CreditGrant } from '../../entities/credit-grant.ts';
import type { Customer } from '../../entities/customer.ts';
import type { Price } from '../../entities/price.ts';
import type { PriceUnit } from '../../entities/price-unit.ts';
import type { Subscription } from '../../entities/subscription.ts';
import type { SubscriptionLineItem } from '../../entities/subscription-line-item.ts';
import type { SubscriptionPause } from '../../entities/subscription-pause.ts';
import type { SubscriptionPhase } from '../../entities/subscription-phase.ts';
import { plainRows } from '../../plain-rows.ts';
import { missing } from '../../record.ts';
import type { SqlTransaction } from '../../transaction.ts';
import {
  type AggregatedFeature,
  aggregatedFeatures,
  type FeatureFilters,
  featuresOfParts,
  grantingStatuses,
} from '../customer/customer-entitlement.ts';
import type { SubscriptionContent } from '../subscription/subscription-read.ts';
import {
  customerCondition,
  customerName,
  type NamedCustomer,
  type SubscriptionSet,
  subscriptionsOfCustomer,
} from '../subscription/subscription-set.ts';
import { entitlementParts } from './entitlement-part.ts';

/** What asks for entitlements all the time asks here: few statements with kept plans, and no mapper. */
type CustomerRow = Customer & { frozenTime: string | null };
type Beside = { hasCoupons: boolean; hasCreditGrants: boolean; hasPauses: boolean; hasPhases: boolean };

/**
 * What a customer, named by its id or its external id, has through its subscriptions at its present. Throws `not_found`.
 * spec: catalogue-and-metering §8.1
 */
export async function customerEntitlements(
  tx: SqlTransaction,
  named: NamedCustomer,
  filters: FeatureFilters & { subscriptionIds?: readonly string[] | undefined },
): Promise<{ customerId: string; subscriptions: SubscriptionContent[]; features: AggregatedFeature[] }> {
  const now = realNow();
  const { environmentId } = tx.scope;
  const granting = subscriptionsOfCustomer(named, grantingStatuses);
  const subscriptionIds = filters.subscriptionIds?.length ? filters.subscriptionIds : null;
  const [customer, rows, parts, lines] = await Promise.all([
    customerWithClock(tx, named),
    plainRows<Subscription & Beside>(tx, `entitlements-subscriptions-${granting.name}`, subscriptionsText(named), [
      environmentId,
      ...granting.values,
      now,
      subscriptionIds,
    ]),
    entitlementParts(tx, environmentId, granting),
    linesOf(tx, granting),
  ]);
  const shown = new Set(rows.map((row) => row.id));
  const inForce = parts.filter((part) => shown.has(part.subscriptionId));
  return {
    customerId: customer.id,
    features: featuresOfParts(inForce, filters, presentOf(customer, now)),
    subscriptions: await contentOf(tx, customer, rows, lines),
  };
}

/**
 * What one subscription grants, whatever its status; one that has not begun is shown as of its start. Throws `not_found`.
 * spec: catalogue-and-metering §8.1
 */
export async function subscriptionEntitlements(
  tx: SqlTransaction,
  id: string,
  filters: FeatureFilters,
): Promise<{ subscription: Pick<Subscription, 'id' | 'planId'>; features: AggregatedFeature[] }> {
  const [subscription] = await plainRows<
    Pick<Subscription, 'id' | 'planId' | 'startDate'> & { frozenTime: string | null }
  >(
    tx,
    'entitlements-subscription',
    `select s.id, s.plan_id, s.start_date, clock.frozen_time from subscription s
     join customer c on c.id = s.customer_id left join test_clock clock on clock.id = c.test_clock_id
     where s.environment_id = $1 and s.id = $2 and s.status = 'published'`,
    [tx.scope.environmentId, id],
  );
  if (!subscription) throw missing('subscription', id);
  const at = later(presentOf(subscription, realNow()), subscription.startDate);
  return { subscription, features: await aggregatedFeatures(tx, [subscription], filters, at) };
}

async function customerWithClock(tx: SqlTransaction, named: NamedCustomer): Promise<CustomerRow> {
  const { name, sql } = customerCondition(named);
  const [customer] = await plainRows<CustomerRow>(
    tx,
    `entitlements-customer-${name}`,
    `select c.*, clock.frozen_time from customer c left join test_clock clock on clock.id = c.test_clock_id
     where c.environment_id = $1 and ${sql}`,
    [tx.scope.environmentId, customerName(named)],
  );
  if (!customer) throw missing('customer', customerName(named), name);
  return customer;
}

function presentOf({ frozenTime }: { frozenTime: string | null }, now: string): string {
  return frozenTime ? instantText(frozenTime) : now;
}

const subscriptionsText = (named: NamedCustomer) => `
select s.*,
  exists (select from coupon_association a where a.environment_id = $1 and a.subscription_id = s.id and a.status = 'published') as has_coupons,
  exists (select from credit_grant g where g.environment_id = $1 and g.subscription_id = s.id and g.status = 'published') as has_credit_grants,
  exists (select from subscription_pause p where p.environment_id = $1 and p.subscription_id = s.id) as has_pauses,
  exists (select from subscription_phase f where f.environment_id = $1 and f.subscription_id = s.id and f.status = 'published') as has_phases
from customer c
left join test_clock clock on clock.id = c.test_clock_id
join subscription s on s.environment_id = $1 and s.customer_id = c.id
where c.environment_id = $1 and ${customerCondition(named).sql} and s.status = 'published'
  and s.subscription_status = any($3) and s.start_date <= coalesce(clock.frozen_time, $4)
  and ($5::text[] is null or s.id = any($5))
order by s.start_date, s.id`;

interface Lines {
  items: SubscriptionLineItem[];
  prices: Price[];
}

async function linesOf(tx: SqlTransaction, { name, ids, values }: SubscriptionSet): Promise<Lines> {
  const published = `from subscription_line_item where environment_id = $1 and subscription_id = any(${ids}) and status = 'published'`;
  const asked = [tx.scope.environmentId, ...values];
  const [items, prices] = await Promise.all([
    plainRows<SubscriptionLineItem>(
      tx,
      `entitlements-items-${name}`,
      `select * ${published} order by start_date, id`,
      asked,
    ),
    plainRows<Price>(
      tx,
      `entitlements-prices-${name}`,
      `select * from price where environment_id = $1 and id in (select price_id ${published})`,
      asked,
    ),
  ]);
  return { items, prices };
}

/** The same as `withContent` reads through the mapper. */
async function contentOf(
  tx: SqlTransaction,
  customer: Customer,
  rows: readonly (Subscription & Beside)[],
  lines: Lines,
): Promise<SubscriptionContent[]> {
  if (rows.length === 0) return [];
  const of = [tx.scope.environmentId, rows.map((row) => row.id)];
  const { items } = lines;
  const prices = new Map(lines.prices.map((price) => [price.id, price]));
  const units = await byId<PriceUnit>(
    tx,
    'price_unit',
    [...prices.values()].flatMap((price) => price.priceUnitId || []),
  );
  const redeemed = rows.some((row) => row.hasCoupons)
    ? await plainRows<CouponAssociation>(
        tx,
        'entitlements-coupons',
        `select * from coupon_association where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by start_date, id`,
        of,
      )
    : [];
  const coupons = await byId<Coupon>(
    tx,
    'coupon',
    redeemed.map((row) => row.couponId),
  );
  const creditGrants = rows.some((row) => row.hasCreditGrants)
    ? await plainRows<CreditGrant>(
        tx,
        'entitlements-credit-grants',
        `select * from credit_grant where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by created_at, id`,
        of,
      )
    : [];
  const pauses = rows.some((row) => row.hasPauses)
    ? await plainRows<SubscriptionPause>(
        tx,
        'entitlements-pauses',
        `select * from subscription_pause where environment_id = $1 and subscription_id = any($2) order by pause_start desc, id desc`,
        of,
      )
    : [];
  const phases = rows.some((row) => row.hasPhases)
    ? await plainRows<SubscriptionPhase>(
        tx,
        'entitlements-phases',
        `select * from subscription_phase where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by start_date`,
        of,
      )
    : [];
  return rows.map((row) => ({
    row,
    items: items
      .filter((item) => item.subscriptionId === row.id)
      .flatMap((item) => {
        const price = prices.get(item.priceId);
        return price ? [{ row: item, price, unit: units.get(price.priceUnitId ?? '') ?? null }] : [];
      }),
    customer,
    coupons: redeemed
      .filter((association) => association.subscriptionId === row.id)
      .map((association) => ({ row: association, coupon: coupons.get(association.couponId)! })),
    creditGrants: creditGrants.filter((grant) => grant.subscriptionId === row.id),
    pauses: pauses.filter((pause) => pause.subscriptionId === row.id),
    phases: phases.filter((phase) => phase.subscriptionId === row.id),
  }));
}

async function byId<Row extends { id: string }>(
  tx: SqlTransaction,
  table: 'price_unit' | 'coupon',
  ids: readonly string[],
): Promise<Map<string, Row>> {
  if (ids.length === 0) return new Map();
  const text = `select * from ${table} where environment_id = $1 and id = any($2)`;
  const rows = await plainRows<Row>(tx, `entitlements-${table}`, text, [tx.scope.environmentId, [...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, row]));
}
