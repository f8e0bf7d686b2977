import { type Columns, recordColumnTypes } from '../../../db/rows/bulk.ts';

/** The amounts of an invoice as the pipeline computes them. */
export const amountColumns: Columns = {
  subtotal: 'numeric',
  totalDiscount: 'numeric',
  totalTax: 'numeric',
  totalPrepaidCreditsApplied: 'numeric',
  taxedCreditsApplied: 'numeric',
  total: 'numeric',
  amountDue: 'numeric',
  amountRemaining: 'numeric',
};

/** What every invoice is written with. */
export const invoiceColumns: Columns = {
  ...recordColumnTypes,
  customerId: 'text',
  subscriptionId: 'text',
  subscriptionCustomerId: 'text',
  idempotencyKey: 'text',
  invoiceType: 'text',
  invoiceStatus: 'text',
  paymentStatus: 'text',
  billingReason: 'text',
  billingPeriod: 'text',
  billingSequence: 'int',
  collectionMethod: 'text',
  currency: 'text',
  priceUnitTotals: 'jsonb',
  ...amountColumns,
  noTaxReason: 'text',
  periodStart: 'timestamptz',
  periodEnd: 'timestamptz',
  dueDate: 'timestamptz',
  lastComputedAt: 'timestamptz',
  metadata: 'jsonb',
  testClockId: 'text',
};
