import { type AlertState, type AlertType, alertStateOf, alertStep, isCalmer } from '../../billing/alert/alert-state.ts';
import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { ScopedSql, Sql } from '../../db/transaction.ts';
import type { OutboundEvent } from '../platform/event-catalogue/event-catalogue.ts';
import { writeEvents } from '../platform/outbox.ts';
import { type AlertChange, writeAlertChanges } from './alert-log.ts';
import type { AlertReading, AlertStreamKey } from './alert-reading.ts';

/** Outcome of a look: when to look again, null for not before the next mark; and how much usage may cost until there is something new. */
export interface AlertOutcome {
  againAt: string | null;
  headroom: string | null;
}

interface StreamRow {
  ord: number;
  state: AlertState;
  calmer_state: AlertState | null;
  calmer_since: string | null;
  [column: string]: unknown;
}

/** A less severe state is believed when it has lasted this long. design: money-in-wallets finding 16 */
const calmAfterMs = 60_000;

/**
 * Compares values with the last logged states of their streams, and logs and sends what changed. Streams are locked last, in the
 * order of their keys. Answers the instant at which a less severe state will have lasted, null where none waits. Harmless to do
 * again. spec: wallets-and-payments §2.16; design: money-in-wallets findings 16, 17
 */
export async function recordAlerts(
  sql: Sql,
  scope: Scope,
  readings: readonly AlertReading[],
): Promise<{ againAt: string | null }> {
  const measured = inKeyOrder(readings).map((reading) => ({
    reading,
    state: alertStateOf(reading.config, reading.value),
  }));
  const known = await readStreams(
    sql,
    scope,
    measured.map(({ reading }) => reading),
    '',
  );
  const moving = measured.filter(({ state }, index) => {
    const row = known.get(index);
    return row ? row.state !== state || row.calmer_state !== null : state !== 'ok';
  });
  if (moving.length === 0) return { againAt: null };
  const keys = moving.map(({ reading }) => reading);
  await sql.rows(createText, [
    scope.tenantId,
    scope.environmentId,
    realNow(),
    ...columnsOf(keys),
    keys.map((key) => key.customerId),
  ]);
  const locked = await readStreams(sql, scope, keys, 'for update of s');
  const now = realNow();
  const decided = moving.map(({ reading, state }, index) => decide(reading, state, locked.get(index)!, now));
  await writeStreams(sql, scope, now, decided);
  const changes = decided.flatMap(({ change }) => change ?? []);
  await tellChanges(sql, scope, changes);
  const again = decided.flatMap(({ calmer }) => (calmer ? calmAt(calmer.since) : []));
  return { againAt: again.sort()[0] ?? null };
}

/** Logs changes of streams and sends their events. */
export async function tellChanges(sql: Sql, scope: Scope, changes: readonly AlertChange[]): Promise<void> {
  if (changes.length === 0) return;
  await writeAlertChanges(sql, scope, changes);
  await writeEvents(sql, scope, changes.flatMap(eventOf));
}

interface Decision {
  reading: AlertReading;
  /** The state to store. */
  state: AlertState;
  /** A less severe state that has not lasted yet. */
  calmer: { state: AlertState; since: string } | null;
  change: AlertChange | null;
}

function decide(reading: AlertReading, state: AlertState, row: StreamRow, now: string): Decision {
  if (isCalmer(state, row.state) && !reading.isCalmAtOnce) {
    const since = row.calmer_since ? instantText(row.calmer_since) : now;
    if (now < calmAt(since)) return { reading, state: row.state, calmer: { state, since }, change: null };
  }
  const { isLogged } = alertStep(reading.alertType, row.state, state);
  const change = isLogged ? { reading, state } : null;
  return { reading, state, calmer: null, change };
}

const calmAt = (since: string) => new Date(Date.parse(since) + calmAfterMs).toISOString();

function eventOf({ reading, state }: AlertChange): OutboundEvent[] {
  const event = reading.event(state);
  return event ? [event] : [];
}

/** Entities whose streams are their settings' own; those of others go on under another setting. */
const spendEntities: readonly string[] = ['subscription', 'subscription_line_item', 'group'];

/**
 * Ends the streams of a setting, which are all of a wallet, feature or budget, silently: those in alarm log `ok` and send nothing, so that what
 * is switched on again alarms again. spec: wallets-and-payments §2.16
 */
export async function closeStreams(
  tx: ScopedSql,
  setting: { id: string; entityType: string; entityId: string },
): Promise<void> {
  const { environmentId } = tx.scope;
  const whose = `s.entity_type = $3 and s.entity_id = $4 and $5 in ('', s.setting_id)`;
  const settingId = spendEntities.includes(setting.entityType) ? setting.id : '';
  const values = [environmentId, realNow(), setting.entityType, setting.entityId, settingId];
  await endStreams(tx, whose, values);
}

/**
 * Ends, silently, streams of customers that nothing watches any longer: those of `alertTypes` whose key is not among `watched`.
 * spec: wallets-and-payments §2.16
 */
export async function closeUnwatched(
  tx: ScopedSql,
  customerIds: readonly string[],
  alertTypes: readonly AlertType[],
  watched: readonly AlertStreamKey[],
): Promise<void> {
  const whose = `s.customer_id = any($3) and s.alert_type = any($4) and s.period_start = '' and not exists (
    select from unnest($5::text[]) as w(key)
    where w.key = concat_ws(' ', s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id))`;
  const keys = watched.map((key) =>
    [key.entityType, key.entityId, key.alertType, key.parentEntityId, key.settingId].join(' '),
  );
  await endStreams(tx, whose, [tx.scope.environmentId, realNow(), customerIds, alertTypes, keys]);
}

async function endStreams(tx: ScopedSql, whose: string, values: readonly unknown[]): Promise<void> {
  const ended = await tx.rows<{
    entity_type: string;
    entity_id: string;
    alert_type: AlertType;
    parent_entity_id: string;
  }>(
    `with ended as (
       select environment_id, entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start
       from alert_stream s where s.environment_id = $1 and s.state <> 'ok' and ${whose}
       order by entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start for update of s)
     update alert_stream s set state = 'ok', calmer_state = null, calmer_since = null, updated_at = $2 from ended e
     where (s.environment_id, s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start)
       = (e.environment_id, e.entity_type, e.entity_id, e.alert_type, e.parent_entity_id, e.setting_id, e.period_start)
     returning s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start`,
    values,
  );
  if (ended.length === 0) return;
  await tx.rows(closingLogText, [
    tx.scope.environmentId,
    values[1],
    tx.scope.actor,
    ended.map((row) => row.entity_type),
    ended.map((row) => row.entity_id),
    ended.map((row) => row.alert_type),
    ended.map((row) => row.parent_entity_id),
  ]);
  const wallets = ended.filter((row) => row.alert_type === 'low_ongoing_balance').map((row) => row.entity_id);
  await tx.rows(`update wallet set alert_state = 'ok' where environment_id = $1 and id = any($2)`, [
    tx.scope.environmentId,
    wallets,
  ]);
}

// A closing log repeats what the last one of its stream said, but for the state and the instant.
const closingLogText = `
insert into alert_log (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, entity_type, entity_id,
  parent_entity_type, parent_entity_id, customer_id, alert_setting_id, alert_type, alert_status, period_start, alert_info)
select 'alert_' || replace(gen_random_uuid()::text, '-', ''), l.tenant_id, l.environment_id, $2, $3, $2, $3, l.entity_type, l.entity_id,
  l.parent_entity_type, l.parent_entity_id, l.customer_id, l.alert_setting_id, l.alert_type, 'ok', l.period_start,
  l.alert_info || jsonb_build_object('timestamp', to_char($2::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
from unnest($4::text[], $5::text[], $6::text[], $7::text[]) as e(entity_type, entity_id, alert_type, parent_entity_id)
cross join lateral (
  select * from alert_log l where l.environment_id = $1 and l.entity_id = e.entity_id and l.entity_type = e.entity_type
    and l.alert_type = e.alert_type and coalesce(l.parent_entity_id, '') = e.parent_entity_id
  order by l.created_at desc, l.id desc limit 1) l`;

function inKeyOrder(readings: readonly AlertReading[]): AlertReading[] {
  return [...readings].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf(key: AlertStreamKey): string {
  return keyParts.map((part) => key[part]).join('\n');
}

const keyParts = ['entityType', 'entityId', 'alertType', 'parentEntityId', 'settingId', 'periodStart'] as const;

function columnsOf(keys: readonly AlertStreamKey[]): string[][] {
  return keyParts.map((part) => keys.map((key) => key[part]));
}

/** Streams by the place of their key. */
async function readStreams(
  sql: Sql,
  scope: Scope,
  keys: readonly AlertStreamKey[],
  lock: '' | 'for update of s',
): Promise<Map<number, StreamRow>> {
  if (keys.length === 0) return new Map();
  const rows = await sql.rows<StreamRow>(
    `select k.ord::int as ord, s.state, s.calmer_state, s.calmer_since
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       with ordinality as k(entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start, ord)
     join alert_stream s on s.environment_id = $1
       and (s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start)
         = (k.entity_type, k.entity_id, k.alert_type, k.parent_entity_id, k.setting_id, k.period_start)
     order by k.ord ${lock}`,
    [scope.environmentId, ...columnsOf(keys)],
  );
  return new Map(rows.map((row) => [row.ord - 1, row]));
}

const createText = `
insert into alert_stream (tenant_id, environment_id, updated_at, state, entity_type, entity_id, alert_type, parent_entity_id, setting_id,
  period_start, customer_id)
select $1, $2, $3, 'ok', k.* from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]) as k
on conflict do nothing`;

async function writeStreams(sql: Sql, scope: Scope, now: string, decided: readonly Decision[]): Promise<void> {
  await sql.rows(
    `update alert_stream s set state = d.state, calmer_state = d.calmer_state, calmer_since = d.calmer_since,
       updated_at = case when s.state = d.state then s.updated_at else $2 end
     from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[])
       as d(entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start, state, calmer_state, calmer_since)
     where s.environment_id = $1
       and (s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start)
         = (d.entity_type, d.entity_id, d.alert_type, d.parent_entity_id, d.setting_id, d.period_start)`,
    [
      scope.environmentId,
      now,
      ...columnsOf(decided.map(({ reading }) => reading)),
      decided.map(({ state }) => state),
      decided.map(({ calmer }) => calmer?.state ?? null),
      decided.map(({ calmer }) => calmer?.since ?? null),
    ],
  );
}
