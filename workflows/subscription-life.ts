import { proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { SubscriptionActivities } from '../activities/subscription.ts';
import { databaseStep } from './activity-options.ts';
import type { Lifecycle } from './lifecycle-definition.ts';
import { paidFirst } from './opening.ts';
import {
  activateDraft,
  cancelSchedule,
  invoiceThreshold,
  pauseSubscription,
  resumeSubscription,
  type SubscriptionChanged,
  type SubscriptionSnapshot,
} from './subscription.messages.ts';

const local = proxyLocalActivities<SubscriptionActivities>(databaseStep);

/**
 * Registers the commands that move a subscription from one status to another, and the invoice of a threshold.
 * spec: subscriptions-and-invoicing §2.4, §2.14.1
 */
export function answerLifeCommands(
  lifecycle: Lifecycle<SubscriptionSnapshot>,
  self: { tenantId: string; environmentId: string; subscriptionId: string },
  changed: (snapshot: SubscriptionSnapshot) => SubscriptionChanged,
): void {
  setHandler(activateDraft, async (command) =>
    changed(
      await lifecycle.command('activateDraft', command, (command) =>
        paidFirst(self, (paid) => local.activateDraft({ ...self, command, ...(paid ? { paid } : {}) })),
      ),
    ),
  );
  setHandler(pauseSubscription, async (command) =>
    changed(
      await lifecycle.command('pauseSubscription', command, (command) => local.pauseSubscription({ ...self, command })),
    ),
  );
  setHandler(resumeSubscription, async (command) =>
    changed(
      await lifecycle.command('resumeSubscription', command, (command) =>
        local.resumeSubscription({ ...self, command }),
      ),
    ),
  );
  setHandler(cancelSchedule, async (command) =>
    changed(
      await lifecycle.command('cancelSchedule', command, (command) => local.cancelSchedule({ ...self, command })),
    ),
  );
  setHandler(invoiceThreshold, async (command) =>
    changed(
      await lifecycle.command('invoiceThreshold', command, (command) => local.invoiceThreshold({ ...self, command })),
    ),
  );
}
