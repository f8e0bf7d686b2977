import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  ComputationOrder,
  EditOrder,
  NotedPayment,
  RecalculationOrder,
  VoidOrder,
} from '../../billing/invoice/invoice-command.ts';
import type { NewInvoice } from '../../billing/invoice/invoice-request.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type Command, defineCommand, type LifecycleSnapshot, type NoContent } from '../lifecycle.messages.ts';

export const { workflowType: invoiceWorkflowType, workflowId: invoiceWorkflowId } = lifecycleKinds.invoice;

export interface InvoiceSnapshot extends LifecycleSnapshot {
  paymentStatus: string;
  /** Whose agenda the invoice may be on; absent in snapshots that older runs carried. */
  subscriptionId?: string | null;
  /** Present when what is not paid has consequences for its subscription, whose agenda was written anew with the invoice's. */
  subscriptionWaits?: true;
  /** Present when an attempt to collect was paid by wallets alone, so that no charge follows. */
  paidByWallets?: true;
}

export interface InvoiceChanged {
  invoiceId: string;
  invoiceStatus: string;
  paymentStatus: string;
  /** The run that did it. */
  runId: string;
}

export const createInvoice = defineCommand<InvoiceChanged, NewInvoice>('createInvoice');
/** Computes a draft again from what its subscription charges, or from its lines, with what is given to it. */
export const computeInvoice = defineCommand<InvoiceChanged, ComputationOrder>('computeInvoice');
/** Edits a draft in place and a final invoice by a linked draft, which its row names. */
export const editInvoice = defineCommand<InvoiceChanged, EditOrder>('editInvoice');
/** Gives a final or voided invoice up for a draft, which its row names. The id has it carried out once; there is no content. */
export const recalculateInvoice = defineCommand<InvoiceChanged, NoContent>('recalculateInvoice');
export const recalculateDraft = defineCommand<InvoiceChanged, RecalculationOrder>('recalculateDraft');
/** A person writes down how the invoice was paid. */
export const notePayment = defineCommand<InvoiceChanged, NotedPayment>('notePayment');
export const finalizeInvoice = defineUpdate<InvoiceChanged, [Command]>('finalizeInvoice');
export const voidInvoice = defineCommand<InvoiceChanged, VoidOrder>('voidInvoice');
/** Tries to collect now and answers when the gateway did, or when its answer is awaited elsewhere. */
export const attemptPayment = defineUpdate<InvoiceChanged, [Command]>('attemptPayment');
/** A payment of this invoice has its answer. */
export const paymentSettled = defineSignal<[{ paymentId: string }]>('paymentSettled');
