import type { NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import type { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import { newId } from '../../db/id.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type GrantRow, insertGrants, readGrants } from '../ledger/credit-grant-row.ts';
import { auditGrant, checkRates, findGrant, type GrantOwner } from '../ledger/grant-record.ts';
import { publishedAddon } from './addon.ts';

/**
 * Creates a grant of a plan or add-on, from which subscriptions get theirs. Throws `not_found` for the owner and `validation_error`.
 * spec: wallets-and-payments §1.2
 */
export async function createTemplate(tx: Transaction, owner: GrantOwner, input: NewCreditGrant): Promise<CreditGrant> {
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
  await auditGrant(tx, grant.id, 'created', { ...owner });
  return findGrant(tx, grant.id);
}

async function holdPlan(tx: Transaction, id: string): Promise<void> {
  const [plan] = await tx.rows<{ status: string }>(
    'select status from plan where environment_id = $1 and id = $2 for share',
    [tx.scope.environmentId, id],
  );
  if (!plan) throw missing('plan', id, 'plan_id');
  if (plan.status !== 'published') throw badField('plan_id', `names plan ${id}, which is ${plan.status}`);
}
