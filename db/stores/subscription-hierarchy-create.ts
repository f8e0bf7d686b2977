import { checkParent } from '../../billing/hierarchy.ts';
import type { NewHierarchy, NewSubscription } from '../../billing/new-subscription.ts';
import { badField, missing } from '../record.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import { thresholdOf } from './subscription-family.ts';
import { inheritSubscription } from './subscription-inheritance.ts';
import type { SubscriptionRow } from './subscription-row.ts';

const heirsField = 'inheritance.external_customer_ids_to_inherit_subscription';

/** What a creation makes the subscription in a hierarchy. spec: subscriptions-and-invoicing §2.13 */
export function hierarchyOf(
  hierarchy: NewHierarchy | undefined,
): Pick<SubscriptionRow, 'subscriptionType' | 'parentSubscriptionId' | 'inHierarchy'> {
  const leads = (hierarchy?.heirExternalIds.length ?? 0) > 0;
  return {
    subscriptionType: leads ? 'parent' : 'standalone',
    parentSubscriptionId: hierarchy?.parentSubscriptionId ?? null,
    inHierarchy: leads,
  };
}

/** Refuses a subscription of his own to a customer who inherits one. spec: subscriptions-and-invoicing §2.13 */
export async function refuseHeir(sql: Sql, scope: Scope, customerId: string): Promise<void> {
  const [row] = await sql.rows<{ parent: string }>(
    `select parent_subscription_id as parent from subscription where environment_id = $1 and customer_id = $2
       and status = 'published' and subscription_type = 'inherited' and subscription_status <> 'cancelled'`,
    [scope.environmentId, customerId],
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
export async function payerOfParent(
  sql: Sql,
  scope: Scope,
  hierarchy: NewHierarchy | undefined,
): Promise<string | null> {
  const id = hierarchy?.parentSubscriptionId;
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

/** Makes the children a subscription is created with. spec: subscriptions-and-invoicing §2.3.1 step 25 */
export async function createFamily(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { hierarchy, at }: NewSubscription,
): Promise<void> {
  const externalIds = hierarchy?.heirExternalIds ?? [];
  if (externalIds.length === 0) return;
  const wanted = { externalIds, at, field: heirsField, parentField: 'inheritance', creating: true };
  await inheritSubscription(sql, scope, row, wanted);
}

/** Refuses children of a subscription whose usage is invoiced at a threshold. spec: §2.3.1 step 12, §2.13 */
export async function checkFamily(sql: Sql, row: SubscriptionRow): Promise<void> {
  if (row.subscriptionType !== 'parent') return;
  const threshold = await thresholdOf(sql, row);
  checkParent(row, { threshold, field: 'inheritance', creating: true });
}
