import { realNow } from '../../../db/clock.ts';
import type { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { newId } from '../../../db/id.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { type GrantRow, insertGrants, readGrants } from '../../ledger/credit-grant-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { EntitlementColumns } from '../entitlement/entitlement.ts';
import { grantColumns, grantOf } from '../entitlement/entitlement-grant-terms.ts';

/** An entitlement of a plan as the copy of the plan has it. spec: catalogue-and-metering §3 Clone */
export function copiedEntitlement(
  source: Entitlement,
  copy: { planId: string; featureId: string },
): EntitlementColumns {
  return {
    entityType: 'PLAN',
    entityId: copy.planId,
    parentEntitlementId: null,
    overriddenMembers: null,
    featureId: copy.featureId,
    featureType: source.featureType,
    isEnabled: source.isEnabled,
    isSoftLimit: source.isSoftLimit,
    staticValue: source.staticValue,
    configValue: source.configValue,
    usageLimit: source.usageLimit,
    usageResetPeriod: source.usageResetPeriod,
    aggregationMode: source.aggregationMode,
    displayOrder: source.displayOrder,
    startDate: source.startDate,
    endDate: source.endDate,
    ...grantColumns(grantOf(source)),
  };
}

/** The published credit grants of a plan, the oldest first; those of its subscriptions are not among them. */
export function grantsOfPlan(tx: Transaction, planId: string): Promise<GrantRow[]> {
  return readGrants(tx, tx.scope.environmentId, `g.scope = 'PLAN' and g.plan_id = $2`, planId);
}

/** Gives a plan grants like those of another, under new ids. spec: catalogue-and-metering §3 Clone */
export async function copyGrants(tx: Transaction, sources: readonly GrantRow[], planId: string): Promise<void> {
  const copies = sources.map((source) => ({ ...source, id: newId('cg'), planId }));
  await insertGrants(tx, tx.scope, copies);
  await writeAudit(
    tx,
    tx.scope,
    copies.map(({ id }, index) => ({
      objectType: 'credit_grant',
      objectId: id,
      action: 'created',
      occurredAt: realNow(),
      detail: { planId, addonId: null, subscriptionId: null, copy_of: sources[index]!.id },
    })),
  );
}
