import { z } from 'zod';
import {
  type AlertEntity,
  alertConfig,
  alertEntities,
  type GivenAlertConfig,
} from '../../billing/alert/alert-config.ts';
import { alertStates, alertTypes } from '../../billing/alert/alert-state.ts';
import type { AlertLog } from '../../db/entities/alert/alert-log.ts';
import type { AlertSetting } from '../../db/entities/alert/alert-setting.ts';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { Wallet } from '../../db/entities/wallet/wallet.ts';
import { badField } from '../../db/rows/record.ts';
import type { AlertLogFilters } from '../../services/alert/alert-log.ts';
import type { AlertSettingFilters, NewAlertSetting } from '../../services/alert/alert-setting.ts';
import type { FeatureWithMeter } from '../../services/catalogue/feature.ts';
import { feature, viewFeature } from '../catalogue/feature.schema.ts';
import { customer, viewCustomer } from '../customer/customer.schema.ts';
import { listOf, searchBody } from '../list.ts';
import {
  decimalInput,
  decimalOutput,
  idListInput,
  recordOutput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { viewWallet, wallet } from '../wallet/wallet.schema.ts';

const entityType = z.enum(alertEntities);
const id = z.string().min(1).max(255);
const thresholdInput = z
  .object({ threshold: decimalInput(), condition: z.enum(['above', 'below']).nullish() })
  .nullish()
  .describe(
    'Value at which the level is reached, and from which side; the usual side of the entity where it is left out.',
  );

/** Alert settings as wallets and alert settings take them. spec: wallets-and-payments §1.3 */
export const alertSettingsInput = z.object({
  alert_enabled: z.boolean().nullish(),
  alert_threshold_type: z
    .enum(['absolute', 'percentage'])
    .nullish()
    .describe('Currency, or percent of the credits given since the period began; left out, it stays as it is.'),
  critical: thresholdInput,
  warning: thresholdInput,
  info: thresholdInput,
});

const config = alertSettingsInput.describe('What is watched; a level that is left out is not.');

export const createAlertSettingBody = z
  .object({
    entity_type: entityType,
    entity_id: id,
    parent_entity_type: z.string().nullish().describe('Only subscription, and it may be left out.'),
    parent_entity_id: z.string().max(255).nullish().describe('Subscription of a line item or group.'),
    config,
  })
  .meta({
    examples: [
      {
        entity_type: 'wallet',
        entity_id: 'wallet_01J',
        config: { alert_enabled: true, critical: { threshold: '10' }, warning: { threshold: '25' } },
      },
    ],
  });

export const updateAlertSettingBody = z
  .object({ config })
  .meta({ examples: [{ config: { alert_enabled: true, critical: { threshold: '5' } } }] });

export const alertSettingSearchBody = searchBody({
  entity_type: entityType.nullish(),
  entity_id: id.nullish(),
  entity_ids: idListInput().nullish(),
  parent_entity_type: entityType.nullish(),
  parent_entity_id: id.nullish(),
  parent_entity_ids: idListInput().nullish(),
  enabled: z.boolean().nullish(),
});

const logExpand = ['customer', 'wallet', 'feature'];
export const alertLogSearchBody = searchBody(
  {
    entity_type: entityType.nullish(),
    entity_id: id.nullish(),
    alert_type: z.enum(alertTypes).nullish(),
    alert_status: z.enum(alertStates).nullish(),
    customer_id: id.nullish(),
  },
  logExpand,
);

const thresholdOutput = z.object({ threshold: decimalOutput(), condition: z.enum(['above', 'below']) }).nullable();
const alertSettings = z.object({
  alert_enabled: z.boolean(),
  alert_threshold_type: z.enum(['absolute', 'percentage']),
  critical: thresholdOutput,
  warning: thresholdOutput,
  info: thresholdOutput,
});

export const alertSetting = z
  .object({
    ...recordOutput,
    entity_type: entityType,
    entity_id: z.string(),
    parent_entity_type: z.string().nullable(),
    parent_entity_id: z.string().nullable(),
    enabled: z.boolean(),
    config: alertSettings,
  })
  .meta({ id: 'AlertSetting' });
export const alertSettingList = listOf(alertSetting, 'ListAlertSettingsResponse');

export const alertLog = z
  .object({
    ...recordOutput,
    entity_type: entityType,
    entity_id: z.string(),
    parent_entity_type: z.string().nullable(),
    parent_entity_id: z.string().nullable(),
    customer_id: z.string(),
    alert_setting_id: z.string().nullable(),
    alert_type: z.enum(alertTypes),
    alert_status: z.enum(alertStates),
    alert_info: z.object({
      alert_settings: alertSettings,
      value_at_time: decimalOutput(),
      timestamp: timestampOutput(),
    }),
    customer: customer.nullable(),
    wallet: wallet.nullable(),
    feature: feature.nullable(),
  })
  .meta({ id: 'AlertLog' });
export const alertLogList = listOf(alertLog, 'ListAlertLogsResponse');

/** A setting as the store takes it. Throws `validation_error`. spec: wallets-and-payments §1.3, §3 row 28 */
export function newAlertSetting(body: z.output<typeof createAlertSettingBody>): NewAlertSetting {
  const { entity_type: entityType, entity_id: entityId } = body;
  const parentEntityId = body.parent_entity_id || null;
  const needsParent = entityType === 'subscription_line_item' || entityType === 'group';
  if (needsParent && !parentEntityId) {
    throw badField('parent_entity_id', `is required for a ${entityType}: the subscription it is watched in`);
  }
  if (!needsParent && parentEntityId) {
    throw badField(
      'parent_entity_id',
      `goes with a subscription_line_item or group, not with a ${entityType}; leave it out`,
    );
  }
  if (body.parent_entity_type && (!needsParent || body.parent_entity_type !== 'subscription')) {
    throw badField(
      'parent_entity_type',
      needsParent ? 'must be subscription' : `goes with parent_entity_id; leave it out`,
    );
  }
  return { entityType, entityId, parentEntityId, config: givenConfig(entityType, body.config) };
}

function givenConfig(entityType: AlertEntity, given: GivenAlertConfig) {
  return alertConfig(entityType, given, { path: 'config.' });
}

export function alertSettingFilters(body: z.output<typeof alertSettingSearchBody>): AlertSettingFilters {
  return {
    entityType: body?.entity_type,
    entityIds: [...(body?.entity_ids ?? []), ...(body?.entity_id ? [body.entity_id] : [])],
    parentEntityType: body?.parent_entity_type,
    parentEntityIds: [...(body?.parent_entity_ids ?? []), ...(body?.parent_entity_id ? [body.parent_entity_id] : [])],
    enabled: body?.enabled,
  };
}

export function alertLogFilters(body: z.output<typeof alertLogSearchBody>): AlertLogFilters {
  return {
    entityType: body?.entity_type,
    entityId: body?.entity_id,
    alertType: body?.alert_type,
    alertStatus: body?.alert_status,
    customerId: body?.customer_id,
  };
}

export function viewAlertSetting(row: AlertSetting): z.output<typeof alertSetting> {
  return {
    ...viewRecord(row),
    entity_type: row.entityType as AlertEntity,
    entity_id: row.entityId,
    parent_entity_type: row.parentEntityType ?? null,
    parent_entity_id: row.parentEntityId === '' ? null : row.parentEntityId,
    enabled: row.enabled,
    config: row.config,
  };
}

/** Records that a log may show beside itself, by id. */
export interface AlertLogCompany {
  customers: ReadonlyMap<string, Customer>;
  wallets: ReadonlyMap<string, Wallet>;
  features: ReadonlyMap<string, FeatureWithMeter>;
}

/** Wallet of a logged change: what is watched, or what a feature is watched in. */
export function walletIdOf({ entityType, entityId, parentEntityId }: AlertLog): string {
  return entityType === 'wallet' ? entityId : (parentEntityId ?? '');
}

export function viewAlertLog(row: AlertLog, company: AlertLogCompany): z.output<typeof alertLog> {
  const shownCustomer = company.customers.get(row.customerId);
  const shownWallet = company.wallets.get(walletIdOf(row));
  const shownFeature = company.features.get(row.entityId);
  return {
    ...viewRecord(row),
    entity_type: row.entityType as AlertEntity,
    entity_id: row.entityId,
    parent_entity_type: row.parentEntityType ?? null,
    parent_entity_id: row.parentEntityId ?? null,
    customer_id: row.customerId,
    alert_setting_id: row.alertSettingId ?? null,
    alert_type: row.alertType as z.output<typeof alertLog>['alert_type'],
    alert_status: row.alertStatus as z.output<typeof alertLog>['alert_status'],
    alert_info: row.alertInfo,
    customer: shownCustomer ? viewCustomer(shownCustomer) : null,
    wallet: shownWallet ? viewWallet(shownWallet) : null,
    feature: shownFeature ? viewFeature(shownFeature.feature, shownFeature.meter) : null,
  };
}
