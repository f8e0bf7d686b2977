import { type AlertConfig, alertConfig, storedAlerts } from '../../billing/alert/alert-config.ts';
import type { AlertType } from '../../billing/alert/alert-state.ts';
import { decimal, storedDecimal } from '../../billing/money/money.ts';
import { realNow } from '../../db/clock.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { AlertReading } from './alert-reading.ts';
import { recordAlerts } from './alert-stream.ts';

/** Window of a budget, as its record is found. */
export interface GrantWindow {
  subscriptionId: string;
  entitlementId: string;
  start: string;
}

interface WatchedGrant {
  id: string;
  customer_id: string;
  usage: string;
  quota: string;
  setting_id: string | null;
  config: Record<string, unknown>;
  frozen_time: string | null;
  [column: string]: unknown;
}

/** A budget is used up at all of its quota. spec: wallets-and-payments §2.16 */
const exhausted = alertConfig('entitlement_grant', { alert_enabled: true, critical: { threshold: '1' } });

/** SQL: true where budgets of `g` are watched: by a setting of their own, else by `entitlement_alert_config`. */
export const grantIsWatched = `coalesce(
  (select a.enabled from alert_setting a where a.environment_id = g.environment_id and a.entity_type = 'entitlement_grant'
    and a.entity_id = g.id and a.status = 'published'),
  (select (s.value ->> 'alert_enabled')::boolean from setting s where s.environment_id = g.environment_id
    and s.key = 'entitlement_alert_config' and s.status = 'published'), false)`;

/**
 * Compares the used share of budgets with their thresholds, and with the whole of them: both are logged; that one is used up is told by
 * whoever recorded it, once a window. spec: wallets-and-payments §2.16 entitlement_grant_threshold, _exhausted
 */
export async function alertGrants(sql: Sql, scope: Scope, windows: readonly GrantWindow[]): Promise<void> {
  const rows = await sql.rows<WatchedGrant>(
    `select g.id, g.customer_id, g.usage, g.quota, a.id as setting_id, coalesce(a.config, (select s.value from setting s
       where s.environment_id = $1 and s.key = 'entitlement_alert_config' and s.status = 'published')) as config,
       (select clock.frozen_time from customer c join test_clock clock on clock.id = c.test_clock_id where c.id = g.customer_id) as frozen_time
     from unnest($2::text[], $3::text[], $4::timestamptz[]) as w(subscription_id, entitlement_id, start)
     join entitlement_grant g on g.environment_id = $1 and g.subscription_id = w.subscription_id
       and g.entitlement_config_id = w.entitlement_id and g.valid_from = w.start
     left join alert_setting a on a.environment_id = $1 and a.entity_type = 'entitlement_grant' and a.entity_id = g.id
       and a.status = 'published'
     where g.quota > 0 and ${grantIsWatched}`,
    [
      scope.environmentId,
      windows.map((window) => window.subscriptionId),
      windows.map((window) => window.entitlementId),
      windows.map((window) => window.start),
    ],
  );
  const readings = rows.flatMap((row) => [
    grantReading(row, 'entitlement_grant_threshold', storedAlerts(row.config)),
    grantReading(row, 'entitlement_grant_exhausted', exhausted),
  ]);
  await recordAlerts(sql, scope, readings);
}

function grantReading(row: WatchedGrant, alertType: AlertType, config: AlertConfig): AlertReading {
  return {
    entityType: 'entitlement_grant',
    entityId: row.id,
    alertType,
    parentEntityType: null,
    parentEntityId: '',
    settingId: '',
    periodStart: '',
    customerId: row.customer_id,
    alertSettingId: row.setting_id,
    config,
    value: storedDecimal(decimal(decimalText(row.usage)).dividedBy(decimalText(row.quota))),
    now: row.frozen_time ? instantText(row.frozen_time) : realNow(),
    isCalmAtOnce: true,
    event: () => null,
  };
}
