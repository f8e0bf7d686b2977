import { continueAsNew, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { InvoiceActivities } from '../../activities/invoice/invoice.ts';
import type { PaymentActivities } from '../../activities/payment/payment.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import { databaseStep, summaryOf } from '../activity-options.ts';
import { collectPayment } from '../collection.ts';
import { followCheckout, tellSubscription } from '../followers.ts';
import { described } from '../handler-descriptions.ts';
import type { LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import { type InvoiceSnapshot, paymentSettled } from './invoice.messages.ts';
import { acceptInvoiceCommands } from './invoice-command.ts';

const local = proxyLocalActivities<InvoiceActivities>(databaseStep);
const payments = proxyLocalActivities<PaymentActivities>(databaseStep);

/**
 * An issued invoice that is not settled: charges, retries after a decline, the overdue notice, and what people ask of it.
 * It ends when nothing is left to wait for. spec: subscriptions-and-invoicing §2.5, §2.15
 */
export async function invoice(start: LifecycleStart): Promise<LifecycleResult> {
  const owner = { tenantId: start.tenantId, environmentId: start.environmentId };
  const self = { ...owner, invoiceId: start.objectId };

  /** Tells the subscription whose agenda changed with the invoice, where what is not paid has consequences for it. */
  async function enforced(snapshot: InvoiceSnapshot): Promise<InvoiceSnapshot> {
    const { subscriptionWaits, subscriptionId } = snapshot;
    if (subscriptionWaits && subscriptionId) await tellSubscription(subscriptionId, lifecycle.clock.heardTime);
    return snapshot;
  }

  async function charge(snapshot: InvoiceSnapshot, at: string): Promise<InvoiceSnapshot> {
    const open = snapshot.agenda.find((item) => item.kind === 'chargePayment');
    const clockTime = lifecycle.clock.heardTime;
    if (!open) {
      const { paidByWallets, subscriptionId } = snapshot;
      if (paidByWallets && subscriptionId) await tellSubscription(subscriptionId, clockTime);
      return snapshot;
    }
    const collection = { paymentId: open.ref, at, clockTime };
    const { invoicePaid, subscriptionId } = await collectPayment(start, collection, payments.recordPayment);
    if (invoicePaid && subscriptionId !== null) await tellSubscription(subscriptionId, clockTime);
    const refreshed = (await local.refreshInvoice(self)) ?? snapshot;
    return invoicePaid ? refreshed : enforced(refreshed);
  }

  async function perform(item: AgendaItem, snapshot: InvoiceSnapshot): Promise<InvoiceSnapshot> {
    const step = proxyLocalActivities<InvoiceActivities>({ ...databaseStep, ...summaryOf(item) });
    switch (item.kind) {
      case 'chargePayment':
        return charge(snapshot, item.at);
      case 'retryPayment':
        return charge(
          await enforced(await step.openRetry({ ...self, attempt: Number(item.ref), at: item.at })),
          item.at,
        );
      case 'openPage': {
        const page = { ...self, paymentId: item.ref, at: lifecycle.clock.present() };
        const { checkoutSessionId, ...opened } = await step.openPage(page);
        if (checkoutSessionId) await followCheckout(start, checkoutSessionId, lifecycle.clock.heardTime);
        return opened;
      }
      case 'noteOverdue':
        return step.noteOverdue({ ...self, at: item.at });
      default:
        throw new Error(`an invoice has no agenda entry ${item.kind}`);
    }
  }

  const lifecycle = createLifecycle<InvoiceSnapshot>({
    start,
    load: async () => {
      const found = await local.refreshInvoice(self);
      return found && enforced(found);
    },
    perform,
    park: (item, reason) => local.parkInvoice({ ...self, step: item.kind, reason }),
    unpark: () => local.unparkInvoice(self),
    rollOver: (next) => continueAsNew<typeof invoice>(next),
  });

  acceptInvoiceCommands({ start, lifecycle, local, charge, enforced });
  setHandler(paymentSettled, lifecycle.reload, described(paymentSettled));

  return lifecycle.run();
}
