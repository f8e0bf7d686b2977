import type { CollectionMethod } from './collection.ts';

/**
 * The invoice that records a trial's begin: nothing to pay, numbered and final at once, never skipped.
 * spec: subscriptions-and-invoicing §2.10
 */
export function trialStartInvoice(collectionMethod: CollectionMethod): {
  billingReason: 'SUBSCRIPTION_TRIAL_START';
  invoiceStatus: 'FINALIZED';
  paymentStatus: 'SUCCEEDED' | 'PENDING';
} {
  return {
    billingReason: 'SUBSCRIPTION_TRIAL_START',
    invoiceStatus: 'FINALIZED',
    paymentStatus: collectionMethod === 'charge_automatically' ? 'SUCCEEDED' : 'PENDING',
  };
}
