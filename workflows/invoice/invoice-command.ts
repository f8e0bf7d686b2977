import { workflowInfo } from '@temporalio/workflow';
import type { InvoiceActivities } from '../../activities/invoice/invoice.ts';
import { followSubscription, tellSubscription } from '../followers.ts';
import type { LifecycleStart } from '../lifecycle.messages.ts';
import { commandsOf, type Lifecycle } from '../lifecycle-definition.ts';
import {
  attemptPayment,
  computeInvoice,
  createInvoice,
  editInvoice,
  finalizeInvoice,
  type InvoiceChanged,
  type InvoiceSnapshot,
  notePayment,
  recalculateDraft,
  recalculateInvoice,
  voidInvoice,
} from './invoice.messages.ts';

/** What the commands of an invoice work with. */
export interface InvoiceCommands {
  start: LifecycleStart;
  lifecycle: Lifecycle<InvoiceSnapshot>;
  /** The activities, as local ones. */
  local: InvoiceActivities;
  charge(snapshot: InvoiceSnapshot, at: string): Promise<InvoiceSnapshot>;
  /** Tells the subscription whose agenda changed with the invoice. */
  enforced(snapshot: InvoiceSnapshot): Promise<InvoiceSnapshot>;
}

/**
 * Registers everything people ask of an invoice. Each is one activity in the invoice's own loop; where it changed a draft that
 * its subscription's agenda holds, or made one, that workflow is told. spec: subscriptions-and-invoicing §2.15
 */
export function acceptInvoiceCommands({ start, lifecycle, local, charge, enforced }: InvoiceCommands): void {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, invoiceId: start.objectId };
  const accept = commandsOf(
    lifecycle,
    ({ status, paymentStatus }): InvoiceChanged => ({
      invoiceId: start.objectId,
      invoiceStatus: status.toUpperCase(),
      paymentStatus,
      runId: workflowInfo().runId,
    }),
  );

  /** The row of the subscription's agenda changed with the invoice. */
  const told = async (snapshot: InvoiceSnapshot) => {
    const subscriptionId = snapshot.subscriptionId ?? null;
    if (subscriptionId !== null) await tellSubscription(subscriptionId, lifecycle.clock.heardTime);
    return snapshot;
  };
  /** A draft came to be that the subscription finalizes, whether or not its workflow still runs. */
  const handedOver = async (snapshot: InvoiceSnapshot) => {
    const subscriptionId = snapshot.subscriptionId ?? null;
    if (subscriptionId !== null) await followSubscription(start, subscriptionId, lifecycle.clock.heardTime);
    return snapshot;
  };

  accept(createInvoice, async (command) => handedOver(await local.createInvoice({ ...self, command })));
  accept(computeInvoice, async (command) => told(await local.computeInvoice({ ...self, command })));
  accept(editInvoice, async (command) => told(await local.editInvoice({ ...self, command })));
  accept(recalculateInvoice, async (command) => handedOver(await local.recalculateInvoice({ ...self, command })));
  accept(recalculateDraft, async (command) => told(await local.recalculateDraft({ ...self, command })));
  accept(notePayment, async (command) => told(await local.notePayment({ ...self, command })));
  accept(finalizeInvoice, async (command) => enforced(await local.issueInvoice({ ...self, command })));
  accept(voidInvoice, async (command) => enforced(await local.voidInvoice({ ...self, command })));
  accept(attemptPayment, async (command) => charge(await local.openAttempt({ ...self, command }), command.at));
}
