import type { SubscriptionActivities } from '../../activities/subscription/subscription.ts';
import type { AcceptCommand } from '../lifecycle-definition.ts';
import { paidFirst } from './opening.ts';
import {
  activateDraft,
  cancelSchedule,
  cancelSubscription,
  invoiceThreshold,
  pauseSubscription,
  resumeSubscription,
  type SubscriptionChanged,
  type SubscriptionSnapshot,
} from './subscription.messages.ts';

/**
 * Registers the commands that move a subscription from one status to another, and the invoice of a threshold.
 * spec: subscriptions-and-invoicing §2.4, §2.14.1
 */
export function acceptLifeCommands(
  accept: AcceptCommand<SubscriptionSnapshot, SubscriptionChanged>,
  self: { tenantId: string; environmentId: string; subscriptionId: string },
  local: SubscriptionActivities,
): void {
  accept(activateDraft, (command) =>
    paidFirst(self, (paid) => local.activateDraft({ ...self, command, ...(paid ? { paid } : {}) })),
  );
  accept(pauseSubscription, (command) => local.pauseSubscription({ ...self, command }));
  accept(resumeSubscription, (command) => local.resumeSubscription({ ...self, command }));
  accept(cancelSubscription, (command) => local.cancelSubscription({ ...self, command }));
  accept(cancelSchedule, (command) => local.cancelSchedule({ ...self, command }));
  accept(invoiceThreshold, (command) => local.invoiceThreshold({ ...self, command }));
}
