import { checkParent, type HierarchyMember, inheritedAlready } from '../../../billing/subscription/hierarchy.ts';
import { newId } from '../../../db/id.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockChildren, thresholdOf } from '../../charging/subscription-family.ts';
import { insertSubscriptions, type SubscriptionRow, subscriptionRecord } from '../../charging/subscription-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { writeChanged } from '../plan-change/subscription-changed.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

/** Customers who shall inherit a subscription. */
export interface Inheriting {
  externalIds: readonly string[];
  at: string;
  /** Where the request names the customers, for the messages. */
  field: string;
  /** Where it names the parent. */
  parentField: string;
  /** True for a parent that is only made, which need not be active yet. */
  creating?: boolean;
}

/**
 * Makes a child of the subscription for each customer: the same plan, period and status, no line items, never billed. One who has
 * it keeps it, and a removal that was to come is taken back. The ids of children that were made or kept after all. Throws
 * `not_found` for an unknown customer, and `validation_error` for one who cannot inherit and for a subscription that
 * cannot be a parent. spec: subscriptions-and-invoicing §2.13
 */
export async function inheritSubscription(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  wanted: Inheriting,
): Promise<string[]> {
  const threshold = await thresholdOf(sql, parent);
  checkParent(parent, { threshold, field: wanted.parentField, creating: wanted.creating ?? false });
  const customers = await lockHeirs(sql, scope, wanted);
  const owned = await subscriptionsOf(
    sql,
    scope,
    customers.map(({ id }) => id),
  );
  const kept: string[] = [];
  const made: SubscriptionRow[] = [];
  for (const customer of customers) {
    const subscriptions = owned.get(customer.id) ?? [];
    const heir = { customerId: customer.id, externalId: customer.externalId, subscriptions };
    const own = inheritedAlready(heir, parent, wanted.field);
    if (own) {
      kept.push(own.id);
      continue;
    }
    refuseOtherClock(parent, customer, wanted.field);
    made.push(childOf(parent, customer.id, wanted.at));
  }
  const again = await keepChildren(sql, scope, parent, kept, wanted.at);
  await writeChildren(sql, scope, made, wanted.at);
  return [...made.map(({ id }) => id), ...again];
}

/** One bill has one present. */
function refuseOtherClock(parent: SubscriptionRow, customer: HeirRow, field: string): void {
  if (customer.testClockId === parent.testClockId) return;
  const clock = parent.testClockId === null ? 'in real time' : `on test clock ${parent.testClockId}`;
  throw badField(field, `names customer ${customer.externalId}, who does not live ${clock} as the parent does`);
}

interface HeirRow {
  id: string;
  externalId: string;
  testClockId: string | null;
  [column: string]: unknown;
}

/** Locks the customers, so that none of them gets a subscription of his own meanwhile. */
async function lockHeirs(sql: Sql, scope: Scope, { externalIds, field }: Inheriting): Promise<HeirRow[]> {
  const ids = [...new Set(externalIds)];
  const rows = await sql.rows<HeirRow>(
    `select id, external_id as "externalId", test_clock_id as "testClockId" from customer
     where environment_id = $1 and external_id = any($2) and status = 'published' order by id for update`,
    [scope.environmentId, ids],
  );
  const found = new Map(rows.map((row) => [row.externalId, row]));
  return ids.map((id) => {
    const row = found.get(id);
    if (!row) throw missing('customer', id, field);
    return row;
  });
}

async function subscriptionsOf(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<Map<string, HierarchyMember[]>> {
  const rows = await sql.rows<HierarchyMember & Record<string, unknown>>(
    `select id, customer_id as "customerId", subscription_status as status, subscription_type as "subscriptionType",
       parent_subscription_id as "parentSubscriptionId"
     from subscription where environment_id = $1 and customer_id = any($2) and status = 'published' and subscription_status <> 'cancelled'
     order by id`,
    [scope.environmentId, [...customerIds]],
  );
  return Map.groupBy(rows, ({ customerId }) => customerId);
}

/** The child as it begins: now, or with a parent that is still to start. */
function childOf(parent: SubscriptionRow, customerId: string, at: string): SubscriptionRow {
  return {
    ...parent,
    id: newId('subs'),
    customerId,
    subscriptionType: 'inherited',
    parentSubscriptionId: parent.id,
    inHierarchy: true,
    lookupKey: '',
    startDate: parent.status === 'draft' || parent.startDate > at ? parent.startDate : at,
    endDate: null,
    cancelAt: null,
    cancelledAt: null,
    cancelAtPeriodEnd: false,
    gatewayPaymentMethodId: null,
    commitmentAmount: null,
    commitmentDuration: null,
    overageFactor: '1',
    enableTrueUp: false,
    metadata: {},
    billingSequence: 0,
    renewalNoticedFor: null,
    pauseStatus: 'none',
    activePauseId: '',
    version: 1,
  };
}

async function writeChildren(sql: Sql, scope: Scope, rows: readonly SubscriptionRow[], at: string): Promise<void> {
  const now = new Date().toISOString();
  await writeRows(
    sql,
    insertSubscriptions,
    rows.map((row) => subscriptionRecord(row, scope.actor, now)),
  );
  await writeEvents(
    sql,
    scope,
    rows.map((row) =>
      subscriptionEvent(row.status === 'draft' ? 'subscription.draft.created' : 'subscription.created', row, at),
    ),
  );
  await writeAudit(
    sql,
    scope,
    rows.map((row) => ({
      objectType: 'subscription',
      objectId: row.id,
      action: 'inherited',
      version: row.version,
      occurredAt: at,
      detail: detailOf(row),
    })),
  );
}

function detailOf(row: SubscriptionRow) {
  return { parent_subscription_id: row.parentSubscriptionId, cancel_at: row.cancelAt };
}

/** Takes back that children are to be removed; the ids of those it was taken back of. */
async function keepChildren(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  ids: readonly string[],
  at: string,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const children = await lockChildren(sql, scope.environmentId, [parent.id], 'inherited');
  const leaving = children.filter((row) => ids.includes(row.id) && row.cancelAt !== null);
  const rows = leaving.map((row) => ({ ...row, cancelAt: null, cancelAtPeriodEnd: false, version: row.version + 1 }));
  await writeChanged(sql, scope, rows, { action: 'inheritance kept', at, detail: detailOf });
  return rows.map(({ id }) => id);
}

/**
 * Has the children of customers end with the parent's current period, until which their usage is billed; those that are to end
 * already stay as they are. The ids of the others. Throws `not_found` for an unknown customer, and `validation_error` for
 * one who does not inherit from this parent. spec: subscriptions-and-invoicing §2.13
 */
export async function removeHeirs(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  wanted: Inheriting,
): Promise<string[]> {
  const customers = await lockHeirs(sql, scope, wanted);
  const children = await lockChildren(sql, scope.environmentId, [parent.id], 'inherited');
  const leaving = customers.map(({ id, externalId }) => {
    const child = children.find((row) => row.customerId === id);
    if (!child) throw badField(wanted.field, `names customer ${externalId}, who does not inherit from ${parent.id}`);
    return child;
  });
  const end = parent.currentPeriodEnd;
  const rows = leaving
    .filter((row) => row.cancelAt === null)
    .map((row) => ({ ...row, cancelAt: end, cancelAtPeriodEnd: true, version: row.version + 1 }));
  await writeChanged(sql, scope, rows, { action: 'inheritance ends', at: wanted.at, detail: detailOf });
  return rows.map(({ id }) => id);
}
