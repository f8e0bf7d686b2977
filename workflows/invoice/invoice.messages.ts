import { defineSignal, defineUpdate } from '@temporalio/workflow';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { LifecycleSnapshot } from '../lifecycle.messages.ts';
import type { Caller } from '../subscription/subscription.messages.ts';

export const { workflowType: invoiceWorkflowType, workflowId: invoiceWorkflowId } = lifecycleKinds.invoice;

export interface InvoiceCommand {
  caller: Caller;
  /** The customer's present when the request came. */
  at: string;
}

export interface VoidInvoiceCommand extends InvoiceCommand {
  metadata: Record<string, string> | null;
}

/** A command whose content is kept beside the invoice, because histories hold ids only; carried out once. */
export interface KeptCommand extends InvoiceCommand {
  commandId: string;
}

/** A computation; with content that was kept beside the invoice where something is given to it. */
export interface ComputeInvoiceCommand extends InvoiceCommand {
  commandId?: string;
}

export interface RecalculateDraftCommand extends InvoiceCommand {
  finalize: boolean;
}

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

export const createInvoice = defineUpdate<InvoiceChanged, [KeptCommand]>('createInvoice');
/** Computes a draft again from what its subscription charges, or from its lines, with what is given to it. */
export const computeInvoice = defineUpdate<InvoiceChanged, [ComputeInvoiceCommand]>('computeInvoice');
/** Edits a draft in place and a final invoice by a linked draft, which its row names. */
export const editInvoice = defineUpdate<InvoiceChanged, [KeptCommand]>('editInvoice');
/** Gives a final or voided invoice up for a draft, which its row names. */
export const recalculateInvoice = defineUpdate<InvoiceChanged, [KeptCommand]>('recalculateInvoice');
export const recalculateDraft = defineUpdate<InvoiceChanged, [RecalculateDraftCommand]>('recalculateDraft');
/** A person writes down how the invoice was paid. */
export const notePayment = defineUpdate<InvoiceChanged, [KeptCommand]>('notePayment');
export const finalizeInvoice = defineUpdate<InvoiceChanged, [InvoiceCommand]>('finalizeInvoice');
export const voidInvoice = defineUpdate<InvoiceChanged, [VoidInvoiceCommand]>('voidInvoice');
/** Tries to collect now and answers when the gateway did, or when its answer is awaited elsewhere. */
export const attemptPayment = defineUpdate<InvoiceChanged, [InvoiceCommand]>('attemptPayment');
/** A payment of this invoice has its answer. */
export const paymentSettled = defineSignal<[{ paymentId: string }]>('paymentSettled');
