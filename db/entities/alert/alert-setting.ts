import { defineEntity, p } from '@mikro-orm/core';
import type { AlertConfig } from '../../../billing/alert/alert-config.ts';
import { recordColumns } from '../../rows/columns.ts';

/**
 * Alert setting of an entity, one for each entity and parent. That of a wallet or feature is the same fact as its
 * `alert_settings`. `parentEntityId` is empty where there is none. spec: wallets-and-payments §1.3
 */
const schema = defineEntity({
  name: 'AlertSetting',
  tableName: 'alert_setting',
  properties: {
    ...recordColumns,
    entityType: p.text(),
    entityId: p.text(),
    parentEntityType: p.text().nullable(),
    parentEntityId: p.text().default(''),
    enabled: p.boolean(),
    config: p.json<AlertConfig>(),
  },
  uniques: [
    {
      name: 'alert_setting_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.entityType}, ${c.entityId}, ${c.parentEntityId}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'parentEntityId', 'entityType'] },
  ],
});
export class AlertSetting extends schema.class {}
schema.setClass(AlertSetting);
