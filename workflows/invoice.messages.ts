import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LineEdit } from '../billing/invoice-edit.ts';
import type { NewInvoice } from '../billing/invoice-request.ts';
import type { LifecycleSnapshot } from './lifecycle.messages.ts';
import type { Caller } from './subscription.messages.ts';

export const invoiceWorkflowType = 'invoice';

export function invoiceWorkflowId(invoiceId: string): string {
  return `invoice/${invoiceId}`;
}

export interface InvoiceCommand {
  caller: Caller;
  /** The customer's present when the request came. */
  at: string;
}

export interface VoidInvoiceCommand extends InvoiceCommand {
  metadata: Record<string, string> | null;
}

/** The creation as the route checked it; facts are decided by its transaction. */
export interface CreateInvoiceCommand extends InvoiceCommand {
  invoice: NewInvoice;
}

/** A command that would do more when it were done twice: the same id is carried out once. */
export interface OnceCommand extends InvoiceCommand {
  commandId: string;
}

/** An edit of lines; null takes the coupons anew. */
export interface EditInvoiceCommand extends OnceCommand {
  edit: LineEdit | null;
}

export interface RecalculateDraftCommand extends InvoiceCommand {
  finalize: boolean;
}

export interface NotePaymentCommand extends InvoiceCommand {
  paymentStatus: string;
  amount: string | null;
}

export interface InvoiceSnapshot extends LifecycleSnapshot {
  paymentStatus: string;
  /** Whose agenda the invoice may be on; absent in snapshots that older runs carried. */
  subscriptionId?: string | null;
}

export interface InvoiceChanged {
  invoiceId: string;
  invoiceStatus: string;
  paymentStatus: string;
  /** The run that did it. */
  runId: string;
}

export const createInvoice = defineUpdate<InvoiceChanged, [CreateInvoiceCommand]>('createInvoice');
/** Computes a draft again from what its subscription charges, or from its lines. */
export const computeInvoice = defineUpdate<InvoiceChanged, [InvoiceCommand]>('computeInvoice');
/** Edits a draft in place and a final invoice by a linked draft, which its row names. */
export const editInvoice = defineUpdate<InvoiceChanged, [EditInvoiceCommand]>('editInvoice');
/** Gives a final or voided invoice up for a draft, which its row names. */
export const recalculateInvoice = defineUpdate<InvoiceChanged, [OnceCommand]>('recalculateInvoice');
export const recalculateDraft = defineUpdate<InvoiceChanged, [RecalculateDraftCommand]>('recalculateDraft');
/** A person writes down how the invoice was paid. */
export const notePayment = defineUpdate<InvoiceChanged, [NotePaymentCommand]>('notePayment');
export const finalizeInvoice = defineUpdate<InvoiceChanged, [InvoiceCommand]>('finalizeInvoice');
export const voidInvoice = defineUpdate<InvoiceChanged, [VoidInvoiceCommand]>('voidInvoice');
/** Tries to collect now and answers when the gateway did, or when its answer is awaited elsewhere. */
export const attemptPayment = defineUpdate<InvoiceChanged, [InvoiceCommand]>('attemptPayment');
/** A payment of this invoice has its answer. */
export const paymentSettled = defineSignal<[{ paymentId: string }]>('paymentSettled');
