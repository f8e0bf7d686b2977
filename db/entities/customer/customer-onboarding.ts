import { defineEntity, p } from '@mikro-orm/core';
import type { OnboardingAction } from '../../../billing/subscription/onboarding.ts';
import { recordColumns } from '../../rows/columns.ts';

/** What an action made. */
export interface OnboardingResult {
  action: string;
  objectId: string;
}

/** The actions a new customer gets, as they were configured when it was made, and how far they are. spec: platform §10.2 */
const schema = defineEntity({
  name: 'CustomerOnboarding',
  tableName: 'customer_onboarding',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    workflowName: p.text().nullable(),
    actions: p.json<OnboardingAction[]>(),
    /** In the order of the actions; as many as are done. */
    results: p.json<OnboardingResult[]>(),
    onboardingStatus: p.text(),
    failureReason: p.text().nullable(),
  },
  uniques: [{ properties: ['environmentId', 'customerId'] }],
  indexes: [
    {
      name: 'customer_onboarding_pending_index',
      expression: (c, t, n) => `create index "${n}" on ${t} (${c.id}) where ${c.onboardingStatus} = 'pending'`,
    },
  ],
});
export class CustomerOnboarding extends schema.class {}
schema.setClass(CustomerOnboarding);
