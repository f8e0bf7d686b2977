import { proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { SubscriptionActivities } from '../activities/subscription.ts';
import { databaseStep } from './activity-options.ts';
import type { Lifecycle } from './lifecycle.ts';
import { paidFirst } from './opening.ts';
import {
  activateDraft,
  cancelSchedule,
  pauseSubscription,
  resumeSubscription,
  type SubscriptionChanged,
  type SubscriptionSnapshot,
} from './subscription.messages.ts';

const local = proxyLocalActivities<SubscriptionActivities>(databaseStep);

/** Registers the commands that move a subscription from one status to another. spec: subscriptions-and-invoicing §2.4 */
export function answerLifeCommands(
  lifecycle: Lifecycle<SubscriptionSnapshot>,
  self: { tenantId: string; environmentId: string; subscriptionId: string },
  changed: (snapshot: SubscriptionSnapshot) => SubscriptionChanged,
): void {
  setHandler(activateDraft, async (command) =>
    changed(
      await lifecycle.command('activateDraft', command.at, () =>
        paidFirst(self, (paid) => local.activateDraft({ ...self, command, ...(paid ? { paid } : {}) })),
      ),
    ),
  );
  setHandler(pauseSubscription, async (command) =>
    changed(
      await lifecycle.command('pauseSubscription', command.at, () => local.pauseSubscription({ ...self, command })),
    ),
  );
  setHandler(resumeSubscription, async (command) =>
    changed(
      await lifecycle.command('resumeSubscription', command.at, () => local.resumeSubscription({ ...self, command })),
    ),
  );
  setHandler(cancelSchedule, async (command) =>
    changed(await lifecycle.command('cancelSchedule', command.at, () => local.cancelSchedule({ ...self, command }))),
  );
}
