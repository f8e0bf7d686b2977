import type { AlertEntity } from '../../billing/alert/alert-config.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';

/** Entity of a setting, and its parent. */
export interface AlertSubject {
  entityType: AlertEntity;
  entityId: string;
  parentEntityId: string | null;
}

/** Tables of the entities that can be watched, and whether a record status keeps them. */
const tables: Record<AlertEntity, { table: string; live: string }> = {
  wallet: { table: 'wallet', live: `status = 'published'` },
  feature: { table: 'feature', live: `status = 'published'` },
  subscription: { table: 'subscription', live: `status = 'published'` },
  subscription_line_item: { table: 'subscription_line_item', live: `status = 'published'` },
  group: { table: 'catalogue_group', live: `status = 'published'` },
  entitlement_grant: { table: 'entitlement_grant', live: 'true' },
};

/**
 * Refuses a setting of an entity or parent that does not exist with `not_found`, and of a line item of another subscription with
 * `validation_error`. spec: wallets-and-payments §1.3, §3 rows 28, 29
 */
export async function refuseUnknownEntity(tx: Transaction, subject: AlertSubject): Promise<void> {
  const { entityType, entityId, parentEntityId } = subject;
  if (!(await exists(tx, entityType, entityId))) throw missing(noun(entityType), entityId, 'entity_id');
  if (parentEntityId === null) return;
  if (!(await exists(tx, 'subscription', parentEntityId))) {
    throw missing('subscription', parentEntityId, 'parent_entity_id');
  }
  if (entityType !== 'subscription_line_item') return;
  const [item] = await tx.rows<{ subscription_id: string }>(
    'select subscription_id from subscription_line_item where environment_id = $1 and id = $2',
    [tx.scope.environmentId, entityId],
  );
  if (item?.subscription_id === parentEntityId) return;
  throw badField('entity_id', `names a line item of subscription ${item?.subscription_id}, not of ${parentEntityId}`);
}

async function exists(tx: Transaction, entityType: AlertEntity, id: string): Promise<boolean> {
  const { table, live } = tables[entityType];
  const rows = await tx.rows(`select 1 from ${table} where environment_id = $1 and id = $2 and ${live}`, [
    tx.scope.environmentId,
    id,
  ]);
  return rows.length > 0;
}

const noun = (entityType: AlertEntity) => entityType.replaceAll('_', ' ');
