import type { NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import { customerNow } from '../../db/clock.ts';
import { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import { CreditGrantApplication } from '../../db/entities/wallet/credit-grant-application.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { createTemplate } from '../catalogue/grant-template.ts';
import { lockSubscriptions } from '../charging/subscription-row.ts';
import { refreshAgendas } from '../charging/subscription-snapshot.ts';
import {
  archiveTemplate,
  auditGrant,
  findGrant,
  type GrantOwner,
  lockGrant,
  renameGrant,
} from '../ledger/grant-record.ts';
import { applyDueGrants } from '../subscription/period/credit-grant-apply.ts';
import { endGrant, grantToSubscription } from '../subscription/period/subscription-grant.ts';

/**
 * Creates a grant: a template of a plan or add-on, or one of a subscription with its first application, which is applied at once
 * if it is due. Throws `not_found` for the owner and `validation_error`. spec: wallets-and-payments §1.2
 */
export async function createGrant(tx: Transaction, owner: GrantOwner, input: NewCreditGrant): Promise<CreditGrant> {
  if (owner.subscriptionId === null) return createTemplate(tx, owner, input);
  const id = await ofSubscription(tx, owner.subscriptionId, input);
  await auditGrant(tx, id, 'created', { ...owner });
  return findGrant(tx, id);
}

async function ofSubscription(tx: Transaction, subscriptionId: string, input: NewCreditGrant): Promise<string> {
  const row = (await lockSubscriptions(tx, tx.scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) throw missing('subscription', subscriptionId, 'subscription_id');
  if (row.status === 'cancelled')
    throw badField('subscription_id', 'names a subscription that is cancelled; choose one that is not');
  const grant = await grantToSubscription(tx, tx.scope, row, input);
  await applyDueGrants(tx, tx.scope, row, await customerNow(tx, row.customerId));
  await refreshAgendas(tx, tx.scope.environmentId, [row]);
  return grant.id;
}

/** What may be written on a grant. */
export interface GrantChange {
  name?: string | undefined;
  metadata?: Record<string, string> | undefined;
  endDate?: string | undefined;
}

/** Changes name, metadata or end; what was to come after the end is cancelled. spec: wallets-and-payments §1.2 PUT */
export async function updateGrant(tx: Transaction, id: string, change: GrantChange): Promise<CreditGrant> {
  const grant = await lockGrant(tx, id);
  if (change.endDate !== undefined) await moveEnd(tx, grant, change.endDate);
  await renameGrant(tx, grant, change);
  return grant;
}

async function moveEnd(tx: Transaction, grant: CreditGrant, endDate: string): Promise<void> {
  if (grant.scope !== 'SUBSCRIPTION')
    throw badField('end_date', 'belongs to grants of subscriptions; delete the grant instead');
  if (endDate < (await subscriptionNow(tx, grant))) throw badField('end_date', 'must not be in the past');
  if (grant.startDate && endDate < grant.startDate) throw badField('end_date', `must not be before ${grant.startDate}`);
  await endGrant(tx, tx.scope, grant.id, endDate);
  grant.endDate = endDate;
  await refreshOwner(tx, grant);
}

/**
 * Ends a grant: a template is archived, one of a subscription ends at the date or now, and what was to come is cancelled; credits
 * that were granted stay. Throws `invalid_operation` for one that is archived. spec: wallets-and-payments §1.2 DELETE
 */
export async function deleteGrant(tx: Transaction, id: string, effectiveDate: string | null): Promise<CreditGrant> {
  const grant = await lockGrant(tx, id);
  if (grant.scope === 'SUBSCRIPTION') {
    const at = effectiveDate ?? (await subscriptionNow(tx, grant));
    await endGrant(tx, tx.scope, id, at);
    await refreshOwner(tx, grant);
    await auditGrant(tx, id, 'deleted', {});
  } else await archiveTemplate(tx, grant);
  return grant;
}

async function subscriptionNow(tx: Transaction, grant: CreditGrant): Promise<string> {
  const row = (await lockSubscriptions(tx, tx.scope.environmentId, [grant.subscriptionId!])).get(grant.subscriptionId!);
  return customerNow(tx, row!.customerId);
}

async function refreshOwner(tx: Transaction, grant: CreditGrant): Promise<void> {
  const rows = await lockSubscriptions(tx, tx.scope.environmentId, [grant.subscriptionId!]);
  await refreshAgendas(tx, tx.scope.environmentId, [...rows.values()]);
}

const grantList: ListDefinition<CreditGrant> = {
  entity: CreditGrant,
  columns: {
    name: 'string',
    scope: 'string',
    plan_id: 'string',
    addon_id: 'string',
    subscription_id: 'string',
    cadence: 'string',
    credits: 'decimal',
    start_date: 'date',
    end_date: 'date',
  },
};

export interface GrantFilters {
  grantIds?: readonly string[] | undefined;
  planIds?: readonly string[] | undefined;
  subscriptionIds?: readonly string[] | undefined;
  addonIds?: readonly string[] | undefined;
  scope?: string | undefined;
}

/** One page of grants. spec: wallets-and-payments §1.2 */
export function listGrants(tx: Transaction, query: ListQuery, filters: GrantFilters): Promise<ListPage<CreditGrant>> {
  return listPage(tx, grantList, query, {
    ...anyOf('id', filters.grantIds),
    ...anyOf('planId', filters.planIds),
    ...anyOf('subscriptionId', filters.subscriptionIds),
    ...anyOf('addonId', filters.addonIds),
    ...(filters.scope ? { scope: filters.scope } : {}),
  });
}

/** Applications that are still to come of subscriptions, the first one first. spec: wallets-and-payments §1.2 upcoming */
export async function upcomingGrants(
  tx: Transaction,
  subscriptionIds: readonly string[],
  now: string,
): Promise<CreditGrantApplication[]> {
  return tx.em.find(
    CreditGrantApplication,
    {
      environmentId: tx.scope.environmentId,
      subscriptionId: { $in: [...subscriptionIds] },
      applicationStatus: { $in: ['pending', 'failed'] },
      scheduledFor: { $gt: now },
    },
    { orderBy: { scheduledFor: 'asc', id: 'asc' } },
  );
}
