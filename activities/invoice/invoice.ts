import { refuse } from '../../billing/refusal.ts';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateways } from '../../integrations/payment-gateway.ts';
import {
  type CollectedInvoice,
  noteOverdue,
  openAttempt,
  openRetry,
} from '../../services/invoice/issue/invoice-collect.ts';
import { refuseGatedInvoice } from '../../services/invoice/issue/invoice-gate.ts';
import { issueInvoices } from '../../services/invoice/issue/invoice-issue.ts';
import { attendInvoice, isInvoiceThere, readAttendedInvoice } from '../../services/invoice/read/invoice-snapshot.ts';
import { parkObject, unparkObject } from '../../services/lifecycle/parked-object.ts';
import { timerSpread } from '../../services/lifecycle/timer-spread.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { InvoiceSnapshot } from '../../workflows/invoice/invoice.messages.ts';
import type { Caller, Command } from '../../workflows/lifecycle.messages.ts';
import { keepingRefusals } from '../kept-refusal.ts';
import { createInvoiceCommands } from './invoice-command.ts';
import type { InvoiceReference } from './invoice-reference.ts';
import { draftPayerPage, type PaymentPages } from './payer-page.ts';

export interface InvoiceActivityDependencies {
  database: Database;
  readUsage: UsageReader;
  timerSpreadMs: number;
  gateways: PaymentGateways;
  pages: PaymentPages;
}

interface InvoiceMoment extends InvoiceReference {
  at: string;
}

export type InvoiceActivities = ReturnType<typeof createInvoiceActivities>;

/** What invoice workflows, and subscriptions on behalf of their drafts, do. Each is one transaction. */
export function createInvoiceActivities(dependencies: InvoiceActivityDependencies) {
  const { database, readUsage, timerSpreadMs } = dependencies;
  const inScope = <T>(owner: InvoiceReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(owner), ...caller }, work);
  const snapshot = (invoice: CollectedInvoice) => snapshotOf(invoice, timerSpread(invoice.id, timerSpreadMs));

  return {
    /**
     * Reads the invoice for its own workflow, which from now on looks after it, and writes its agenda down: what others did
     * to its row may have changed what is due. Null for one that was never made.
     */
    refreshInvoice: (self: InvoiceReference): Promise<InvoiceSnapshot | null> =>
      inScope(self, async (tx) =>
        (await isInvoiceThere(tx, tx.scope, self.invoiceId))
          ? snapshot(await attendInvoice(tx, tx.scope, self.invoiceId))
          : null,
      ),

    ...keepingRefusals(database, createInvoiceCommands({ inScope, readUsage, snapshot })),

    /** A person finalizes: what is no draft is refused, a skipped one stays. spec: subscriptions-and-invoicing §2.15.1 */
    issueInvoice: (input: InvoiceReference & { command: Command }): Promise<InvoiceSnapshot> =>
      inScope(
        input,
        async (tx) => {
          const before = await readAttendedInvoice(tx, tx.scope, input.invoiceId);
          if (before.status === 'SKIPPED') return snapshot(before);
          await refuseGatedInvoice(tx, tx.scope, input.invoiceId, 'finalized');
          if (before.status !== 'DRAFT')
            throw refuse('validation_error', `an invoice that is ${before.status} cannot be finalized`);
          await issueInvoices(tx, tx.scope, [{ invoiceId: input.invoiceId, at: input.command.at }], readUsage);
          return snapshot(await attendInvoice(tx, tx.scope, input.invoiceId));
        },
        input.command.caller,
      ),

    openAttempt: (input: InvoiceReference & { command: Command }): Promise<InvoiceSnapshot> =>
      inScope(
        input,
        async (tx) => snapshot(await openAttempt(tx, tx.scope, { invoiceId: input.invoiceId, at: input.command.at })),
        input.command.caller,
      ),

    openRetry: (input: InvoiceMoment & { attempt: number }): Promise<InvoiceSnapshot> =>
      inScope(input, async (tx) => snapshot(await openRetry(tx, tx.scope, input))),

    /** Drafts the page of a payment that its payer is asked for, whose session is then to be followed. */
    async openPage(
      input: InvoiceMoment & { paymentId: string },
    ): Promise<InvoiceSnapshot & { checkoutSessionId?: string }> {
      const checkoutSessionId = await draftPayerPage(dependencies, inScope, input);
      const read = await inScope(input, async (tx) =>
        snapshot(await readAttendedInvoice(tx, tx.scope, input.invoiceId)),
      );
      return { ...read, ...(checkoutSessionId === null ? {} : { checkoutSessionId }) };
    },

    noteOverdue: (input: InvoiceMoment): Promise<InvoiceSnapshot> =>
      inScope(input, async (tx) => snapshot(await noteOverdue(tx, tx.scope, input))),

    parkInvoice: (input: InvoiceReference & { step: string; reason: string }): Promise<InvoiceSnapshot> =>
      inScope(input, async (tx) => {
        await parkObject(tx, tx.scope, {
          objectType: 'invoice',
          objectId: input.invoiceId,
          step: input.step,
          reason: input.reason,
        });
        return snapshot(await readAttendedInvoice(tx, tx.scope, input.invoiceId));
      }),

    unparkInvoice: (self: InvoiceReference): Promise<InvoiceSnapshot> =>
      inScope(self, async (tx) => {
        await unparkObject(tx, tx.scope, { objectType: 'invoice', objectId: self.invoiceId });
        return snapshot(await readAttendedInvoice(tx, tx.scope, self.invoiceId));
      }),
  };
}

function snapshotOf(invoice: CollectedInvoice, spreadMs: number): InvoiceSnapshot {
  const status = invoice.status.toLowerCase();
  const isOpen = invoice.paymentStatus !== 'SUCCEEDED' && invoice.paymentStatus !== 'OVERPAID';
  const declined = isOpen && invoice.declineReason !== null ? ` · last charge declined: ${invoice.declineReason}` : '';
  return {
    version: invoice.version,
    status,
    paymentStatus: invoice.paymentStatus,
    subscriptionId: invoice.subscriptionId,
    agenda: invoice.agenda,
    // An unpaid invoice whose retries are used up waits for nothing: a payment or a person starts its workflow again.
    ended: invoice.agenda.length === 0,
    details: `${status} · payment ${invoice.paymentStatus.toLowerCase()} · ${invoice.collectionAttempts} retries${declined} · due ${invoice.dueDate ?? '-'}`,
    spreadMs,
    blockedOn: invoice.blockedOn,
    blockedReason: invoice.blockedReason,
    ...(invoice.isEnforced ? { subscriptionWaits: true } : {}),
    ...(invoice.isPaidByWallets ? { paidByWallets: true } : {}),
  };
}
