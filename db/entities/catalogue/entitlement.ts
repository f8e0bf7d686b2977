import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric, recordColumns } from '../../rows/columns.ts';

/** What a plan, an add-on or a subscription grants of a feature. spec: catalogue-and-metering §8.2 */
const schema = defineEntity({
  name: 'Entitlement',
  tableName: 'entitlement',
  properties: {
    ...recordColumns,
    entityType: p.text(),
    entityId: p.text(),
    featureId: p.text(),
    featureType: p.text(),
    isEnabled: p.boolean().default(false),
    isSoftLimit: p.boolean().default(false),
    staticValue: p.text().nullable(),
    configValue: p.json<Record<string, unknown>>().nullable(),
    usageLimit: numeric().nullable(),
    usageResetPeriod: p.text().nullable(),
    aggregationMode: p.text().default('additive'),
    parentEntitlementId: p.text().nullable(),
    /** Which members an override sets; the others are its parent's. */
    overriddenMembers: p.array().nullable(),
    displayOrder: p.integer().nullable(),
    startDate: instant().nullable(),
    endDate: instant().nullable(),
    grantMeasure: p.text().nullable(),
    grantQuota: numeric().nullable(),
    grantDurationUnit: p.text().nullable(),
    grantDurationValue: p.integer().nullable(),
    grantAllocationBehavior: p.text().nullable(),
  },
  uniques: [
    {
      name: 'entitlement_feature_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.entityType}, ${c.entityId}, ${c.featureId}) where ${c.status} = 'published' and ${c.aggregationMode} <> 'parallel'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'featureId'] },
    { properties: ['environmentId', 'entityId'] },
  ],
});
export class Entitlement extends schema.class {}
schema.setClass(Entitlement);
