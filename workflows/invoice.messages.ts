import { defineSignal, defineUpdate } from '@temporalio/workflow';
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

export interface InvoiceSnapshot extends LifecycleSnapshot {
  paymentStatus: string;
}

export interface InvoiceChanged {
  invoiceId: string;
  invoiceStatus: string;
  paymentStatus: string;
}

export const finalizeInvoice = defineUpdate<InvoiceChanged, [InvoiceCommand]>('finalizeInvoice');
export const voidInvoice = defineUpdate<InvoiceChanged, [VoidInvoiceCommand]>('voidInvoice');
/** Tries to collect now and answers when the gateway did, or when its answer is awaited elsewhere. */
export const attemptPayment = defineUpdate<InvoiceChanged, [InvoiceCommand]>('attemptPayment');
/** A payment of this invoice has its answer. */
export const paymentSettled = defineSignal<[{ paymentId: string }]>('paymentSettled');
