import type { SqlTransaction } from '../../db/transaction.ts';
import { computeDraft } from '../../services/invoice/draft/invoice-compute.ts';
import type { GivenToCompute } from '../../services/invoice/draft/invoice-compute-given.ts';
import { createInvoice } from '../../services/invoice/draft/invoice-create.ts';
import { editInvoice, type InvoiceEdit } from '../../services/invoice/edit/invoice-edit.ts';
import { editInvoiceAsPreviewed } from '../../services/invoice/edit/invoice-edit-bound.ts';
import { recalculateDraft, recalculateInvoice } from '../../services/invoice/edit/invoice-recalculate.ts';
import { readInvoiceCommand } from '../../services/invoice/issue/invoice-command.ts';
import { notePayment, type PaymentNote } from '../../services/invoice/issue/invoice-payment-by-hand.ts';
import {
  type AttendedInvoice,
  attendInvoice,
  readAttendedInvoice,
} from '../../services/invoice/read/invoice-snapshot.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type {
  ComputeInvoiceCommand,
  InvoiceCommand,
  InvoiceSnapshot,
  KeptCommand,
  RecalculateDraftCommand,
} from '../../workflows/invoice/invoice.messages.ts';
import type { Caller } from '../../workflows/subscription/subscription.messages.ts';
import type { InvoiceReference } from './invoice-reference.ts';

interface CommandTools {
  inScope<T>(owner: InvoiceReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(invoice: AttendedInvoice): InvoiceSnapshot;
}

/** What a command asks for, as its route kept it. */
const asked = <Content extends object>(tx: SqlTransaction, { command }: Commanded<KeptCommand>): Promise<Content> =>
  readInvoiceCommand<Content>(tx, tx.scope, command.commandId);

/** The digest is absent where the lines stay and coupons are taken anew. */
type AskedEdit = Pick<InvoiceEdit, 'edit'> & { previewDigest?: string | null };

type Commanded<Command extends InvoiceCommand> = InvoiceReference & { command: Command };

/** What people ask of invoices beside finalizing, voiding and collecting: each is one transaction. */
export function createInvoiceCommands({ inScope, readUsage, snapshot }: CommandTools) {
  /** Carries a command out in the caller's name; a final invoice is its own workflow's from then on. */
  const carryOut = <Command extends InvoiceCommand>(
    { command, ...self }: Commanded<Command>,
    act: (tx: SqlTransaction, moment: { invoiceId: string; at: string }) => Promise<unknown>,
    attends = false,
  ): Promise<InvoiceSnapshot> =>
    inScope(
      self,
      async (tx) => {
        await act(tx, { invoiceId: self.invoiceId, at: command.at });
        const read = attends ? attendInvoice : readAttendedInvoice;
        return snapshot(await read(tx, tx.scope, self.invoiceId));
      },
      command.caller,
    );

  return {
    createInvoice: (input: Commanded<KeptCommand>) =>
      carryOut(
        input,
        async (tx, moment) => createInvoice(tx, tx.scope, { ...moment, invoice: await asked(tx, input) }, readUsage),
        true,
      ),
    computeInvoice: ({ command, ...self }: Commanded<ComputeInvoiceCommand>) =>
      carryOut({ command, ...self }, async (tx, moment) => {
        const { commandId } = command;
        if (!commandId) return computeDraft(tx, tx.scope, moment, readUsage);
        const given = await asked<GivenToCompute>(tx, { ...self, command: { ...command, commandId } });
        return computeDraft(tx, tx.scope, { ...moment, given, commandId }, readUsage);
      }),
    editInvoice: (input: Commanded<KeptCommand>) =>
      carryOut(input, async (tx, moment) => {
        const { edit, previewDigest } = await asked<AskedEdit>(tx, input);
        const ordered = { ...moment, edit, commandId: input.command.commandId };
        return previewDigest
          ? editInvoiceAsPreviewed(tx, tx.scope, ordered, previewDigest)
          : editInvoice(tx, tx.scope, ordered);
      }),
    recalculateInvoice: (input: Commanded<KeptCommand>) => {
      const { commandId } = input.command;
      return carryOut(input, (tx, moment) => recalculateInvoice(tx, tx.scope, { ...moment, commandId }, readUsage));
    },
    recalculateDraft: (input: Commanded<RecalculateDraftCommand>) => {
      const { finalize } = input.command;
      return carryOut(
        input,
        (tx, moment) => recalculateDraft(tx, tx.scope, { ...moment, finalize }, readUsage),
        finalize,
      );
    },
    notePayment: (input: Commanded<KeptCommand>) =>
      carryOut(input, async (tx, moment) => {
        const note = await asked<Pick<PaymentNote, 'paymentStatus' | 'amount'>>(tx, input);
        return notePayment(tx, tx.scope, { ...moment, ...note });
      }),
  };
}
