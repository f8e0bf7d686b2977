import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/**
 * A change of a subscription that was carried out, under the id its request made: asked again it is answered and not done
 * again. Changes of plan make up the history of plans. spec: subscriptions-and-invoicing §1.7–§1.9, §2.9
 */
const schema = defineEntity({
  name: 'SubscriptionChange',
  tableName: 'subscription_change',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    kind: p.text(),
    effectiveAt: instant(),
    /** Of a change of plan. */
    fromPlanId: p.text().nullable(),
    toPlanId: p.text().nullable(),
    /** Of a change of plan that replaced the subscription: the new one. */
    successorSubscriptionId: p.text().nullable(),
    /** False until the workflow of the new subscription runs. */
    attended: p.boolean().default(true),
    /** What was changed, as the answers show it. */
    outcome: p.json<Record<string, unknown>>(),
  },
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }],
});
export class SubscriptionChange extends schema.class {}
schema.setClass(SubscriptionChange);
