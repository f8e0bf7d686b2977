import { defineEntity, p } from '@mikro-orm/core';
import type { AlertConfig } from '../../../billing/alert/alert-config.ts';
import { instant, recordColumns } from '../../rows/columns.ts';

/** Watched value at a change of state; `timestamp` is the present of its customer. spec: wallets-and-payments §1.3 */
export interface AlertInfo {
  alert_settings: AlertConfig;
  /** Decimal text. */
  value_at_time: string;
  timestamp: string;
}

/** Change of state of an alert stream. Never updated. spec: wallets-and-payments §1.3, §2.16 */
const schema = defineEntity({
  name: 'AlertLog',
  tableName: 'alert_log',
  properties: {
    ...recordColumns,
    entityType: p.text(),
    entityId: p.text(),
    parentEntityType: p.text().nullable(),
    parentEntityId: p.text().nullable(),
    customerId: p.text(),
    alertSettingId: p.text().nullable(),
    alertType: p.text(),
    alertStatus: p.text(),
    periodStart: instant().nullable(),
    alertInfo: p.json<AlertInfo>(),
  },
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'entityId', 'createdAt'] },
    { properties: ['environmentId', 'customerId', 'createdAt'] },
  ],
});
export class AlertLog extends schema.class {}
schema.setClass(AlertLog);
