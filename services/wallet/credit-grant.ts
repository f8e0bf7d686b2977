import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import type { NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import { customerNow } from '../../db/clock.ts';
import { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import { CreditGrantApplication } from '../../db/entities/wallet/credit-grant-application.ts';
import { newId } from '../../db/id.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { publishedAddon } from '../catalogue/addon.ts';
import { lockSubscriptions } from '../charging/subscription-row.ts';
import { type GrantRow, insertGrants, readGrants } from '../ledger/credit-grant-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { checkRates, endGrant, grantToSubscription } from '../subscription/period/subscription-grant.ts';
import { refreshAgendas } from '../subscription/period/subscription-snapshot.ts';
import { applyDueGrants } from './credit-grant-apply.ts';

/** Whom a new grant is for: exactly one of the ids. */
export interface GrantOwner {
  planId: string | null;
  addonId: string | null;
  subscriptionId: string | null;
}

/**
 * Creates a grant: a template of a plan or add-on, or one of a subscription with its first application, which is applied at once
 * if it is due. Throws `not_found` for the owner and `validation_error`. spec: wallets-and-payments §1.2
 */
export async function createGrant(tx: Transaction, owner: GrantOwner, input: NewCreditGrant): Promise<CreditGrant> {
  const id =
    owner.subscriptionId !== null
      ? await ofSubscription(tx, owner.subscriptionId, input)
      : await template(tx, owner, input);
  await audit(tx, id, 'created', { ...owner });
  return findGrant(tx, id);
}

async function template(tx: Transaction, owner: GrantOwner, input: NewCreditGrant): Promise<string> {
  if (owner.addonId !== null) await publishedAddon(tx, owner.addonId, 'addon_id');
  else await holdPlan(tx, owner.planId!);
  const [column, ownerId] = owner.addonId !== null ? ['g.addon_id', owner.addonId] : ['g.plan_id', owner.planId];
  checkRates([...(await readGrants(tx, tx.scope.environmentId, `${column} = $2`, ownerId)), input], 'grant');
  const grant: GrantRow = {
    ...input,
    ...owner,
    id: newId('cg'),
    scope: owner.addonId !== null ? 'ADDON' : 'PLAN',
    originPlanId: null,
    addonAssociationId: null,
    creditGrantAnchor: null,
    startDate: null,
    endDate: null,
  };
  await insertGrants(tx, tx.scope, [grant]);
  return grant.id;
}

async function holdPlan(tx: Transaction, id: string): Promise<void> {
  const [plan] = await tx.rows<{ status: string }>(
    'select status from plan where environment_id = $1 and id = $2 for share',
    [tx.scope.environmentId, id],
  );
  if (!plan) throw missing('plan', id, 'plan_id');
  if (plan.status !== 'published') throw badField('plan_id', `names plan ${id}, which is ${plan.status}`);
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

/** A grant of this environment, archived or not. Throws `not_found`. */
export async function findGrant(tx: Transaction, id: string): Promise<CreditGrant> {
  const grant = await tx.em.findOne(CreditGrant, { id, environmentId: tx.scope.environmentId }, { refresh: true });
  if (!grant) throw missing('credit grant', id);
  return grant;
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
  if (grant.status !== 'published') throw archived(grant);
  if (change.endDate !== undefined) await moveEnd(tx, grant, change.endDate);
  if (change.name !== undefined) grant.name = change.name;
  if (change.metadata !== undefined) grant.metadata = change.metadata;
  touch(tx, grant);
  await tx.em.flush();
  await audit(tx, id, 'updated', {});
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
  if (grant.status !== 'published') throw archived(grant);
  if (grant.scope === 'SUBSCRIPTION') {
    const at = effectiveDate ?? (await subscriptionNow(tx, grant));
    await endGrant(tx, tx.scope, id, at);
    await refreshOwner(tx, grant);
  } else {
    grant.status = 'archived';
    touch(tx, grant);
    await tx.em.flush();
  }
  await audit(tx, id, 'deleted', {});
  return grant;
}

function archived(grant: CreditGrant) {
  return refuse('invalid_operation', `credit grant ${grant.id} is ${grant.status} already; create a new one`);
}

async function subscriptionNow(tx: Transaction, grant: CreditGrant): Promise<string> {
  const row = (await lockSubscriptions(tx, tx.scope.environmentId, [grant.subscriptionId!])).get(grant.subscriptionId!);
  return customerNow(tx, row!.customerId);
}

async function refreshOwner(tx: Transaction, grant: CreditGrant): Promise<void> {
  const rows = await lockSubscriptions(tx, tx.scope.environmentId, [grant.subscriptionId!]);
  await refreshAgendas(tx, tx.scope.environmentId, [...rows.values()]);
}

async function lockGrant(tx: Transaction, id: string): Promise<CreditGrant> {
  const where = { id, environmentId: tx.scope.environmentId };
  const grant = await tx.em.findOne(CreditGrant, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!grant) throw missing('credit grant', id);
  return grant;
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

/** Published grants by the id of their owner, the oldest first. */
export async function grantsOf(
  tx: Transaction,
  owner: 'planId' | 'addonId' | 'subscriptionId',
  ids: readonly string[],
): Promise<Map<string, CreditGrant[]>> {
  if (ids.length === 0) return new Map();
  const grants = await tx.em.find(
    CreditGrant,
    { environmentId: tx.scope.environmentId, status: 'published', [owner]: { $in: [...ids] } },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return Map.groupBy(grants, (grant) => grant[owner]!);
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

async function audit(tx: Transaction, id: string, action: string, detail: Record<string, unknown>): Promise<void> {
  await writeAudit(tx, tx.scope, [
    { objectType: 'credit_grant', objectId: id, action, occurredAt: new Date().toISOString(), detail },
  ]);
}
