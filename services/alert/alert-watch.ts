import type { Scope } from '../../db/scope.ts';
import type { ScopedSql, Sql } from '../../db/transaction.ts';
import { markCustomers } from '../usage-mark.ts';

/** Entity that a setting is about. */
interface WatchedEntity {
  entityType: string;
  entityId: string;
  parentEntityId: string;
}

/** From now on the usage of the environment is watched, and the customers a setting is about are looked at. */
export async function watchAlerts(tx: ScopedSql, setting: WatchedEntity & { enabled: boolean }): Promise<void> {
  if (!setting.enabled) return;
  await watchEnvironment(tx, tx.scope);
  await lookAtEntity(tx, setting);
}

/** Has the customers of an entity looked at, also where its setting is gone and the default of the environment may hold again. */
export async function lookAtEntity(tx: ScopedSql, setting: WatchedEntity): Promise<void> {
  const rows = await tx.rows<{ customer_id: string }>(customersText, [
    tx.scope.environmentId,
    setting.entityType,
    setting.entityId,
    setting.parentEntityId,
  ]);
  markCustomers(
    tx,
    tx.scope,
    rows.map((row) => row.customer_id),
  );
}

/** From now on whoever stores events marks their customers. */
export async function watchEnvironment(sql: Sql, scope: Scope): Promise<void> {
  await sql.rows('select usage.watch_environment($1)', [scope.environmentId]);
}

/**
 * Looks at every customer with a wallet or a setting, after a default of the environment changed. The environment is watched from now
 * on, also where the default was switched off: somebody may be in alarm by it.
 */
export async function watchAlertDefaults(tx: ScopedSql): Promise<void> {
  await watchEnvironment(tx, tx.scope);
  const rows = await tx.rows<{ customer_id: string }>(
    `select customer_id from wallet where environment_id = $1 and wallet_status = 'active' and status = 'published'
     union select s.customer_id from alert_setting a join subscription s on s.environment_id = a.environment_id
       and s.id in (a.entity_id, a.parent_entity_id) where a.environment_id = $1 and a.status = 'published'`,
    [tx.scope.environmentId],
  );
  markCustomers(
    tx,
    tx.scope,
    rows.map((row) => row.customer_id),
  );
}

// A feature is watched in the wallets of all customers.
const customersText = `
select customer_id from wallet where environment_id = $1 and id = $3 and $2 = 'wallet'
union select customer_id from wallet where environment_id = $1 and $2 = 'feature' and wallet_status = 'active' and status = 'published'
union select customer_id from subscription where environment_id = $1 and id in ($3, $4) and $2 in ('subscription', 'subscription_line_item', 'group')
union select customer_id from entitlement_grant where environment_id = $1 and id = $3 and $2 = 'entitlement_grant'`;
