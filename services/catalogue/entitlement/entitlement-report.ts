import type { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';

type Reported = Pick<
  Entitlement,
  | 'id'
  | 'entityType'
  | 'entityId'
  | 'featureId'
  | 'featureType'
  | 'isEnabled'
  | 'usageLimit'
  | 'usageResetPeriod'
  | 'isSoftLimit'
  | 'staticValue'
  | 'updatedAt'
>;

/** Outbox and audit rows of a change. spec: platform §17.2, §17.3 */
export async function reportEntitlement(
  sql: Sql & { readonly scope: Scope },
  entitlement: Reported,
  change: 'created' | 'updated' | 'deleted',
): Promise<void> {
  const body = {
    id: entitlement.id,
    entity_type: entitlement.entityType,
    entity_id: entitlement.entityId,
    feature_id: entitlement.featureId,
    feature_type: entitlement.featureType,
    is_enabled: entitlement.isEnabled,
    usage_limit: entitlement.usageLimit == null ? null : Number(entitlement.usageLimit),
    usage_reset_period: entitlement.usageResetPeriod ?? null,
    is_soft_limit: entitlement.isSoftLimit,
    static_value: entitlement.staticValue ?? null,
  };
  const occurredAt = entitlement.updatedAt;
  const about = { entityType: 'entitlement' as const, entityId: entitlement.id, occurredAt };
  await writeEvents(sql, sql.scope, [{ ...about, name: `entitlement.${change}`, payload: { entitlement: body } }]);
  await writeAudit(sql, sql.scope, [
    { objectType: 'entitlement', objectId: entitlement.id, action: change, occurredAt, detail: body },
  ]);
}
