import { continueAsNew, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { CheckoutActivities } from '../activities/checkout.ts';
import type { AgendaItem } from '../billing/agenda.ts';
import type { LinkOccasion } from '../billing/checkout-link.ts';
import { refuse } from '../billing/refusal.ts';
import { databaseStep, externalStep } from './activity-options.ts';
import {
  type CheckoutCommand,
  type CheckoutSnapshot,
  cancelCheckout,
  checkoutProgress,
  openCheckout,
  providerNotified,
  refreshCheckout,
} from './checkout-session.messages.ts';
import { followRefund, followSubscription } from './followers.ts';
import { described } from './handler-descriptions.ts';
import { paymentSettled } from './invoice.messages.ts';
import type { LifecycleResult, LifecycleStart } from './lifecycle.messages.ts';
import { createLifecycle } from './lifecycle.ts';
import { commandsOf, type Lifecycle } from './lifecycle-definition.ts';
import type { Caller } from './subscription.messages.ts';

const local = proxyLocalActivities<CheckoutActivities>(databaseStep);
const external = proxyActivities<CheckoutActivities>(externalStep);

/**
 * A checkout session from its opening until its link is known to take no money any more: the link is opened, asked about, closed at the end
 * of the session, and watched after it. It holds no money; each step is one transaction, and whoever claims the session first decides.
 * spec: wallets-and-payments §2.17; design: money-in §3, money-in-checkout §A4, §A6
 */
export async function checkoutSession(start: LifecycleStart): Promise<LifecycleResult> {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, sessionId: start.objectId };
  let last: CheckoutSnapshot | null = null;

  const load = async (at: string) => keep(await local.loadCheckout({ ...self, at }));

  function keep<Loaded extends CheckoutSnapshot | null>(snapshot: Loaded): Loaded {
    last = snapshot;
    return snapshot;
  }

  /** Tells those whose work the step made: refunds that are to be sent, a subscription that has begun. */
  async function followed(snapshot: CheckoutSnapshot): Promise<CheckoutSnapshot> {
    const { refundIds, subscriptionId, ...rest } = snapshot;
    const clockTime = lifecycle.clock.heardTime;
    if (subscriptionId) await followSubscription(start, subscriptionId, clockTime);
    for (const id of refundIds ?? []) await followRefund(start, id, clockTime);
    return keep(rest);
  }

  /** Whether the provider answers within a local step. The proxies of activities cannot be handed on: they look like promises. */
  async function isLocal(): Promise<boolean> {
    return (last ?? (await load(lifecycle.clock.present())))?.isLocal ?? false;
  }

  async function openLink(at: string, caller?: Caller): Promise<CheckoutSnapshot> {
    const request = { ...self, at, ...(caller ? { caller } : {}) };
    return followed((await isLocal()) ? await local.openLink(request) : await external.openLink(request));
  }

  async function ask(occasion: LinkOccasion, at: string, caller?: Caller): Promise<CheckoutSnapshot> {
    const request = { ...self, occasion, at, ...(caller ? { caller } : {}) };
    return followed((await isLocal()) ? await local.askLink(request) : await external.askLink(request));
  }

  async function open({ at, caller }: CheckoutCommand): Promise<CheckoutSnapshot> {
    const drafted = await load(at);
    if (drafted === null) throw refuse('not_found', `checkout session ${start.objectId} was not found`);
    if (drafted.checkoutStatus !== 'initiated') return drafted;
    try {
      return await openLink(at, caller);
    } catch (error) {
      // Refused at the provider: the session has ended by that, and its caller is told why.
      lifecycle.reload();
      throw error;
    }
  }

  async function cancel({ at, caller }: CheckoutCommand): Promise<CheckoutSnapshot> {
    const snapshot = await ask('cancel', at, caller);
    if (snapshot.checkoutStatus !== 'completed') return snapshot;
    lifecycle.reload();
    throw refuse('invalid_operation', `checkout session ${start.objectId} was paid meanwhile and is completed`, {
      checkout_status: 'completed',
    });
  }

  async function perform(item: AgendaItem): Promise<CheckoutSnapshot> {
    const at = now(item.at);
    switch (item.kind) {
      case 'openLink':
        return openLink(at);
      case 'pollProvider':
      case 'retryCompletion':
      case 'abandonCompletion':
        return ask('poll', at);
      case 'expireSession':
        return ask('timer', at);
      case 'deactivateLink':
        return ask('superseded', at);
      case 'lastLook':
        await ask('superseded', at);
        return keep(await local.endWatch({ ...self, at }));
      default:
        throw new Error(`a checkout session has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle: Lifecycle<CheckoutSnapshot> = createLifecycle<CheckoutSnapshot>({
    start,
    load: () => load(lifecycle.clock.present()),
    perform,
    park: async (item, reason) =>
      keep(await local.parkCheckout({ ...self, at: now(item.at), step: item.kind, reason })),
    unpark: async () => keep(await local.unparkCheckout({ ...self, at: lifecycle.clock.present() })),
    rollOver: (next) => continueAsNew<typeof checkoutSession>(next),
  });
  /** A test clock performs entries at their own instants, real time at the moment it has reached. */
  const now = (due: string) => (start.testClockId === null ? lifecycle.clock.present() : due);

  const accept = commandsOf(lifecycle, ({ checkoutStatus, isAnswered }) => ({
    sessionId: start.objectId,
    checkoutStatus,
    isAnswered,
  }));
  accept(openCheckout, open);
  accept(cancelCheckout, cancel);
  accept(refreshCheckout, ({ at, caller }) => ask('poll', at, caller));
  const wake = async () => {
    // A question that failed is asked again by the agenda; nobody waits for the answer of a signal.
    await lifecycle
      .command('providerNotified', {}, () => ask('poll', lifecycle.clock.present()))
      .catch(() => undefined);
  };
  setHandler(providerNotified, wake, described(providerNotified));
  setHandler(paymentSettled, wake, described(paymentSettled));
  setHandler(
    checkoutProgress,
    () => last && { checkoutStatus: last.checkoutStatus, linkState: last.linkState, isAnswered: last.isAnswered },
    described(checkoutProgress),
  );

  return lifecycle.run();
}
