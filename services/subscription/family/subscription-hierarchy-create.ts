import { decimal } from '../../../billing/money/money.ts';
import { checkParent } from '../../../billing/subscription/hierarchy.ts';
import type { NewHierarchy, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { earlier, trialEnd as endOfTrial } from '../../../billing/time/calendar.ts';
import { findsItsBoundaries } from '../../../billing/time/whole-period.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { thresholdOf } from '../../charging/subscription-family.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { groupSubscriptions } from './subscription-grouping.ts';
import { inheritSubscription } from './subscription-inheritance.ts';

const groupedField = 'inheritance.subscriptions_ids_for_grouped_invoicing';
const heirsField = 'inheritance.external_customer_ids_to_inherit_subscription';

/** What a creation makes the subscription in a hierarchy. spec: subscriptions-and-invoicing §2.13 */
export function hierarchyOf(
  hierarchy: NewHierarchy,
): Pick<SubscriptionRow, 'subscriptionType' | 'parentSubscriptionId' | 'inHierarchy'> {
  const { heirExternalIds, groupedIds, groupedChildren, parentSubscriptionId } = hierarchy;
  const leads = heirExternalIds.length + groupedIds.length + groupedChildren.length > 0;
  return {
    subscriptionType: leads ? 'parent' : 'standalone',
    parentSubscriptionId,
    inHierarchy: leads,
  };
}

/** Refuses a subscription of his own to a customer who inherits one. spec: subscriptions-and-invoicing §2.13 */
export async function refuseHeir(sql: Sql, scope: Scope, customerId: string): Promise<void> {
  const [row] = await sql.rows<{ parent: string }>(
    `select parent_subscription_id as parent from subscription where environment_id = $1 and customer_id = $2
       and status = 'published' and subscription_type = 'inherited' and subscription_status <> 'cancelled'`,
    [scope.environmentId, customerId],
    'new-subscription-heir',
  );
  if (!row) return;
  throw badField(
    'customer_id',
    `names a customer who inherits subscription ${row.parent} and has none of his own beside it; remove him there first`,
  );
}

/**
 * Who is invoiced for a subscription that names a parent: the parent's payer where the creation asks for that, else null. Throws
 * `not_found`, and `validation_error` for a parent that is not active. spec: subscriptions-and-invoicing §1.2 inheritance, §1.4
 */
export async function payerOfParent(sql: Sql, scope: Scope, hierarchy: NewHierarchy): Promise<string | null> {
  const id = hierarchy.parentSubscriptionId;
  if (!id) return null;
  const field = 'inheritance.parent_subscription_id';
  const [parent] = await sql.rows<{ payer: string; status: string }>(
    `select invoicing_customer_id as payer, subscription_status as status from subscription
     where environment_id = $1 and id = $2 and status = 'published' for share`,
    [scope.environmentId, id],
  );
  if (!parent) throw missing('subscription', id, field);
  if (parent.status !== 'active') throw badField(field, `must name an active subscription; ${id} is ${parent.status}`);
  return hierarchy.isInvoicedToParent ? parent.payer : null;
}

/**
 * Makes the children that inherit a subscription from its creation on, and groups those it is to be invoiced with.
 * spec: subscriptions-and-invoicing §2.3.1 step 25, §2.13
 */
export async function createFamily(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { hierarchy, at }: NewSubscription,
  readUsage: UsageReader,
): Promise<void> {
  const { heirExternalIds: externalIds, groupedIds: ids } = hierarchy;
  const made = { at, parentField: 'inheritance', creating: true };
  if (externalIds.length > 0) await inheritSubscription(sql, scope, row, { ...made, externalIds, field: heirsField });
  if (ids.length === 0) return;
  if (row.status !== 'active' && row.status !== 'trialing') {
    throw badField(groupedField, `needs a subscription that is active or trialing; this one is ${row.status}`);
  }
  await groupSubscriptions(sql, scope, row, { ...made, ids, field: groupedField }, readUsage);
}

/**
 * Members that a child takes from the parent it is created with: periods, status, time zone, and the trial, unless it has a longer one
 * of its own. Throws `validation_error` for a shorter one, because nothing of a group is invoiced in the parent's trial, and in
 * periods of several months, which do not tell where in them a trial ended. spec: §2.13
 */
export function termsOfGroup(parent: SubscriptionRow, trialDays: number | null): Partial<SubscriptionRow> {
  const { status, billingAnchor, timezone, startDate, endDate, currentPeriodStart, currentPeriodEnd } = parent;
  const { trialStart, trialEnd, collectionMethod, paymentTerms } = parent;
  return {
    ...{ status, billingAnchor, timezone, startDate, endDate, currentPeriodStart, currentPeriodEnd },
    ...{ trialStart, trialEnd, collectionMethod, paymentTerms },
    ...ownTrial(parent, trialDays),
    subscriptionType: 'grouped_invoicing',
    parentSubscriptionId: parent.id,
    inHierarchy: true,
  };
}

function ownTrial(parent: SubscriptionRow, days: number | null): Partial<SubscriptionRow> {
  if (days === null) return {};
  const { startDate, timezone, endDate } = parent;
  const begins = parent.status === 'trialing' ? parent.currentPeriodEnd : startDate;
  const wanted = days === 0 ? startDate : endOfTrial({ startDate, days, timezone });
  const end = earlier(wanted, endDate ?? wanted);
  if (end < begins)
    throw badField('trial_period_days', `must reach ${begins}, the end of the parent's trial, or be left out`);
  if (end === begins) return {};
  if (!findsItsBoundaries(parent)) {
    const period = `${parent.billingPeriodCount} × ${parent.billingPeriod}`;
    throw badField(
      'trial_period_days',
      `must be left out in periods of ${period}, inside which no trial of a child ends`,
    );
  }
  return { status: 'trialing', trialStart: startDate, trialEnd: end, currentPeriodEnd: end };
}

/** The customer of a child that is created with its parent. Throws `not_found`, and `validation_error` on another clock. spec: §2.13 */
export async function groupedCustomer(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  { externalId, field }: { externalId: string; field: string },
): Promise<string> {
  const [customer] = await sql.rows<{ id: string; clock: string | null }>(
    `select id, test_clock_id as clock from customer where environment_id = $1 and external_id = $2 and status = 'published'`,
    [scope.environmentId, externalId],
  );
  if (!customer) throw missing('customer', externalId, `${field}.external_customer_id`);
  if (customer.clock === parent.testClockId) return customer.id;
  throw badField(
    `${field}.external_customer_id`,
    `names customer ${externalId}, who does not live on the clock of the parent`,
  );
}

/** Refuses a child whose usage is invoiced at a threshold. spec: subscriptions-and-invoicing §2.13 */
export async function checkGrouped(sql: Sql, row: SubscriptionRow): Promise<void> {
  const threshold = await thresholdOf(sql, row);
  if (threshold === null || decimal(threshold).isZero()) return;
  throw badField(
    'inheritance.grouped_invoicing_children_to_create',
    `names plan ${row.planId}, which has an auto_invoice_threshold`,
  );
}

/** Refuses children of a subscription whose usage is invoiced at a threshold. spec: §2.3.1 step 12, §2.13 */
export async function checkFamily(sql: Sql, row: SubscriptionRow): Promise<void> {
  if (row.subscriptionType !== 'parent') return;
  const threshold = await thresholdOf(sql, row);
  checkParent(row, { threshold, field: 'inheritance', creating: true });
}
