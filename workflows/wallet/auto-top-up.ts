import { continueAsNew, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { PaymentActivities } from '../../activities/payment/payment.ts';
import type { AutoTopUpActivities } from '../../activities/wallet/auto-top-up.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import { databaseStep, externalStep } from '../activity-options.ts';
import { collectPayment } from '../collection.ts';
import { followRefund, tellPayment } from '../followers.ts';
import { described } from '../handler-descriptions.ts';
import type { CarriedStanding, LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { commandsOf, type Lifecycle } from '../lifecycle-definition.ts';
import {
  type AutoTopUpSnapshot,
  type AutoTopUpStanding,
  balanceDropped,
  methodChanged,
  paymentSettled,
  resume,
  retryNow,
  settingsChanged,
  standing,
} from './auto-top-up.messages.ts';

const local = proxyLocalActivities<AutoTopUpActivities & PaymentActivities>(databaseStep);
const external = proxyActivities<PaymentActivities>(externalStep);

/**
 * A wallet that fills itself: it waits until the balance falls, opens one top-up, charges it, and waits as long as its pauses, limits
 * and declines say. It lives until top-ups are switched off or the wallet closes, and holds no money: every attempt, and why there is
 * none, is a row. spec: wallets-and-payments §2.11; design: money-in §1
 */
export async function autoTopUp(start: LifecycleStart): Promise<LifecycleResult> {
  const owner = { tenantId: start.tenantId, environmentId: start.environmentId };
  const self = { ...owner, walletId: start.objectId };
  const answer = ({ state, reason, until }: AutoTopUpStanding): AutoTopUpStanding => ({ state, reason, until });
  const carried = start.carried as CarriedStanding<AutoTopUpSnapshot> | undefined;
  let shown = answer(carried?.snapshot ?? { state: 'starting', reason: null, until: null });

  function seen(snapshot: AutoTopUpSnapshot): AutoTopUpSnapshot {
    shown = answer(snapshot);
    return snapshot;
  }
  const load = async () => {
    const snapshot = await local.loadAutoTopUp(self);
    return snapshot && seen(snapshot);
  };
  const reloaded = async () => seen((await local.loadAutoTopUp(self))!);
  const evaluate = async (isForced = false) => seen(await local.evaluateAutoTopUp({ ...self, isForced }));

  /** Sends the charge of an attempt; what the gateway says ends the attempt in the commit that records it. */
  async function charge(paymentId: string, at: string): Promise<AutoTopUpSnapshot> {
    const clockTime = lifecycle.clock.heardTime;
    const recorded = await collectPayment(start, { paymentId, at, clockTime }, (answer) => local.recordPayment(answer));
    for (const id of recorded.refundIds ?? []) await followRefund(start, id, clockTime);
    return reloaded();
  }

  /** Gives up what its payer has not paid or confirmed in time: the gateway says what became of a charge that waits for it. */
  async function lapse(at: string): Promise<AutoTopUpSnapshot> {
    const { paymentId } = await local.lapseAutoTopUp({ ...self, at });
    if (paymentId === null) return reloaded();
    const outcome = await external.cancelCharge({ ...owner, paymentId });
    const recorded = await local.recordPayment({ ...owner, paymentId, outcome, at });
    const clockTime = lifecycle.clock.heardTime;
    await tellPayment(paymentId, clockTime);
    for (const id of recorded.refundIds ?? []) await followRefund(start, id, clockTime);
    return reloaded();
  }

  async function perform(item: AgendaItem): Promise<AutoTopUpSnapshot> {
    switch (item.kind) {
      case 'chargePayment':
        return charge(item.ref, now(item.at));
      case 'lapse':
        return lapse(now(item.at));
      case 'evaluate':
      case 'endWindow':
      case 'endMonth':
        return evaluate();
      default:
        throw new Error(`an automatic top-up has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle: Lifecycle<AutoTopUpSnapshot> = createLifecycle<AutoTopUpSnapshot>({
    start,
    load,
    perform,
    park: async (item, reason) => seen(await local.parkAutoTopUp({ ...self, step: item.kind, reason })),
    unpark: async () => seen(await local.unparkAutoTopUp(self)),
    rollOver: (next) => continueAsNew<typeof autoTopUp>(next),
  });
  /** A test clock performs entries at their own instants, real time at the moment it has reached. */
  const now = (due: string) => (start.testClockId === null ? lifecycle.clock.present() : due);

  const accept = commandsOf(lifecycle, answer);
  accept(retryNow, () => evaluate(true));
  accept(resume, async (command) => seen(await local.resumeAutoTopUp({ ...self, command })));
  setHandler(standing, () => shown, described(standing));
  // Whatever happened is written in the rows already, with when to look at the wallet: a look that fails is parked, with its reason.
  for (const signal of [balanceDropped, settingsChanged, paymentSettled, methodChanged]) {
    setHandler(
      signal,
      ({ at }) => {
        lifecycle.clock.hear(at);
        lifecycle.reload();
      },
      described(signal),
    );
  }

  return lifecycle.run();
}
