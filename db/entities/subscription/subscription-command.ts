import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * What was asked of a subscription, with its amounts and texts, so that the command to its workflow holds an id only. Kept: it
 * says what a person wanted, beside the audit of what was done. design: architecture §3 Ids only
 */
const schema = defineEntity({
  name: 'SubscriptionCommand',
  tableName: 'subscription_command',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    subscriptionId: p.text(),
    createdAt: instant(),
    createdBy: p.text().default(''),
    /** JSON, as text: what was asked is compared with what was previewed, so its order is kept. */
    content: p.text(),
  },
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }],
});
export class SubscriptionCommand extends schema.class {}
schema.setClass(SubscriptionCommand);
