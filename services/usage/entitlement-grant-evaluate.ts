import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A subscription with budgets. */
export interface GrantedSubscription {
  subscriptionId: string;
  customerId: string;
}

/**
 * The subscriptions of customers whose budgets are watched: those with a grant configuration on a meter they are charged by,
 * where the environment, or a setting of one of them, wants alerts of grants. Without alerts, records follow with the invoice. spec: catalogue-and-metering §9.2
 */
export async function grantedSubscriptions(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<GrantedSubscription[]> {
  const rows = await sql.rows<{ subscription_id: string; customer_id: string }>(
    `select distinct l.subscription_id, s.customer_id
     from subscription s join subscription_line_item l on l.subscription_id = s.id and l.environment_id = s.environment_id
     where s.environment_id = $1 and s.customer_id = any($2) and s.status = 'published' and l.status = 'published'
       and s.subscription_status in ('active', 'trialing')
       and l.meter_id in (select f.meter_id from entitlement e join feature f on f.id = e.feature_id
         where e.environment_id = $1 and e.status = 'published' and e.grant_quota is not null)
       and (exists (select from setting where environment_id = $1 and key = 'entitlement_alert_config' and status = 'published'
           and value ->> 'alert_enabled' = 'true')
         or exists (select from entitlement_grant g join alert_setting a on a.environment_id = $1
           and a.entity_type = 'entitlement_grant' and a.entity_id = g.id and a.status = 'published' and a.enabled
           where g.environment_id = $1 and g.subscription_id = s.id))
     order by l.subscription_id`,
    [scope.environmentId, [...customerIds]],
  );
  return rows.map((row) => ({ subscriptionId: row.subscription_id, customerId: row.customer_id }));
}
