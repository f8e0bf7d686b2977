import type { ScopedSql, Sql } from '../../db/transaction.ts';

/** An object that waits for something and therefore has a workflow. */
export interface LiveObject {
  objectType: string;
  objectId: string;
  tenantId: string;
  environmentId: string;
  customerId: string;
  testClockId: string | null;
  clockTime: string | null;
  /** First entry of its agenda where it has one. */
  firstAt: string | null;
}

const liveText = `
     select distinct on (o.object_id, o.object_type) o.object_type as "objectType", o.object_id as "objectId", o.tenant_id as "tenantId",
       o.environment_id as "environmentId", o.customer_id as "customerId", o.test_clock_id as "testClockId", c.frozen_time as "clockTime",
       o.due_at as "firstAt"
     from (
       select object_type, object_id, tenant_id, environment_id, customer_id, test_clock_id, due_at from agenda_entry
       union all
       select 'subscription', id, tenant_id, environment_id, customer_id, test_clock_id, null from subscription
         where status = 'published' and subscription_status <> 'cancelled' and subscription_type <> 'inherited'
           and not (subscription_status = 'draft' and exists (select from checkout_session h where h.subscription_id = subscription.id
             and h.action = 'create_subscription' and h.checkout_status in ('initiated', 'pending')))
       union all
       select 'subscription', subscription_id, tenant_id, environment_id, customer_id, test_clock_id, null from opening_charge where charge_status = 'open'
       union all
       select 'auto_top_up', id, tenant_id, environment_id, customer_id, test_clock_id, null from wallet_auto_topup where state <> 'disabled'
       union all
       select 'task', id, tenant_id, environment_id, '', null, null from task
         where task_status in ('PENDING', 'PROCESSING') and status = 'published'
       union all
       select 'usage_watch', e.id, e.tenant_id, e.id, '', null, null from environment e
         where exists (select 1 from usage.mark m where m.env = e.number and m.due_at < 'infinity')
           or exists (select 1 from usage.dated_mark d where d.env = e.number and d.clock = '')
       union all
       select 'meter_build', b.meter_id, e.tenant_id, e.id, '', null, null from usage.meter_build b join environment e on e.number = b.env
       union all
       select 'customer_onboarding', id, tenant_id, environment_id, customer_id, null, null from customer_onboarding
         where onboarding_status = 'pending'
       union all
       select 'environment_clone', id, tenant_id, environment_id, '', null, null from environment_clone where clone_status = 'running'
       union all
       select 'provider_inbox', c.id, c.tenant_id, c.environment_id, '', null, null from connection c
         where exists (select from inbound_event e where e.environment_id = c.environment_id and e.connection_id = c.id and e.done_at is null)
       union all
       select 'test_clock', id, tenant_id, environment_id, '', null, null from test_clock where target_time is not null and status = 'published'
     ) o left join test_clock c on c.id = o.test_clock_id`;

type LiveRow = LiveObject & Record<string, unknown>;

/**
 * Objects with something to wait for, by id and type after `after`: whatever has an agenda, subscriptions that wait for messages only (not
 * inherited ones, which follow their parents) or are being paid before they exist,
 * clocks that move, imports, builds of meters, onboardings and clones of environments that are not through, connections with notifications that
 * are to be passed on, and environments with customers whose usage is to be looked at. spec of use: `npm run reconcile`
 */
export async function liveObjects(sql: Sql, after: LiveObject | null, limit: number): Promise<LiveObject[]> {
  const next = 'where (o.object_id, o.object_type) > ($1, $2) order by o.object_id, o.object_type, o.due_at limit $3';
  return sql.rows<LiveRow>(`${liveText} ${next}`, [after?.objectId ?? '', after?.objectType ?? '', limit]);
}

/** Those of `ids`, objects of one type in one environment, that have something to wait for; found by keys, however many there are. */
export async function liveAmong(
  sql: Sql,
  { environmentId, objectType }: { environmentId: string; objectType: string },
  ids: readonly string[],
): Promise<LiveObject[]> {
  const these =
    'where o.environment_id = $1 and o.object_type = $2 and o.object_id = any($3) order by o.object_id, o.object_type, o.due_at';
  return sql.rows<LiveRow>(`${liveText} ${these}`, [environmentId, objectType, ids]);
}

/** True where the audit tells that the object's workflow was started again after the run `runId` had been closed. */
export async function restartIsAudited(
  sql: ScopedSql,
  { objectId, runId }: { objectId: string; runId: string },
): Promise<boolean> {
  const rows = await sql.rows(
    `select 1 from audit_entry where environment_id = $1 and object_id = $2 and action = 'workflow restarted' and detail->>'run_id' = $3`,
    [sql.scope.environmentId, objectId, runId],
  );
  return rows.length > 0;
}
