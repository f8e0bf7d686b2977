import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/**
 * Lets streams in alarm of wallets, and of features in them, take a less severe state without waiting that it lasts: after a credit.
 * design: money-in-wallets finding 16
 */
export async function allowCalmOfWallets(sql: Sql, scope: Scope, walletIds: readonly string[]): Promise<void> {
  if (walletIds.length === 0) return;
  const whose = `(entity_type = 'wallet' and entity_id = any($3) or entity_type = 'feature' and parent_entity_id = any($3))`;
  await allowCalm(sql, scope, whose, [walletIds]);
}

/** Likewise for the streams of an entity whose settings changed. design: money-in-wallets finding 16 */
export async function allowCalmOfEntity(
  sql: Sql,
  scope: Scope,
  { entityType, entityId }: { entityType: string; entityId: string },
): Promise<void> {
  await allowCalm(sql, scope, 'entity_type = $3 and entity_id = $4', [entityType, entityId]);
}

const longAgo = '1970-01-01T00:00:00.000Z';

async function allowCalm(sql: Sql, scope: Scope, whose: string, values: readonly unknown[]): Promise<void> {
  await sql.rows(
    `with calmed as (
       select environment_id, entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start from alert_stream
       where environment_id = $1 and state <> 'ok' and ${whose}
       order by entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start for update)
     update alert_stream s set calmer_state = coalesce(s.calmer_state, 'ok'), calmer_since = $2 from calmed c
     where (s.environment_id, s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start)
       = (c.environment_id, c.entity_type, c.entity_id, c.alert_type, c.parent_entity_id, c.setting_id, c.period_start)`,
    [scope.environmentId, longAgo, ...values],
  );
}
