import type { SqlTransaction } from '../../db/transaction.ts';
import { computeDraft } from '../../services/invoice/draft/invoice-compute.ts';
import { createInvoice } from '../../services/invoice/draft/invoice-create.ts';
import { editInvoice } from '../../services/invoice/edit/invoice-edit.ts';
import { editInvoiceAsPreviewed } from '../../services/invoice/edit/invoice-edit-bound.ts';
import { recalculateDraft, recalculateInvoice } from '../../services/invoice/edit/invoice-recalculate.ts';
import { notePayment } from '../../services/invoice/issue/invoice-payment-by-hand.ts';
import { voidInvoice } from '../../services/invoice/issue/invoice-void.ts';
import {
  type AttendedInvoice,
  attendInvoice,
  readAttendedInvoice,
  refreshInvoiceAgenda,
} from '../../services/invoice/read/invoice-snapshot.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { InvoiceChanged, InvoiceSnapshot } from '../../workflows/invoice/invoice.messages.ts';
import * as messages from '../../workflows/invoice/invoice.messages.ts';
import type { Caller, CommandDefinition, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import { contentOf } from '../command-content.ts';
import type { InvoiceReference } from './invoice-reference.ts';

interface CommandTools {
  inScope<T>(owner: InvoiceReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(invoice: AttendedInvoice): InvoiceSnapshot;
}

type Commanded = InvoiceReference & { command: KeptCommand };

/** An invoice, the customer's present, and the id under which the command is carried out once. */
interface Moment {
  invoiceId: string;
  at: string;
  commandId: string;
}

/** Commands of people on invoices, beside finalizing and collecting: each is one transaction. */
export function createInvoiceCommands({ inScope, readUsage, snapshot }: CommandTools) {
  /** Carries a command out in the caller's name and reads the invoice that it leaves. */
  const command =
    <Content extends object>(
      update: CommandDefinition<InvoiceChanged, Content>,
      act: (tx: SqlTransaction, moment: Moment, content: Content) => Promise<unknown>,
      readBy: (content: Content) => typeof readAttendedInvoice = () => readAttendedInvoice,
    ) =>
    ({ command, ...self }: Commanded): Promise<InvoiceSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const { invoiceId } = self;
          const content = await contentOf(tx, update, command);
          await act(tx, { invoiceId, at: command.at, commandId: command.commandId }, content);
          return snapshot(await readBy(content)(tx, tx.scope, invoiceId));
        },
        command.caller,
      );

  return {
    createInvoice: command(
      messages.createInvoice,
      (tx, { invoiceId, at }, invoice) => createInvoice(tx, tx.scope, { invoiceId, at, invoice }, readUsage),
      // A final invoice is its own workflow's from then on.
      () => attendInvoice,
    ),
    computeInvoice: command(messages.computeInvoice, (tx, moment, { given }) =>
      computeDraft(tx, tx.scope, { ...moment, given }, readUsage),
    ),
    editInvoice: command(messages.editInvoice, (tx, moment, { edit, previewDigest }) =>
      previewDigest
        ? editInvoiceAsPreviewed(tx, tx.scope, { ...moment, edit }, previewDigest)
        : editInvoice(tx, tx.scope, { ...moment, edit }),
    ),
    recalculateInvoice: command(messages.recalculateInvoice, (tx, moment) =>
      recalculateInvoice(tx, tx.scope, moment, readUsage),
    ),
    recalculateDraft: command(
      messages.recalculateDraft,
      (tx, { invoiceId, at }, { finalize }) => recalculateDraft(tx, tx.scope, { invoiceId, at, finalize }, readUsage),
      ({ finalize }) => (finalize ? attendInvoice : readAttendedInvoice),
    ),
    notePayment: command(messages.notePayment, (tx, { invoiceId, at }, note) =>
      notePayment(tx, tx.scope, { ...note, invoiceId, at }),
    ),
    voidInvoice: command(
      messages.voidInvoice,
      (tx, { invoiceId, at }, { metadata }) => voidInvoice(tx, tx.scope, { invoiceId, at, metadata }),
      () => refreshInvoiceAgenda,
    ),
  };
}
