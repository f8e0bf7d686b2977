import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { InvoiceActivities } from '../activities/invoice.ts';
import { followSubscription, nudge } from './followers.ts';
import {
  attemptPayment,
  computeInvoice,
  createInvoice,
  editInvoice,
  finalizeInvoice,
  type InvoiceChanged,
  type InvoiceCommand,
  type InvoiceSnapshot,
  notePayment,
  recalculateDraft,
  recalculateInvoice,
  voidInvoice,
} from './invoice.messages.ts';
import { type LifecycleStart, rowChanged } from './lifecycle.messages.ts';
import type { Lifecycle } from './lifecycle-definition.ts';
import { subscriptionWorkflowId } from './subscription.messages.ts';

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
export function registerInvoiceCommands({ start, lifecycle, local, charge, enforced }: InvoiceCommands): void {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, invoiceId: start.objectId };
  const changed = (snapshot: InvoiceSnapshot): InvoiceChanged => ({
    invoiceId: start.objectId,
    invoiceStatus: snapshot.status.toUpperCase(),
    paymentStatus: snapshot.paymentStatus,
    runId: workflowInfo().runId,
  });
  const ask = async <Command extends InvoiceCommand>(
    name: string,
    command: Command,
    act: (command: Command) => Promise<InvoiceSnapshot>,
  ) => changed(await lifecycle.command(name, command, act));

  /** The row of the subscription's agenda changed with the invoice. */
  const told = async (snapshot: InvoiceSnapshot) => {
    const subscriptionId = snapshot.subscriptionId ?? null;
    if (subscriptionId !== null) {
      await nudge(() => getExternalWorkflowHandle(subscriptionWorkflowId(subscriptionId)).signal(rowChanged));
    }
    return snapshot;
  };
  /** A draft came to be that the subscription finalizes, whether or not its workflow still runs. */
  const handedOver = async (snapshot: InvoiceSnapshot) => {
    const subscriptionId = snapshot.subscriptionId ?? null;
    if (subscriptionId !== null) await followSubscription(start, subscriptionId, lifecycle.clock.heardTime);
    return snapshot;
  };

  setHandler(createInvoice, (command) =>
    ask('createInvoice', command, async (command) => handedOver(await local.createInvoice({ ...self, command }))),
  );
  setHandler(computeInvoice, (command) =>
    ask('computeInvoice', command, async (command) => told(await local.computeInvoice({ ...self, command }))),
  );
  setHandler(editInvoice, (command) =>
    ask('editInvoice', command, async (command) => told(await local.editInvoice({ ...self, command }))),
  );
  setHandler(recalculateInvoice, (command) =>
    ask('recalculateInvoice', command, async (command) =>
      handedOver(await local.recalculateInvoice({ ...self, command })),
    ),
  );
  setHandler(recalculateDraft, (command) =>
    ask('recalculateDraft', command, async (command) => told(await local.recalculateDraft({ ...self, command }))),
  );
  setHandler(notePayment, (command) =>
    ask('notePayment', command, async (command) => told(await local.notePayment({ ...self, command }))),
  );
  setHandler(finalizeInvoice, (command) =>
    ask('finalizeInvoice', command, async (command) => enforced(await local.issueInvoice({ ...self, command }))),
  );
  setHandler(voidInvoice, (command) =>
    ask('voidInvoice', command, async (command) => enforced(await local.voidInvoice({ ...self, command }))),
  );
  setHandler(attemptPayment, (command) =>
    ask('attemptPayment', command, async (command) =>
      charge(await local.openAttempt({ ...self, command }), command.at),
    ),
  );
}
