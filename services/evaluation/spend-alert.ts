import type { AlertConfig, AlertEntity } from '../../billing/alert/alert-config.ts';
import { alertHeadroom } from '../../billing/alert/alert-headroom.ts';
import { type AlertState, alertEvent, alertStateOf, thresholdOf } from '../../billing/alert/alert-state.ts';
import { type Decimal, decimal, decimalString, least, sum } from '../../billing/money/money.ts';
import type { Scope } from '../../db/scope.ts';
import type { ScopedSql, Sql } from '../../db/transaction.ts';
import type { AlertReading } from '../alert/alert-reading.ts';
import { type AlertOutcome, recordAlerts, tellChanges } from '../alert/alert-stream.ts';
import type { RunningCost } from '../charging/running-cost.ts';
import type { BilledLine } from '../charging/subscription-charge.ts';
import type { SubscriptionRow } from '../charging/subscription-row.ts';
import type { SpendEvent } from '../platform/event-catalogue/subscription-events.ts';
import { toldSubscription } from '../subscription/read/subscription-event.ts';

/** Setting of a subscription, one of its line items, or a group of them. */
interface SpendSetting {
  id: string;
  entityType: AlertEntity;
  entityId: string;
  parentEntityId: string;
  config: AlertConfig;
}

/** A subscription whose spending is watched. */
export interface WatchedSpending {
  subscriptionId: string;
  customerId: string;
}

const settingsText = `alert_setting a on a.environment_id = s.environment_id and a.status = 'published' and a.enabled
  and (a.entity_type = 'subscription' and a.entity_id = s.id
    or a.entity_type in ('subscription_line_item', 'group') and a.parent_entity_id = s.id)`;

const isWatchedText = `exists (select from setting where environment_id = $1 and key = 'subscription_alert_config' and status = 'published'
  and value ->> 'alert_enabled' = 'true')`;

/**
 * Subscriptions of customers that settings watch; none while `subscription_alert_config` is off. Usage through a subscription that
 * inherits marks the customer of its parent too. spec: wallets-and-payments §1.9, §2.16
 */
export async function watchedSpending(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<WatchedSpending[]> {
  return sql.rows<{ subscriptionId: string; customerId: string }>(
    `select distinct s.id as "subscriptionId", s.customer_id as "customerId" from subscription s join ${settingsText}
     where s.environment_id = $1 and s.status = 'published' and s.subscription_status in ('active', 'trialing')
       and s.customer_id = any($2) and ${isWatchedText} order by 1`,
    [scope.environmentId, [...customerIds]],
  );
}

/** Settings that watch a subscription now; they stay as they are until the transaction ends. */
async function settingsNow(tx: ScopedSql, subscriptionId: string): Promise<SpendSetting[]> {
  return tx.rows<SpendSetting & { [column: string]: unknown }>(
    `select a.id, a.entity_type as "entityType", a.entity_id as "entityId", a.parent_entity_id as "parentEntityId", a.config
     from subscription s join ${settingsText} where s.environment_id = $1 and s.id = $2 and ${isWatchedText} order by a.id for share of a`,
    [tx.scope.environmentId, subscriptionId],
  );
}

/**
 * Compares what a subscription's current period costs up to its customer's present, usage and fixed charges together, with the
 * settings that watch it now, whatever they were when usage was measured. A new period begins new streams: one that the period before
 * left in alarm is told as recovered once, with the first state of the new one that is ok. spec: wallets-and-payments §2.16
 */
export async function alertSpending(
  tx: ScopedSql,
  subscriptionId: string,
  { subscription: row, lines, now }: RunningCost,
): Promise<AlertOutcome> {
  const { scope } = tx;
  const settings = await settingsNow(tx, subscriptionId);
  const groups = await groupsOfItems(tx, subscriptionId);
  const present = { now, isTestClock: row.testClockId !== null };
  const readings = settings.map((setting) => spendReading(row, setting, spent(setting, lines, groups), present));
  await endEarlierPeriods(tx, readings);
  const headrooms = readings.flatMap(({ config, value }) => alertHeadroom(config, value) ?? []);
  return {
    againAt: (await recordAlerts(tx, scope, readings)).againAt,
    headroom: headrooms.length === 0 ? null : decimalString(headrooms.reduce(least)),
  };
}

function spent(setting: SpendSetting, lines: readonly BilledLine[], groups: ReadonlyMap<string, string>): Decimal {
  const counted = lines.filter(({ subscriptionLineItemId: item }) => {
    if (setting.entityType === 'subscription') return true;
    if (setting.entityType === 'group') return item !== null && groups.get(item) === setting.entityId;
    return item === setting.entityId;
  });
  return sum(counted.map(({ amount }) => decimal(amount)));
}

/** Group of each line item of a subscription: that of its price, else of the feature that its meter is of. */
async function groupsOfItems(sql: ScopedSql, subscriptionId: string): Promise<Map<string, string>> {
  const rows = await sql.rows<{ id: string; group_id: string }>(
    `select l.id, coalesce(p.group_id, (select f.group_id from feature f where f.environment_id = l.environment_id
       and f.meter_id = l.meter_id and f.group_id is not null and f.status = 'published' order by f.id limit 1)) as group_id
     from subscription_line_item l join price p on p.id = l.price_id
     where l.environment_id = $1 and l.subscription_id = $2 and l.status = 'published'`,
    [sql.scope.environmentId, subscriptionId],
  );
  return new Map(rows.filter(({ group_id }) => group_id !== null).map((row) => [row.id, row.group_id]));
}

type SpendAlertType = SpendEvent['payload']['alert_type'];

const alertTypeOf: Partial<Record<AlertEntity, SpendAlertType>> = {
  subscription: 'subscription_spend',
  subscription_line_item: 'subscription_line_item_spend',
  group: 'subscription_group_spend',
};

function spendReading(
  row: SubscriptionRow,
  setting: SpendSetting,
  value: Decimal,
  { now, isTestClock }: { now: string; isTestClock: boolean },
): AlertReading {
  const alertType = alertTypeOf[setting.entityType]!;
  return {
    entityType: setting.entityType,
    entityId: setting.entityId,
    alertType,
    parentEntityType: setting.parentEntityId === '' ? null : 'subscription',
    parentEntityId: setting.parentEntityId,
    settingId: setting.id,
    periodStart: row.currentPeriodStart,
    customerId: row.customerId,
    alertSettingId: setting.id,
    config: setting.config,
    value,
    now,
    isCalmAtOnce: isTestClock,
    event: (state) => spendEvent(row, setting, { state, alertType, value, now }),
  };
}

function spendEvent(
  row: SubscriptionRow,
  { entityType, entityId, config }: SpendSetting,
  { state, alertType, value, now }: { state: AlertState; alertType: SpendAlertType; value: Decimal; now: string },
): SpendEvent {
  const threshold = thresholdOf(config, state);
  const alert = {
    subscription: toldSubscription(row),
    subscription_line_item_id: entityType === 'subscription_line_item' ? entityId : null,
    group_id: entityType === 'group' ? entityId : null,
    alert_type: alertType,
    alert_status: state,
    current_spend: decimalString(value),
    threshold: threshold && decimalString(threshold),
    triggered_at: now,
  };
  return {
    name: alertEvent(alertType, state),
    entityType: 'subscription',
    entityId: row.id,
    payload: { alert, ...alert },
    occurredAt: now,
  };
}

/**
 * Ends the streams that earlier periods left in alarm. Those whose new period begins with `ok` are logged and told as recovered, once;
 * one that is in alarm from its start alarms anew.
 */
async function endEarlierPeriods(sql: ScopedSql, readings: readonly AlertReading[]): Promise<void> {
  const ended = await sql.rows<{ setting_id: string }>(
    `update alert_stream s set state = 'ok', calmer_state = null, calmer_since = null
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as k(entity_type, entity_id, setting_id, period_start)
     where s.environment_id = $1 and s.entity_type = k.entity_type and s.entity_id = k.entity_id and s.setting_id = k.setting_id
       and s.period_start < k.period_start and s.state <> 'ok'
     returning s.setting_id`,
    [
      sql.scope.environmentId,
      readings.map(({ entityType }) => entityType),
      readings.map(({ entityId }) => entityId),
      readings.map(({ settingId }) => settingId),
      readings.map(({ periodStart }) => periodStart),
    ],
  );
  const settings = new Set(ended.map((row) => row.setting_id));
  const recovered = readings
    .filter(({ settingId, config, value }) => settings.has(settingId) && alertStateOf(config, value) === 'ok')
    .map((reading) => ({ reading, state: 'ok' as const }));
  await tellChanges(sql, sql.scope, recovered);
}
