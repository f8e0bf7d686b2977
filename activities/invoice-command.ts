import { computeDraft } from '../db/stores/invoice-compute.ts';
import { createInvoice } from '../db/stores/invoice-create.ts';
import { editInvoice } from '../db/stores/invoice-edit.ts';
import { notePayment } from '../db/stores/invoice-payment-by-hand.ts';
import { recalculateDraft, recalculateInvoice } from '../db/stores/invoice-recalculate.ts';
import { type AttendedInvoice, attendInvoice, readAttendedInvoice } from '../db/stores/invoice-snapshot.ts';
import type { SqlTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type {
  CreateInvoiceCommand,
  EditInvoiceCommand,
  InvoiceCommand,
  InvoiceSnapshot,
  NotePaymentCommand,
  OnceCommand,
  RecalculateDraftCommand,
} from '../workflows/invoice.messages.ts';
import type { Caller } from '../workflows/subscription.messages.ts';
import type { InvoiceReference } from './invoice.ts';

interface CommandTools {
  inScope<T>(owner: InvoiceReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(invoice: AttendedInvoice): InvoiceSnapshot;
}

const editOf = ({ edit, commandId }: EditInvoiceCommand) => ({ edit, commandId });

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
    createInvoice: (input: Commanded<CreateInvoiceCommand>) =>
      carryOut(
        input,
        (tx, moment) => createInvoice(tx, tx.scope, { ...moment, invoice: input.command.invoice }, readUsage),
        true,
      ),
    computeInvoice: (input: Commanded<InvoiceCommand>) =>
      carryOut(input, (tx, moment) => computeDraft(tx, tx.scope, moment, readUsage)),
    editInvoice: (input: Commanded<EditInvoiceCommand>) =>
      carryOut(input, (tx, moment) => editInvoice(tx, tx.scope, { ...moment, ...editOf(input.command) })),
    recalculateInvoice: (input: Commanded<OnceCommand>) => {
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
    notePayment: (input: Commanded<NotePaymentCommand>) => {
      const { paymentStatus, amount } = input.command;
      return carryOut(input, (tx, moment) => notePayment(tx, tx.scope, { ...moment, paymentStatus, amount }));
    },
  };
}
