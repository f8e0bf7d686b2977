import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric } from '../../rows/columns.ts';

/**
 * A budget that usage opened: one window of a grant configuration. Rows are written and read by named SQL, since a window may
 * begin at the microsecond of an event. spec: catalogue-and-metering §9.2
 */
const schema = defineEntity({
  name: 'EntitlementGrant',
  tableName: 'entitlement_grant',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    createdAt: instant(),
    updatedAt: instant(),
    /** The entitlement whose configuration it is; of additive ones the lowest id. */
    entitlementConfigId: p.text(),
    customerId: p.text(),
    subscriptionId: p.text(),
    /** Its scope. */
    featureId: p.text(),
    measure: p.text(),
    quota: numeric(),
    validFrom: instant(),
    validTo: instant(),
    usage: numeric(),
    overage: numeric(),
    /** `active` or `exhausted`; that it is over follows from validTo. */
    grantStatus: p.text(),
    quotaCrossedAt: instant().nullable(),
    exhaustionReportedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'entitlement_grant_window_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.entitlementConfigId}, ${c.customerId}, ${c.subscriptionId}, ${c.validFrom})`,
    },
  ],
  indexes: [
    { name: 'entitlement_grant_subscription_index', properties: ['environmentId', 'subscriptionId', 'validFrom'] },
  ],
});
export class EntitlementGrant extends schema.class {}
schema.setClass(EntitlementGrant);
