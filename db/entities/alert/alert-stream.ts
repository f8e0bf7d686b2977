import { defineEntity, p } from '@mikro-orm/core';
import type { AlertState } from '../../../billing/alert/alert-state.ts';
import { instant } from '../../rows/columns.ts';

/**
 * A value that is watched, with its last logged state: its row is the stream's lock. `settingId`, `parentEntityId` and
 * `periodStart` are empty where the key has none. A less severe state that has not lasted yet waits in `calmerState`.
 * spec: wallets-and-payments §2.16
 */
const schema = defineEntity({
  name: 'AlertStream',
  tableName: 'alert_stream',
  properties: {
    environmentId: p.text().primary(),
    entityType: p.text().primary(),
    entityId: p.text().primary(),
    alertType: p.text().primary(),
    parentEntityId: p.text().primary(),
    settingId: p.text().primary(),
    periodStart: p.text().primary(),
    tenantId: p.text(),
    customerId: p.text(),
    state: p.text().$type<AlertState>(),
    calmerState: p.text().$type<AlertState>().nullable(),
    calmerSince: instant().nullable(),
    updatedAt: instant(),
  },
  indexes: [{ properties: ['environmentId', 'customerId'] }],
});
export class AlertStream extends schema.class {}
schema.setClass(AlertStream);
