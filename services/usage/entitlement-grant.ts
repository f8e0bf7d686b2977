import type { ChargeLine } from '../../billing/line/charge.ts';
import type { CycleGrants } from '../../billing/line/charge-terms.ts';
import { decimal, decimalString, storedDecimal } from '../../billing/money/money.ts';
import { newId } from '../../db/id.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { alertGrants, grantIsWatched } from '../alert/grant-alert.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';

/** What was measured for a subscription: its lines, with the windows of their budgets. */
export interface MeasuredSubscription {
  subscription: { id: string; customerId: string };
  lines: readonly Pick<ChargeLine, 'grants'>[];
}

interface GrantRow {
  id: string;
  entitlement_config_id: string;
  customer_id: string;
  subscription_id: string;
  quota: string;
  usage: string;
  crossed_at: string;
  [column: string]: unknown;
}

/**
 * Makes the records of budgets equal to what was measured: windows of the measured billing periods are written, changed, or
 * removed where late events moved them. Each window that is used up is reported once, with the time of the event that reached
 * the quota, if the environment wants alerts of grants. Several lines of one meter have the same windows; the first is kept.
 * spec: catalogue-and-metering §9.2
 */
export async function recordGrants(sql: Sql, scope: Scope, measured: readonly MeasuredSubscription[]): Promise<void> {
  const cycles = measured.flatMap(({ subscription, lines }) =>
    lines.flatMap(({ grants = [] }) => grants.map((cycle) => ({ subscription, ...cycle }))),
  );
  if (cycles.length === 0) return;
  const windows = distinctWindows(cycles);
  const configured = cycles.flatMap(({ subscription, cycle, entitlementIds }) =>
    entitlementIds.map((entitlementId) => ({ subscriptionId: subscription.id, cycle, entitlementId })),
  );
  await sql.rows(removeText, [
    scope.environmentId,
    configured.map(({ subscriptionId }) => subscriptionId),
    configured.map(({ entitlementId }) => entitlementId),
    configured.map(({ cycle }) => cycle.start),
    configured.map(({ cycle }) => cycle.end),
    windows.map(({ subscription }) => subscription.id),
    windows.map(({ window }) => window.entitlementId),
    windows.map(({ window }) => window.start),
  ]);
  await sql.rows(writeText, [
    scope.tenantId,
    scope.environmentId,
    new Date().toISOString(),
    windows.map(() => newId('eg')),
    windows.map(({ window }) => window.entitlementId),
    windows.map(({ subscription }) => subscription.customerId),
    windows.map(({ subscription }) => subscription.id),
    windows.map(({ measure }) => measure),
    windows.map(({ window }) => window.quota),
    windows.map(({ window }) => window.start),
    windows.map(({ window }) => window.end),
    windows.map(({ window }) => window.usage),
    windows.map(({ window }) => window.overage),
    windows.map(({ window }) => window.crossedAt),
  ]);
  const subscriptionIds = [...new Set(windows.map(({ subscription }) => subscription.id))];
  await reportExhausted(sql, scope, subscriptionIds);
  const measuredWindows = windows.map(({ subscription, window }) => ({
    subscriptionId: subscription.id,
    entitlementId: window.entitlementId,
    start: window.start,
  }));
  await alertGrants(sql, scope, measuredWindows);
}

type MeasuredCycle = CycleGrants & Pick<MeasuredSubscription, 'subscription'>;

function distinctWindows(cycles: readonly MeasuredCycle[]) {
  const all = cycles.flatMap(({ subscription, measure, windows }) =>
    windows.map((window) => ({ subscription, measure, window })),
  );
  const distinct = new Map<string, (typeof all)[number]>();
  for (const one of all) {
    const key = `${one.subscription.id} ${one.window.entitlementId} ${one.window.start}`;
    if (!distinct.has(key)) distinct.set(key, one);
  }
  return [...distinct.values()];
}

/** Sends `entitlement.grant.exhausted` for windows that are used up and have not been reported. spec: wallets §2.16; platform §17.2 */
async function reportExhausted(sql: Sql, scope: Scope, subscriptionIds: readonly string[]): Promise<void> {
  const rows = await sql.rows<GrantRow>(exhaustedText, [
    scope.environmentId,
    subscriptionIds,
    new Date().toISOString(),
  ]);
  const reports = rows.map((row) => {
    const alert = {
      subscription_id: row.subscription_id,
      customer_id: row.customer_id,
      entitlement_id: row.entitlement_config_id,
      entitlement_grant_id: row.id,
      alert_type: 'entitlement_grant_exhausted' as const,
      alert_status: 'in_alarm' as const,
      usage_ratio: decimalString(storedDecimal(decimal(decimalText(row.usage)).dividedBy(decimalText(row.quota)))),
      triggered_at: row.crossed_at,
    };
    return { id: row.id, occurredAt: row.crossed_at, alert };
  });
  const name = 'entitlement.grant.exhausted';
  await writeEvents(
    sql,
    scope,
    reports.map(({ id, occurredAt, alert }) => ({
      name,
      entityType: 'entitlement_grant',
      entityId: id,
      occurredAt,
      payload: { alert, ...alert },
    })),
  );
  await writeAudit(
    sql,
    scope,
    reports.map(({ id, occurredAt, alert }) => ({
      objectType: 'entitlement_grant',
      objectId: id,
      action: 'exhausted',
      occurredAt,
      detail: alert,
    })),
  );
}

const removeText = `
delete from entitlement_grant g
using unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) as c(subscription_id, entitlement_id, cycle_start, cycle_end)
where g.environment_id = $1 and g.subscription_id = c.subscription_id and g.entitlement_config_id = c.entitlement_id
  and g.valid_from >= c.cycle_start and g.valid_from < c.cycle_end
  and not exists (
    select from unnest($6::text[], $7::text[], $8::timestamptz[]) as w(subscription_id, entitlement_id, valid_from)
    where w.subscription_id = g.subscription_id and w.entitlement_id = g.entitlement_config_id and w.valid_from = g.valid_from)`;

const writeText = `
insert into entitlement_grant as g (id, tenant_id, environment_id, created_at, updated_at, entitlement_config_id, customer_id,
  subscription_id, feature_id, measure, quota, valid_from, valid_to, usage, overage, grant_status, quota_crossed_at)
select w.id, $1, $2, $3, $3, w.entitlement_id, w.customer_id, w.subscription_id, e.feature_id, w.measure, w.quota, w.valid_from,
  w.valid_to, w.usage, w.overage, case when w.crossed_at is null then 'active' else 'exhausted' end, w.crossed_at
from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[], $10::timestamptz[], $11::timestamptz[],
    $12::numeric[], $13::numeric[], $14::timestamptz[])
  as w(id, entitlement_id, customer_id, subscription_id, measure, quota, valid_from, valid_to, usage, overage, crossed_at)
join entitlement e on e.id = w.entitlement_id and e.environment_id = $2
order by w.subscription_id, w.entitlement_id, w.valid_from
on conflict (environment_id, entitlement_config_id, customer_id, subscription_id, valid_from) do update
set updated_at = excluded.updated_at, measure = excluded.measure, quota = excluded.quota, valid_to = excluded.valid_to,
  usage = excluded.usage, overage = excluded.overage, grant_status = excluded.grant_status,
  quota_crossed_at = excluded.quota_crossed_at
where (g.measure, g.quota, g.valid_to, g.usage, g.overage, g.quota_crossed_at)
  is distinct from (excluded.measure, excluded.quota, excluded.valid_to, excluded.usage, excluded.overage, excluded.quota_crossed_at)`;

const exhaustedText = `
update entitlement_grant g set exhaustion_reported_at = $3
where g.environment_id = $1 and g.subscription_id = any($2) and g.grant_status = 'exhausted' and g.exhaustion_reported_at is null
  and ${grantIsWatched}
returning g.id, g.entitlement_config_id, g.customer_id, g.subscription_id, g.quota::text, g.usage::text,
  to_char(g.quota_crossed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as crossed_at`;
