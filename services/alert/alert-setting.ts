import { LockMode } from '@mikro-orm/core';
import {
  type AlertConfig,
  type AlertEntity,
  alertConfig,
  type GivenAlertConfig,
} from '../../billing/alert/alert-config.ts';
import { refuse } from '../../billing/refusal.ts';
import { AlertSetting } from '../../db/entities/alert/alert-setting.ts';
import { Feature } from '../../db/entities/catalogue/feature.ts';
import { Wallet } from '../../db/entities/wallet/wallet.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing, newRecord, refuseArchived, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';
import { allowCalmOfEntity } from './alert-calm.ts';
import { refuseUnknownEntity } from './alert-entity.ts';
import { closeStreams } from './alert-stream.ts';
import { lookAtEntity, watchAlerts } from './alert-watch.ts';

/** A setting as a caller asks for it. Ids without a parent have `parentEntityId` null. spec: wallets-and-payments §1.3 */
export interface NewAlertSetting {
  entityType: AlertEntity;
  entityId: string;
  parentEntityId: string | null;
  config: AlertConfig;
}

/**
 * Begins to watch an entity. Throws `not_found` for an entity that does not exist, `validation_error` for a line item of another
 * subscription, `already_exists` for a second setting of the same entity and parent. spec: wallets-and-payments §1.3, §3 rows 28–30
 */
export async function createAlertSetting(tx: Transaction, input: NewAlertSetting): Promise<AlertSetting> {
  await refuseUnknownEntity(tx, input);
  await lockEntity(tx, input);
  const setting = await insertAlertSetting(tx, input);
  await tellEntity(tx, setting, input.config);
  await watchAlerts(tx, setting);
  return setting;
}

/** Stores a setting whose entity is known to exist. Throws `already_exists`. */
export async function insertAlertSetting(tx: Transaction, input: NewAlertSetting): Promise<AlertSetting> {
  const { entityType, entityId, parentEntityId, config } = input;
  const setting = tx.em.create(AlertSetting, {
    ...newRecord(tx, 'alert_set'),
    entityType,
    entityId,
    parentEntityType: parentEntityId ? 'subscription' : null,
    parentEntityId: parentEntityId ?? '',
    enabled: config.alert_enabled,
    config,
  });
  await flushUnique(tx, {
    alert_setting_unique: () =>
      refuse('already_exists', `${entityType} ${entityId} has an alert setting; change that one`, {
        fields: { entity_id: 'taken' },
      }),
  });
  await audit(tx, setting, 'created');
  return setting;
}

/** A setting of this environment, archived or not. Throws `not_found`. */
export async function findAlertSetting(tx: Transaction, id: string): Promise<AlertSetting> {
  const setting = await tx.em.findOne(AlertSetting, { id, environmentId: tx.scope.environmentId });
  if (!setting) throw missing('alert setting', id);
  return setting;
}

/**
 * Replaces what a setting watches; a level that is left out is no longer watched, and a threshold type that is left out stays.
 * Switched off, its streams end silently. Throws `not_found`, `invalid_operation` for an archived one, `validation_error`.
 * spec: wallets-and-payments §1.3, §2.16; design: money-in-wallets finding 48
 */
export async function updateAlertSetting(tx: Transaction, id: string, given: GivenAlertConfig): Promise<AlertSetting> {
  const setting = await lockSetting(tx, id);
  refuseArchived('alert setting', setting);
  const entity = setting.entityType as AlertEntity;
  const config = alertConfig(entity, given, { path: 'config.', stored: setting.config });
  await changeSetting(tx, setting, config);
  await tellEntity(tx, setting, config);
  return setting;
}

/**
 * Archives a setting; its streams end silently, and a wallet has the default of the environment again. Repeating it changes
 * nothing. Throws `not_found`. spec: wallets-and-payments §1.3; design: money-in-wallets finding 39
 */
export async function archiveAlertSetting(tx: Transaction, id: string): Promise<void> {
  const setting = await lockSetting(tx, id);
  if (setting.status !== 'published') return;
  await archive(tx, setting);
  await tellEntity(tx, setting, null);
}

/**
 * Makes the setting of a wallet or feature say what its own `alert_settings` say, null being none. The caller changed those in the
 * same transaction. spec: wallets-and-payments §1.3
 */
export async function keepAlertSetting(
  tx: Transaction,
  entityType: 'wallet' | 'feature',
  entityId: string,
  config: AlertConfig | null,
): Promise<void> {
  const { environmentId } = tx.scope;
  const where = { environmentId, entityType, entityId, parentEntityId: '', status: 'published' };
  const setting = await tx.em.findOne(AlertSetting, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (setting) return config ? changeSetting(tx, setting, config) : archive(tx, setting);
  if (!config) return;
  await watchAlerts(tx, await insertAlertSetting(tx, { entityType, entityId, parentEntityId: null, config }));
}

async function changeSetting(tx: Transaction, setting: AlertSetting, config: AlertConfig): Promise<void> {
  setting.config = config;
  setting.enabled = config.alert_enabled;
  touch(tx, setting);
  await tx.em.flush();
  if (config.alert_enabled) await allowCalmOfEntity(tx, tx.scope, setting);
  else await closeStreams(tx, setting);
  await audit(tx, setting, 'updated');
  await watchAlerts(tx, setting);
}

async function archive(tx: Transaction, setting: AlertSetting): Promise<void> {
  setting.status = 'archived';
  touch(tx, setting);
  await tx.em.flush();
  await closeStreams(tx, setting);
  await audit(tx, setting, 'archived');
  await lookAtEntity(tx, setting);
}

/** Writes a setting of a wallet or feature into its `alert_settings` too. */
async function tellEntity(tx: Transaction, setting: AlertSetting, config: AlertConfig | null): Promise<void> {
  const row = await lockEntity(tx, setting);
  if (!row) return;
  row.alertSettings = config as Record<string, unknown> | null;
  touch(tx, row);
  await tx.em.flush();
}

/** Locks the wallet or feature of a setting; null where the setting is about something else. */
async function lockEntity(
  tx: Transaction,
  { entityType, entityId: id }: Pick<AlertSetting, 'entityType' | 'entityId'>,
): Promise<Wallet | Feature | null> {
  if (entityType !== 'wallet' && entityType !== 'feature') return null;
  const where = { id, environmentId: tx.scope.environmentId };
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  return entityType === 'wallet'
    ? tx.em.findOneOrFail(Wallet, where, locked)
    : tx.em.findOneOrFail(Feature, where, locked);
}

/** Locks a setting, after the wallet or feature that it is about, which are changed and looked at in this order too. */
async function lockSetting(tx: Transaction, id: string): Promise<AlertSetting> {
  await lockEntity(tx, await findAlertSetting(tx, id));
  const where = { id, environmentId: tx.scope.environmentId };
  const setting = await tx.em.findOne(AlertSetting, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!setting) throw missing('alert setting', id);
  return setting;
}

async function audit(tx: Transaction, { id }: AlertSetting, action: string): Promise<void> {
  await writeAudit(tx, tx.scope, [
    { objectType: 'alert_setting', objectId: id, action, occurredAt: new Date().toISOString() },
  ]);
}

export interface AlertSettingFilters {
  entityType?: string | null | undefined;
  entityIds?: readonly string[] | null | undefined;
  parentEntityIds?: readonly string[] | null | undefined;
  parentEntityType?: string | null | undefined;
  enabled?: boolean | null | undefined;
}

const settings: ListDefinition<AlertSetting> = {
  entity: AlertSetting,
  columns: {
    entity_type: 'string',
    entity_id: 'string',
    parent_entity_type: 'string',
    parent_entity_id: 'string',
    enabled: 'boolean',
  },
};

/** Page of settings. spec: wallets-and-payments §1.3 */
export function listAlertSettings(
  tx: Transaction,
  query: ListQuery,
  filters: AlertSettingFilters,
): Promise<ListPage<AlertSetting>> {
  const { entityType, parentEntityType, enabled } = filters;
  return listPage(tx, settings, query, {
    ...(entityType ? { entityType } : {}),
    ...(parentEntityType ? { parentEntityType } : {}),
    ...(enabled === null || enabled === undefined ? {} : { enabled }),
    ...anyOf('entityId', filters.entityIds),
    ...anyOf('parentEntityId', filters.parentEntityIds),
  });
}
