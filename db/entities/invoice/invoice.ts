import { defineEntity, p } from '@mikro-orm/core';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import type { PriceUnitTotal } from '../../../billing/price/price-unit.ts';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * Under each filter of lists, in the order of lists where it compares by equality, so that a page is read and no more; with
 * the record status beside them, so that the matches are counted from the index.
 */
const listIndexes = (
  [
    ['status', ['environmentId', 'invoiceStatus', 'createdAt', 'id']],
    ['payment_status', ['environmentId', 'paymentStatus', 'createdAt', 'id']],
    ['subscriber', ['environmentId', 'subscriptionCustomerId', 'createdAt', 'id']],
    ['type', ['environmentId', 'invoiceType', 'createdAt', 'id']],
    ['reason', ['environmentId', 'billingReason', 'createdAt', 'id']],
    ['currency', ['environmentId', 'currency', 'createdAt', 'id']],
    ['amount_due', ['environmentId', 'amountDueRank']],
    ['amount_remaining', ['environmentId', 'amountRemainingRank']],
    ['period_start', ['environmentId', 'periodStart']],
    ['period_end', ['environmentId', 'periodEnd']],
  ] as const
).map(([filter, properties]) => ({
  name: `invoice_list_by_${filter}`,
  expression: (c: Record<string, unknown>, t: { toString(): string }, n: string) =>
    `create index "${n}" on ${t} (${properties.map((property) => c[property]).join(', ')}) include (${c.status})`,
}));

/**
 * Hundredths of an amount, rounded up and bounded, which PostgreSQL keeps: an amount above X has a rank above X in hundredths. Row-level
 * security lets comparisons of integers use an index, and those of decimals not.
 */
const rank = (column: string) =>
  p
    .bigint('number')
    .nullable()
    .lazy()
    .generated(
      `(least(greatest(ceil((${column} * (100)::numeric)), ('-1'::integer)::numeric), '1000000000000000'::bigint::numeric))::bigint stored`,
    );

/** What a customer owes and why. Amounts are final once `invoiceStatus` is FINALIZED. spec: subscriptions-and-invoicing §2.15 */
const schema = defineEntity({
  name: 'Invoice',
  tableName: 'invoice',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    subscriptionId: p.text().nullable(),
    subscriptionCustomerId: p.text().nullable(),
    invoiceNumber: p.text().nullable(),
    idempotencyKey: p.text(),
    invoiceType: p.text(),
    invoiceStatus: p.text(),
    paymentStatus: p.text(),
    billingReason: p.text(),
    billingPeriod: p.text().nullable(),
    billingSequence: p.integer().nullable(),
    collectionMethod: p.text(),
    currency: p.text(),
    /** What is billed in custom currencies: each one's total and the rate it was turned into `currency` with. */
    priceUnitTotals: p.json<PriceUnitTotal[]>().nullable(),
    subtotal: numeric(),
    totalDiscount: numeric().default('0'),
    totalTax: numeric().default('0'),
    /** Why there is no tax row; null where there is one. */
    noTaxReason: p.text().nullable(),
    totalPrepaidCreditsApplied: numeric().default('0'),
    /** The part of them that was taxed when it was bought. */
    taxedCreditsApplied: numeric().default('0'),
    total: numeric(),
    adjustmentAmount: numeric().default('0'),
    amountDue: numeric(),
    amountPaid: numeric().default('0'),
    /** The part of `amountPaid` that a person wrote down; the rest are payment records. */
    amountPaidByHand: numeric().default('0'),
    amountRemaining: numeric(),
    amountDueRank: rank('amount_due'),
    amountRemainingRank: rank('amount_remaining'),
    overpaidAmount: numeric().default('0'),
    refundedAmount: numeric().default('0'),
    description: p.text().default(''),
    periodStart: instant().nullable(),
    periodEnd: instant().nullable(),
    issueDate: instant().nullable(),
    dueDate: instant().nullable(),
    paidAt: instant().nullable(),
    finalizedAt: instant().nullable(),
    voidedAt: instant().nullable(),
    lastComputedAt: instant().nullable(),
    overdueNotedAt: instant().nullable(),
    /** How many times collection has been tried since finalization. */
    collectionAttempts: p.integer().default(0),
    /** True once the invoice's own workflow looks after it; until then its subscription's workflow does. */
    attended: p.boolean().default(false),
    isManuallyEdited: p.boolean().default(false),
    recalculatedInvoiceId: p.text().nullable(),
    sourceType: p.text().default(''),
    invoicePdfUrl: p.text().nullable(),
    metadata: metadata(),
    /** Coupons and taxes that the invoice was given itself; null for one that follows its subscription. */
    ownTerms: p.json<OwnTerms>().nullable(),
    /** The purchase of credits that it bills; null for any other. */
    purchaseId: p.text().nullable(),
    /** The checkout session that made it and alone may move it while it is active. */
    checkoutSessionId: p.text().nullable(),
    testClockId: p.text().nullable(),
    version: p.integer().default(1),
  },
  uniques: [
    {
      name: 'invoice_purchase_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.purchaseId}) where ${c.purchaseId} is not null`,
    },
    {
      name: 'invoice_number_unique',
      expression: (c, t, n) => `create unique index "${n}" on ${t} (${c.environmentId}, ${c.invoiceNumber})`,
    },
    {
      name: 'invoice_idempotency_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey}) where ${c.invoiceStatus} <> 'VOIDED'`,
    },
    {
      name: 'invoice_period_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}, ${c.periodStart}, ${c.periodEnd}, ${c.billingReason}) where ${c.invoiceStatus} <> 'VOIDED' and ${c.subscriptionId} is not null and ${c.invoiceType} = 'SUBSCRIPTION'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'customerId'] },
    ...listIndexes,
    { properties: ['environmentId', 'subscriptionId', 'billingSequence'] },
    {
      name: 'invoice_intermediate',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}, ${c.periodEnd}) where ${c.billingReason} = 'AUTO_INVOICE_THRESHOLD'`,
    },
    {
      name: 'invoice_voided_by_key',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey}) where ${c.invoiceStatus} = 'VOIDED'`,
    },
    {
      name: 'invoice_open',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}) where ${c.invoiceStatus} in ('DRAFT', 'FINALIZED') and (${c.invoiceStatus} = 'DRAFT' or ${c.amountRemaining} > 0)`,
    },
  ],
});
export class Invoice extends schema.class {}
schema.setClass(Invoice);
