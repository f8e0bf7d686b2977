import {
  continueAsNew,
  getExternalWorkflowHandle,
  proxyActivities,
  proxyLocalActivities,
  type SignalDefinition,
  setHandler,
} from '@temporalio/workflow';
import type { PaymentActivities } from '../../activities/payment/payment.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import { refuse } from '../../billing/refusal.ts';
import { databaseStep, externalStep } from '../activity-options.ts';
import { followRefund, nudge, tellSubscription } from '../followers.ts';
import { described } from '../handler-descriptions.ts';
import { invoiceWorkflowId, paymentSettled } from '../invoice/invoice.messages.ts';
import {
  type Caller,
  type Command,
  type LifecycleResult,
  type LifecycleStart,
  rowChanged,
} from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { commandsOf, type Lifecycle } from '../lifecycle-definition.ts';
import { autoTopUpWorkflowId } from '../wallet/auto-top-up.messages.ts';
import {
  cancelPayment,
  gatewayNotified,
  type PaymentSnapshot,
  processPayment,
  refreshPayment,
  refundedElsewhere,
} from './payment.messages.ts';

type Paid = Pick<RecordedPayment, 'paymentId' | 'invoiceId' | 'subscriptionId' | 'walletId'>;
type RecordedPayment = Awaited<ReturnType<PaymentActivities['recordPayment']>>;

const local = proxyLocalActivities<PaymentActivities>(databaseStep);
const external = proxyActivities<PaymentActivities>(externalStep);

/**
 * A payment whose outcome is not known: the gateway is asked after growing pauses and whenever it has news, until it says
 * what became of the charge. Time alone never fails it; of a gateway that is silent for a day a person is told, while a payer may take
 * as long as it likes. spec: wallets-and-payments §2.19
 */
export async function payment(start: LifecycleStart): Promise<LifecycleResult> {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, paymentId: start.objectId };
  const load = (at: string) => local.loadPayment({ ...self, at });

  /** Records what the gateway said, tells those who wait for it, and answers how the payment stands. */
  async function record(outcome: PaymentOutcome, at: string, caller?: Caller): Promise<PaymentSnapshot> {
    const recorded = await local.recordPayment({ ...self, outcome, at, ...(caller ? { caller } : {}) });
    if (!recorded.awaitsGateway) await follow(recorded, at);
    return load(at);
  }

  /** Tells those who wait for the payment, and has the refunds sent that follow from it. */
  async function follow(recorded: RecordedPayment, at: string): Promise<void> {
    const { heardTime } = lifecycle.clock;
    // The test clock may have gone on since this workflow last heard of it.
    const clockTime = heardTime !== null && heardTime < at ? at : heardTime;
    await tellThoseWaiting(recorded, clockTime);
    for (const id of recorded.refundIds ?? []) await followRefund(start, id, clockTime);
  }

  async function startPayment(command: Command): Promise<PaymentSnapshot> {
    const started = await local.startProcessing({ ...self, ...command });
    if (started.awaitsGateway) return record(await external.chargePayment(self), command.at, command.caller);
    await follow(started, command.at);
    return load(command.at);
  }

  async function cancel(command: Command): Promise<PaymentSnapshot> {
    const { needsAction, paymentStatus } = await load(command.at);
    if (!needsAction) {
      throw refuse(
        'invalid_operation',
        `the payment is ${paymentStatus}; only one that waits for its payer can be canceled`,
      );
    }
    return record(await external.cancelCharge(self), command.at, command.caller);
  }

  async function perform(item: AgendaItem): Promise<PaymentSnapshot> {
    switch (item.kind) {
      case 'pollGateway':
        return record(await external.lookUpPayment(self), now(item.at));
      case 'reportUnanswered':
        return local.parkPayment({
          ...self,
          at: item.at,
          step: item.kind,
          reason: 'the gateway has not answered for 24 hours',
        });
      default:
        throw new Error(`a payment has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle: Lifecycle<PaymentSnapshot> = createLifecycle<PaymentSnapshot>({
    start,
    load: () => load(lifecycle.clock.present()),
    perform,
    park: (item, reason) => local.parkPayment({ ...self, at: now(item.at), step: item.kind, reason }),
    unpark: () => local.unparkPayment({ ...self, at: lifecycle.clock.present() }),
    rollOver: (next) => continueAsNew<typeof payment>(next),
    // Snapshots of earlier releases do not say so, and their runs rolled over.
    staysInRun: ({ awaitsPayer }) => awaitsPayer === true,
  });
  /** A test clock performs entries at their own instants, real time at the moment it has reached. */
  const now = (due: string) => (start.testClockId === null ? lifecycle.clock.present() : due);

  const changed = ({ paymentStatus }: PaymentSnapshot) => ({ paymentId: start.objectId, paymentStatus });
  const accept = commandsOf(lifecycle, changed);
  accept(processPayment, startPayment);
  accept(cancelPayment, cancel);
  /** Somebody asked between two entries: the clock may have gone on since the last one it told of. */
  const ask = async () => {
    const { clockTime, ...outcome } = await external.lookUpPayment(self);
    return record(outcome, later(lifecycle.clock.present(), clockTime));
  };
  setHandler(
    refreshPayment,
    async () => changed(await lifecycle.command('refreshPayment', {}, ask)),
    described(refreshPayment),
  );
  /** Records refunds that were made at the gateway itself, of a charge whose capture may be news as well. */
  const hearOfRefunds = async () => {
    const { paymentStatus } = await load(lifecycle.clock.present());
    if (paymentStatus === 'PROCESSING') await ask();
    const refunded = await external.recordRefundsElsewhere({ ...self, at: lifecycle.clock.present() });
    if (refunded === null) return load(lifecycle.clock.present());
    await tellThoseWaiting(refunded, refunded.clockTime);
    return load(later(lifecycle.clock.present(), refunded.clockTime));
  };
  // A question that failed is asked again by the agenda, or by the provider's next notification; nobody waits for the answer of a signal.
  const hears = (signal: SignalDefinition<[]>, answer: () => Promise<PaymentSnapshot>) =>
    setHandler(signal, () => lifecycle.command(signal.name, {}, answer).then(nothing, nothing), described(signal));
  hears(gatewayNotified, ask);
  hears(refundedElsewhere, hearOfRefunds);

  return lifecycle.run();
}

const nothing = () => undefined;

/** The time of a test clock where that has gone on since, else the present. */
const later = (present: string, clockTime: string | null | undefined) =>
  clockTime && clockTime > present ? clockTime : present;

/** Nudges the workflows of the invoice, its subscription and the wallet that is topped up; each reads from the rows what it means. */
async function tellThoseWaiting(settled: Paid, clockTime: string | null): Promise<void> {
  const { paymentId, invoiceId, subscriptionId, walletId } = settled;
  const told: Promise<void>[] = [];
  if (invoiceId !== null) {
    const invoice = getExternalWorkflowHandle(invoiceWorkflowId(invoiceId));
    told.push(nudge(() => invoice.signal(paymentSettled, { paymentId })));
  }
  if (subscriptionId !== null) {
    told.push(tellSubscription(subscriptionId, clockTime));
  }
  if (walletId !== undefined) {
    const topUp = getExternalWorkflowHandle(autoTopUpWorkflowId(walletId));
    told.push(nudge(() => topUp.signal(rowChanged, clockTime)));
  }
  await Promise.all(told);
}
