import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { providerInboxWorkflowType } from '../integration/provider-inbox.messages.ts';
import { testClockWorkflowType } from '../platform/test-clock.messages.ts';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';

export const lifecycleWatchWorkflowType = 'lifecycleWatch';
export const lifecycleWatchScheduleId = 'lifecycle-watch';

/** Interval of looking for workflows that were closed from outside: such a one runs again within a minute. */
export const lifecycleWatchInterval = '30s' as const;

/** The workflows that end only when their row says so, by their types, and the object types `reconcile` knows them by. */
export const watchedTypes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(lifecycleKinds).map(([kind, { workflowType }]) => [workflowType, kind])),
  [testClockWorkflowType]: 'test_clock',
  [providerInboxWorkflowType]: 'provider_inbox',
};

/** The search attributes that say whose a workflow is. */
export const ownerKeys = { tenantId: tenantIdKey, environmentId: environmentIdKey };

/** Findings of a look. `until` is where the next one begins. */
export interface LifecycleWatchResult {
  until: string;
  /** Workflows that were closed from outside, also those that run again or have nothing left to wait for. */
  closed: number;
  restarted: number;
  /** Wallets whose automatic top-ups were told again of what they should have done. */
  told: number;
}
