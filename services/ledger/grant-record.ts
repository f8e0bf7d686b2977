import { LockMode } from '@mikro-orm/core';
import { decimal } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import type { NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import { badField, missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';

/** Receiver of a new grant: exactly one of the ids. */
export interface GrantOwner {
  planId: string | null;
  addonId: string | null;
  subscriptionId: string | null;
}

/** A grant of this environment, archived or not. Throws `not_found`. */
export async function findGrant(tx: Transaction, id: string): Promise<CreditGrant> {
  const grant = await tx.em.findOne(CreditGrant, { id, environmentId: tx.scope.environmentId }, { refresh: true });
  if (!grant) throw missing('credit grant', id);
  return grant;
}

/** A grant that is in force, locked. Throws `not_found`, and `invalid_operation` for one that is archived. */
export async function lockGrant(tx: Transaction, id: string): Promise<CreditGrant> {
  const where = { id, environmentId: tx.scope.environmentId };
  const grant = await tx.em.findOne(CreditGrant, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!grant) throw missing('credit grant', id);
  if (grant.status !== 'published')
    throw refuse('invalid_operation', `credit grant ${grant.id} is ${grant.status} already; create a new one`);
  return grant;
}

/** Writes name and metadata of a locked grant, and what the caller set on it. spec: wallets-and-payments §1.2 PUT */
export async function renameGrant(
  tx: Transaction,
  grant: CreditGrant,
  change: { name?: string | undefined; metadata?: Record<string, string> | undefined },
): Promise<void> {
  if (change.name !== undefined) grant.name = change.name;
  if (change.metadata !== undefined) grant.metadata = change.metadata;
  touch(tx, grant);
  await tx.em.flush();
  await auditGrant(tx, grant.id, 'updated', {});
}

/** Archives a locked grant of a plan or add-on; subscriptions keep what they were given. spec: wallets-and-payments §1.2 DELETE */
export async function archiveTemplate(tx: Transaction, grant: CreditGrant): Promise<void> {
  grant.status = 'archived';
  touch(tx, grant);
  await tx.em.flush();
  await auditGrant(tx, grant.id, 'deleted', {});
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

/** All grants of one plan, add-on or subscription are worth the same. spec: wallets-and-payments §1.2 */
export function checkRates(grants: readonly NewCreditGrant[], field = 'credit_grants'): void {
  for (const member of ['conversionRate', 'topupConversionRate'] as const) {
    const rates = new Set(grants.map((grant) => grant[member] && decimal(grant[member]).toFixed()));
    if (rates.size > 1) {
      const name = member === 'conversionRate' ? 'conversion_rate' : 'topup_conversion_rate';
      throw badField(`${field}.${name}`, 'must be the same for all grants of one plan, add-on or subscription');
    }
  }
}

/** Writes into the audit log what became of a grant. */
export async function auditGrant(
  tx: Transaction,
  id: string,
  action: string,
  detail: Record<string, unknown>,
): Promise<void> {
  await writeAudit(tx, tx.scope, [
    { objectType: 'credit_grant', objectId: id, action, occurredAt: new Date().toISOString(), detail },
  ]);
}
