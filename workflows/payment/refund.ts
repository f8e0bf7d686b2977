import { continueAsNew, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { RefundActivities } from '../../activities/payment/refund.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import { databaseStep, externalStep } from '../activity-options.ts';
import { described } from '../handler-descriptions.ts';
import type { KeptCommand, LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { commandsOf, type Lifecycle } from '../lifecycle-definition.ts';
import { gatewayNotified } from './payment.messages.ts';
import { type RefundSnapshot, retryRefund } from './refund.messages.ts';

const local = proxyLocalActivities<RefundActivities>(databaseStep);
const external = proxyActivities<RefundActivities>(externalStep);

/**
 * Money on its way back to a gateway: it is sent, asked about until the gateway says what became of it, sent again after a
 * refusal, and after the third one paid into the prepaid wallet instead.
 * spec: subscriptions-and-invoicing §2.20; wallets-and-payments §2.21
 */
export async function refund(start: LifecycleStart): Promise<LifecycleResult> {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, refundId: start.objectId };

  async function ask(at: string): Promise<RefundSnapshot> {
    const outcome = await external.askRefund(self);
    return local.recordRefund({ ...self, outcome, at });
  }

  /** Nothing is asked of a refund that the step before found settled, or replaced by one to the wallet. */
  async function askIfSent(sent: RefundSnapshot, at: string): Promise<RefundSnapshot> {
    return sent.refundStatus === 'PROCESSING' ? ask(at) : sent;
  }

  async function tryAgain(command: KeptCommand): Promise<RefundSnapshot> {
    return askIfSent(await local.retryRefund({ ...self, command }), command.at);
  }

  async function perform(item: AgendaItem): Promise<RefundSnapshot> {
    const at = now(item.at);
    switch (item.kind) {
      case 'sendRefund':
      case 'retryRefund':
        return askIfSent(await local.sendRefund({ ...self, at }), at);
      case 'pollGateway':
        return ask(at);
      case 'reportUnanswered':
        return local.parkRefund({
          ...self,
          at: item.at,
          step: item.kind,
          reason: 'the gateway has not answered for 24 hours',
        });
      default:
        throw new Error(`a refund has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle: Lifecycle<RefundSnapshot> = createLifecycle<RefundSnapshot>({
    start,
    load: () => local.loadRefund({ ...self, at: lifecycle.clock.present() }),
    perform,
    park: (item, reason) => local.parkRefund({ ...self, at: now(item.at), step: item.kind, reason }),
    unpark: () => local.unparkRefund({ ...self, at: lifecycle.clock.present() }),
    rollOver: (next) => continueAsNew<typeof refund>(next),
  });
  /** A test clock performs entries at their own instants, real time at the moment it has reached. */
  const now = (due: string) => (start.testClockId === null ? lifecycle.clock.present() : due);

  const accept = commandsOf(lifecycle, ({ refundStatus }) => ({ refundId: start.objectId, refundStatus }));
  accept(retryRefund, tryAgain);
  /** Asks about a refund that is under way, or had succeeded; one that is not sent or failed would be sent by the question. */
  const hearGateway = async () => {
    const at = lifecycle.clock.present();
    const heard = await local.loadRefund({ ...self, at });
    if (heard.refundStatus !== 'SUCCEEDED') return askIfSent(heard, at);
    const outcome = await external.askSettledRefund(self);
    return local.recordRefund({ ...self, outcome, at: lifecycle.clock.present() });
  };
  setHandler(
    gatewayNotified,
    async () => {
      // A question that failed is asked again by the agenda; nobody waits for the answer of a signal.
      await lifecycle.command('gatewayNotified', {}, hearGateway).catch(() => undefined);
    },
    described(gatewayNotified),
  );

  return lifecycle.run();
}
