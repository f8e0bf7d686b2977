import type { AlertState } from '../../billing/alert/alert-state.ts';
import { decimalString } from '../../billing/money/money.ts';
import { realNow } from '../../db/clock.ts';
import { AlertLog } from '../../db/entities/alert/alert-log.ts';
import { newId } from '../../db/id.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../db/rows/bulk.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql, Transaction } from '../../db/transaction.ts';
import type { AlertReading } from './alert-reading.ts';

/** Change of a stream that is logged and told. */
export interface AlertChange {
  reading: AlertReading;
  state: AlertState;
}

const insertLogs = insertText('alert_log', {
  ...recordColumnTypes,
  entityType: 'text',
  entityId: 'text',
  parentEntityType: 'text',
  parentEntityId: 'text',
  customerId: 'text',
  alertSettingId: 'text',
  alertType: 'text',
  alertStatus: 'text',
  periodStart: 'timestamptz',
  alertInfo: 'jsonb',
} satisfies Columns);

/** Logs changes of streams; a wallet shows the state of its ongoing balance. spec: wallets-and-payments §1.3, §2.16 */
export async function writeAlertChanges(sql: Sql, scope: Scope, changes: readonly AlertChange[]): Promise<void> {
  const now = realNow();
  const { tenantId, environmentId, actor } = scope;
  await writeRows(
    sql,
    insertLogs,
    changes.map(({ reading, state }) => ({
      id: newId('alert'),
      tenantId,
      environmentId,
      createdAt: now,
      createdBy: actor,
      updatedAt: now,
      updatedBy: actor,
      entityType: reading.entityType,
      entityId: reading.entityId,
      parentEntityType: reading.parentEntityType,
      parentEntityId: reading.parentEntityId === '' ? null : reading.parentEntityId,
      customerId: reading.customerId,
      alertSettingId: reading.alertSettingId,
      alertType: reading.alertType,
      alertStatus: state,
      periodStart: reading.periodStart === '' ? null : reading.periodStart,
      alertInfo: {
        alert_settings: reading.config,
        value_at_time: decimalString(reading.value),
        timestamp: reading.now,
      },
    })),
  );
  const ongoing = changes.filter(({ reading }) => reading.alertType === 'low_ongoing_balance');
  if (ongoing.length === 0) return;
  await sql.rows(
    `update wallet w set alert_state = c.state from unnest($2::text[], $3::text[]) as c(id, state)
     where w.environment_id = $1 and w.id = c.id`,
    [environmentId, ongoing.map(({ reading }) => reading.entityId), ongoing.map(({ state }) => state)],
  );
}

export interface AlertLogFilters {
  entityType?: string | null | undefined;
  entityId?: string | null | undefined;
  alertType?: string | null | undefined;
  alertStatus?: string | null | undefined;
  customerId?: string | null | undefined;
}

const logs: ListDefinition<AlertLog> = {
  entity: AlertLog,
  columns: {
    entity_type: 'string',
    entity_id: 'string',
    parent_entity_type: 'string',
    parent_entity_id: 'string',
    customer_id: 'string',
    alert_setting_id: 'string',
    alert_type: 'string',
    alert_status: 'string',
  },
};

/** Page of logged changes, the newest first. spec: wallets-and-payments §1.3 */
export function listAlertLogs(
  tx: Transaction,
  query: ListQuery,
  filters: AlertLogFilters,
): Promise<ListPage<AlertLog>> {
  const given = Object.entries(filters).filter(([, value]) => value !== null && value !== undefined);
  return listPage(tx, logs, query, Object.fromEntries(given));
}
