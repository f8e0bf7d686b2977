import { later } from '../../../billing/time/calendar.ts';
import { realNow } from '../../../db/clock.ts';
import type { Customer } from '../../../db/entities/customer/customer.ts';
import type { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { plainRows } from '../../../db/rows/plain-rows.ts';
import { missing } from '../../../db/rows/record.ts';
import type { SqlTransaction } from '../../../db/transaction.ts';
import { entitlementParts } from '../../catalogue/entitlement/entitlement-part.ts';
import {
  customerCondition,
  customerName,
  type NamedCustomer,
  subscriptionsOfCustomer,
} from '../../subscription-set.ts';
import { besideColumns, plainContent, plainLines, type SubscriptionBeside } from '../read/subscription-plain.ts';
import type { SubscriptionContent } from '../read/subscription-read.ts';
import {
  type AggregatedFeature,
  aggregatedFeatures,
  type FeatureFilters,
  featuresOfParts,
  grantingStatuses,
} from './customer-entitlement.ts';

/** What asks for entitlements all the time asks here: few statements with kept plans, and no mapper. */
type CustomerRow = Customer & { frozenTime: string | null };

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
    plainRows<SubscriptionBeside>(tx, `entitlements-subscriptions-${granting.name}`, subscriptionsText(named), [
      environmentId,
      ...granting.values,
      now,
      subscriptionIds,
    ]),
    entitlementParts(tx, environmentId, granting),
    plainLines(tx, granting),
  ]);
  const shown = new Set(rows.map((row) => row.id));
  const inForce = parts.filter((part) => shown.has(part.subscriptionId));
  return {
    customerId: customer.id,
    features: featuresOfParts(inForce, filters, presentOf(customer, now)),
    subscriptions: await plainContent(tx, customer, rows, lines),
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
  ${besideColumns}
from customer c
left join test_clock clock on clock.id = c.test_clock_id
join subscription s on s.environment_id = $1 and s.customer_id = c.id
where c.environment_id = $1 and ${customerCondition(named).sql} and s.status = 'published'
  and s.subscription_status = any($3) and s.start_date <= coalesce(clock.frozen_time, $4)
  and ($5::text[] is null or s.id = any($5))
order by s.start_date, s.id`;
