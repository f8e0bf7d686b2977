import { continueAsNew, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { CheckoutActivities } from '../../activities/payment/checkout.ts';
import type { LinkOccasion } from '../../billing/payment/checkout-link.ts';
import { refuse } from '../../billing/refusal.ts';
import { databaseStep, externalStep } from '../activity-options.ts';
import { followInvoice, followRefund, followSubscription } from '../followers.ts';
import { described } from '../handler-descriptions.ts';
import { paymentSettled } from '../invoice/invoice.messages.ts';
import type { Caller, Command, LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { commandsOf, type Lifecycle } from '../lifecycle-definition.ts';
import {
  type CheckoutSnapshot,
  cancelCheckout,
  checkoutProgress,
  openCheckout,
  providerNotified,
  refreshCheckout,
} from './checkout-session.messages.ts';

const local = proxyLocalActivities<CheckoutActivities>(databaseStep);
const external = proxyActivities<CheckoutActivities>(externalStep);

type Steps = ReturnType<typeof stepsOf>;

/**
 * A checkout session from its opening until its link is known to take no money any more: the link is opened, asked about, closed at the end
 * of the session, and watched after it. It holds no money; each step is one transaction, and whoever claims the session first decides.
 * spec: wallets-and-payments §2.17; design: money-in §3, money-in-checkout §A4, §A6
 */
export async function checkoutSession(start: LifecycleStart): Promise<LifecycleResult> {
  const steps: Steps = stepsOf(start, () => lifecycle);
  const self = steps.self;
  const present = () => lifecycle.clock.present();
  const lifecycle: Lifecycle<CheckoutSnapshot> = createLifecycle<CheckoutSnapshot>({
    start,
    load: () => steps.load(present()),
    perform: (item) => steps.perform(item.kind, now(item.at)),
    park: async (item, reason) =>
      steps.keep(await local.parkCheckout({ ...self, at: now(item.at), step: item.kind, reason })),
    unpark: async () => steps.keep(await local.unparkCheckout({ ...self, at: present() })),
    rollOver: (next) => continueAsNew<typeof checkoutSession>(next),
  });
  /** A test clock performs entries at their own instants, real time at the moment it has reached. */
  const now = (due: string) => (start.testClockId === null ? present() : due);

  const accept = commandsOf(lifecycle, ({ checkoutStatus, isAnswered }) => ({
    sessionId: start.objectId,
    checkoutStatus,
    isAnswered,
  }));
  accept(openCheckout, steps.open);
  accept(cancelCheckout, steps.cancel);
  accept(refreshCheckout, ({ at, caller }) => steps.ask('poll', at, caller));
  const wake = async () => {
    // A question that failed is asked again by the agenda; nobody waits for the answer of a signal.
    await lifecycle.command('providerNotified', {}, () => steps.ask('poll', present())).catch(() => undefined);
  };
  setHandler(providerNotified, wake, described(providerNotified));
  setHandler(paymentSettled, wake, described(paymentSettled));
  setHandler(checkoutProgress, steps.progress, described(checkoutProgress));

  return lifecycle.run();
}

/** Everything a session does, one step after the other; each keeps how the session stands after it. */
function stepsOf(start: LifecycleStart, lifecycleOf: () => Lifecycle<CheckoutSnapshot>) {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, sessionId: start.objectId };
  let last: CheckoutSnapshot | null = null;

  function keep<Loaded extends CheckoutSnapshot | null>(snapshot: Loaded): Loaded {
    last = snapshot;
    return snapshot;
  }

  const load = async (at: string) => keep(await local.loadCheckout({ ...self, at }));

  /** Tells those whose work the step made: refunds to send, a subscription that has begun, an invoice whose page has ended. */
  async function followed(snapshot: CheckoutSnapshot): Promise<CheckoutSnapshot> {
    const { refundIds, subscriptionId, invoiceId, ...rest } = snapshot;
    const clockTime = lifecycleOf().clock.heardTime;
    if (subscriptionId) await followSubscription(start, subscriptionId, clockTime);
    if (invoiceId) await followInvoice(start, invoiceId, clockTime);
    for (const id of refundIds ?? []) await followRefund(start, id, clockTime);
    return keep(rest);
  }

  /** Whether the provider answers within a local step. The proxies of activities cannot be handed on: they look like promises. */
  async function isLocal(): Promise<boolean> {
    return (last ?? (await load(lifecycleOf().clock.present())))?.isLocal ?? false;
  }

  async function openLink(at: string, caller?: Caller): Promise<CheckoutSnapshot> {
    const request = { ...self, at, ...(caller ? { caller } : {}) };
    return followed((await isLocal()) ? await local.openLink(request) : await external.openLink(request));
  }

  async function ask(occasion: LinkOccasion, at: string, caller?: Caller): Promise<CheckoutSnapshot> {
    const request = { ...self, occasion, at, ...(caller ? { caller } : {}) };
    return followed((await isLocal()) ? await local.askLink(request) : await external.askLink(request));
  }

  async function open({ at, caller }: Command): Promise<CheckoutSnapshot> {
    const drafted = await load(at);
    if (drafted === null) throw refuse('not_found', `checkout session ${start.objectId} was not found`);
    if (drafted.checkoutStatus !== 'initiated') return drafted;
    try {
      return await openLink(at, caller);
    } catch (error) {
      // Refused at the provider: the session has ended by that, and its caller is told why.
      lifecycleOf().reload();
      throw error;
    }
  }

  async function cancel({ at, caller }: Command): Promise<CheckoutSnapshot> {
    const snapshot = await ask('cancel', at, caller);
    if (snapshot.checkoutStatus !== 'completed') return snapshot;
    lifecycleOf().reload();
    throw refuse('invalid_operation', `checkout session ${start.objectId} was paid meanwhile and is completed`, {
      checkout_status: 'completed',
    });
  }

  async function perform(kind: string, at: string): Promise<CheckoutSnapshot> {
    const occasion = occasions[kind];
    if (kind === 'openLink') return openLink(at);
    if (occasion === undefined) throw new Error(`a checkout session has no agenda entry ${kind}`);
    const asked = await ask(occasion, at);
    return kind === 'lastLook' ? keep(await local.endWatch({ ...self, at })) : asked;
  }

  const progress = () =>
    last && { checkoutStatus: last.checkoutStatus, linkState: last.linkState, isAnswered: last.isAnswered };

  return { self, keep, load, open, ask, cancel, perform, progress };
}

/** Why an entry of the agenda asks about the link. */
const occasions: Record<string, LinkOccasion | undefined> = {
  pollProvider: 'poll',
  retryCompletion: 'poll',
  abandonCompletion: 'poll',
  expireSession: 'timer',
  deactivateLink: 'superseded',
  lastLook: 'superseded',
};
