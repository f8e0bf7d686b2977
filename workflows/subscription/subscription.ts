import { continueAsNew, proxyLocalActivities } from '@temporalio/workflow';
import type { SubscriptionActivities } from '../../activities/subscription/subscription.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import { databaseStep, summaryOf } from '../activity-options.ts';
import { collectPayment } from '../collection.ts';
import { followInvoice, followSubscription, tellCheckout } from '../followers.ts';
import type { LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { commandsOf } from '../lifecycle-definition.ts';
import { abandonOpening, paidFirst } from './opening.ts';
import { createSubscription, type SubscriptionSnapshot, updateSubscription } from './subscription.messages.ts';
import { acceptChanges } from './subscription-change.ts';
import { acceptLifeCommands } from './subscription-life.ts';

const local = proxyLocalActivities<SubscriptionActivities>(databaseStep);

/** What concerns nobody but the subscription and its invoices. */
const alone = new Set(['noticeRenewal', 'closePeriod', 'finalizeInvoice']);

/** What is left of a subscription that was not made. */
const nothingMade: SubscriptionSnapshot = {
  version: 0,
  status: 'not created',
  agenda: [],
  ended: true,
  details: 'was not created',
  spreadMs: 0,
  blockedOn: null,
  currentPeriodStart: '',
  currentPeriodEnd: '',
};

/**
 * The whole life of one subscription: it waits for the first entry of its agenda or for a message, performs it with the
 * activity of that name, and waits again until nothing is left. spec: subscriptions-and-invoicing §2.4, §2.5
 */
export async function subscription(start: LifecycleStart): Promise<LifecycleResult> {
  const owner = { tenantId: start.tenantId, environmentId: start.environmentId };
  const self = { ...owner, subscriptionId: start.objectId };

  async function perform(item: AgendaItem): Promise<SubscriptionSnapshot> {
    const step = proxyLocalActivities<SubscriptionActivities>({ ...databaseStep, ...summaryOf(item) });
    const due = { ...self, at: item.at, ref: item.ref };
    switch (item.kind) {
      case 'closePeriod':
      case 'endTrial':
      case 'activateSubscription':
      case 'applyGrant':
      case 'noticeRenewal':
      case 'finalizeInvoice':
      case 'enforcePayment':
      case 'applyPlanChange':
      case 'replacePlan':
      case 'startPhase':
      case 'endPhase':
        return step[item.kind](due);
      case 'chargePayment': {
        const collection = { paymentId: item.ref, at: item.at, clockTime: lifecycle.clock.heardTime };
        const recorded = await collectPayment(start, collection, (answer) => step.recordCharge({ ...self, ...answer }));
        // A payment that was handed to its own workflow meanwhile is no longer on this agenda.
        return recorded.awaitsGateway ? step.refreshSubscription(due) : recorded.subscription;
      }
      case 'attendInvoice':
        // The other workflow is there before the row says so: a task lost in between cannot leave the invoice to nobody.
        await followInvoice(start, item.ref, lifecycle.clock.heardTime);
        return step.attendInvoice(due);
      case 'attendSuccessor':
        await followSubscription(start, item.ref, lifecycle.clock.heardTime);
        return step.attendSuccessor(due);
      case 'abandonOpening':
        await abandonOpening(owner, item.ref);
        return (await step.loadSubscription(self)) ?? nothingMade;
      default:
        throw new Error(`a subscription has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle = createLifecycle<SubscriptionSnapshot>({
    start,
    load: () => local.loadSubscription(self),
    perform,
    actsAlone: ({ kind }) => alone.has(kind),
    park: (item, reason) => local.parkSubscription({ ...self, step: item.kind, reason }),
    unpark: () => local.unparkSubscription(self),
    rollOver: (next) => continueAsNew<typeof subscription>(next),
  });

  /** Tells the checkout sessions that a command has ended. */
  async function told({ endedCheckoutIds = [], ...snapshot }: SubscriptionSnapshot): Promise<SubscriptionSnapshot> {
    for (const id of endedCheckoutIds) await tellCheckout(id, lifecycle.clock.heardTime);
    return snapshot;
  }

  const command = commandsOf(lifecycle, ({ version }: SubscriptionSnapshot) => ({
    subscriptionId: start.objectId,
    version,
  }));
  const accept: typeof command = (update, act) => command(update, async (message) => told(await act(message)));
  accept(createSubscription, (command) =>
    paidFirst(owner, (paid) => local.createSubscription({ ...owner, command, ...(paid ? { paid } : {}) })),
  );
  accept(updateSubscription, (command) => local.updateSubscription({ ...self, command }));
  acceptLifeCommands(accept, self, local);
  acceptChanges(accept, self, local);

  return lifecycle.run();
}
