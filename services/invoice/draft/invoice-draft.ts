import { createHash } from 'node:crypto';
import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { InvoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { decimal } from '../../../billing/money/money.ts';
import { linePriceUnit, priceUnitTotals } from '../../../billing/price/price-unit.ts';
import type { Period } from '../../../billing/subscription/subscription.ts';
import { oneOffDueDate, subscriptionDueDate } from '../../../billing/time/due-date.ts';
import { newId } from '../../../db/id.ts';
import { insertText, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { BilledLine } from '../../charging/subscription-charge.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type amountColumns, invoiceColumns } from '../read/invoice-columns.ts';
import { creditLineRecord, insertLines, lineRecord } from '../read/invoice-line.ts';
import { type AppliedRows, computeAmounts, type InvoiceTerms, writeApplied } from '../terms/invoice-terms.ts';

export type BillingReason =
  | 'SUBSCRIPTION_CREATE'
  | 'SUBSCRIPTION_CYCLE'
  | 'SUBSCRIPTION_UPDATE'
  | 'SUBSCRIPTION_TRIAL_START'
  | 'SUBSCRIPTION_TRIAL_END'
  | 'AUTO_INVOICE_THRESHOLD'
  | 'PRORATION';

/** An invoice of a subscription before it is written: its row, its lines, and what coupons and taxes came to. */
export interface DraftInvoice {
  row: Record<string, unknown> & { id: string; invoiceStatus: string; paymentStatus: string };
  lines: Record<string, unknown>[];
  applied: AppliedRows;
}

export interface DraftRequest {
  subscription: SubscriptionRow;
  planName: string;
  reason: BillingReason;
  period: Period;
  lines: readonly BilledLine[];
  billingSequence: number;
  config: InvoiceConfig;
  /** What `readBillingContext` says of the subscription. */
  terms: InvoiceTerms | undefined;
  /** When it is computed, on the customer's clock. */
  at: string;
  /** The invoice it replaces the content of, and the ids its lines keep. */
  existing?: { id: string; lineId(line: BilledLine): string | null };
  /** What makes a change's invoice one of its own: it is ONE_OFF, and the same change is never billed twice. */
  changeKey?: string;
  /** The pause it belongs to; `paused` for a stretch that is never billed. */
  interruptionId?: string;
  paused?: boolean;
}

const insertInvoiceRows = insertText('invoice', invoiceColumns);

/** Writes drafts with their lines, coupons and taxes: a statement a table for any number of them. */
export async function insertDrafts(sql: Sql, drafts: readonly DraftInvoice[]): Promise<void> {
  await writeRows(
    sql,
    insertInvoiceRows,
    drafts.map((draft) => draft.row),
  );
  await insertLines(
    sql,
    drafts.flatMap((draft) => draft.lines),
  );
  await writeApplied(
    sql,
    drafts.map((draft) => draft.applied),
  );
}

/**
 * Computes a subscription's invoice from its charges. A result without any amount is SKIPPED, except a trial's start, which
 * documents the trial. spec: subscriptions-and-invoicing §2.15.1, §2.15.6, §2.15.9
 */
export function draftInvoice(scope: Scope, request: DraftRequest): DraftInvoice {
  const { subscription, period, reason } = request;
  const id = request.existing?.id ?? newId('inv');
  const { lines, amounts, applied } = computedLines(scope, id, request);
  const skipped = reason !== 'SUBSCRIPTION_TRIAL_START' && isEmpty(amounts);
  const now = new Date().toISOString();
  return {
    row: {
      id,
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      customerId: subscription.invoicingCustomerId,
      subscriptionId: subscription.id,
      subscriptionCustomerId: subscription.customerId,
      idempotencyKey: invoiceKey(scope, subscription, period, keyedReason(request)),
      invoiceType: invoiceTypeOf(request),
      invoiceStatus: skipped ? 'SKIPPED' : 'DRAFT',
      paymentStatus: skipped ? 'SUCCEEDED' : 'PENDING',
      billingReason: reason,
      billingPeriod: subscription.billingPeriod,
      billingSequence: request.billingSequence,
      collectionMethod: subscription.collectionMethod,
      currency: subscription.currency,
      priceUnitTotals: priceUnitTotals(request.lines.map((line) => linePriceUnit(line.derivation))) ?? undefined,
      ...totalsOf(amounts),
      periodStart: period.start,
      periodEnd: period.end,
      dueDate: dueDateOf(request),
      lastComputedAt: request.at,
      metadata: request.paused ? { paused: 'true' } : {},
      testClockId: subscription.testClockId,
    },
    lines,
    applied,
  };
}

/** What the key of an invoice says of its cause. spec: §2.15.9 */
function keyedReason({ changeKey, interruptionId, reason }: DraftRequest): string {
  return changeKey ?? (interruptionId === undefined ? reason : `${reason} ${interruptionId}`);
}

const invoiceTypeOf = ({ changeKey }: DraftRequest): string => (changeKey === undefined ? 'SUBSCRIPTION' : 'ONE_OFF');

function dueDateOf({ subscription, period, config, at, changeKey }: DraftRequest): string {
  const { dueDateDays } = config;
  if (changeKey !== undefined) return oneOffDueDate({ issueDate: at, dueDateDays });
  return subscriptionDueDate({ periodEnd: period.end, paymentTerms: subscription.paymentTerms, dueDateDays });
}

const emptyCreditLine = {
  amount: '0',
  priceType: 'FIXED' as const,
  priceId: null,
  subscriptionLineItemId: null,
  periodStart: null,
  periodEnd: null,
  isCarriedCredit: true,
};

/** The lines and amounts of an invoice from its charges: the pipeline with what discounts, credits and taxes there are. */
function computedLines(
  scope: Scope,
  invoiceId: string,
  request: DraftRequest,
): { lines: Record<string, unknown>[]; amounts: InvoiceAmounts; applied: AppliedRows } {
  const { subscription, period, planName } = request;
  const ids = request.lines.map((line) => request.existing?.lineId(line) ?? newId('inv_line'));
  const creditId = request.terms?.credit && request.lines.length > 0 ? newId('inv_line') : null;
  const { amounts, applied } = computeAmounts(
    scope,
    {
      id: invoiceId,
      invoiceType: invoiceTypeOf(request),
      currency: subscription.currency,
      period,
      subscriptionId: subscription.id,
      planId: subscription.planId,
      customerId: subscription.customerId,
      lines: [
        ...request.lines.map((line, index) => ({
          ...line,
          id: ids[index] as string,
          subscriptionId: (line.child?.subscription ?? subscription).id,
        })),
        ...(creditId === null ? [] : [{ ...emptyCreditLine, id: creditId, subscriptionId: subscription.id }]),
      ],
      at: request.at,
    },
    request.terms,
  );
  const lines = request.lines.map((line, index) => ({
    ...lineRecord(scope, { invoiceId, subscription, planName, position: index }, line),
    ...amounts.lines[index],
  }));
  if (creditId === null) return { lines, amounts, applied };
  const used = amounts.lines.pop()!;
  if (decimal(used.amount).isZero()) return { lines, amounts, applied };
  const on = { invoiceId, subscription, planName, position: lines.length, period };
  amounts.lines.push(used);
  return { lines: [...lines, { ...creditLineRecord(scope, on), ...used }], amounts, applied };
}

/** The amounts of the row, with why there is no tax. */
export function totalsOf(amounts: InvoiceAmounts): Record<keyof typeof amountColumns, string | null> {
  return {
    subtotal: amounts.subtotal,
    totalDiscount: amounts.totalDiscount,
    totalTax: amounts.totalTax,
    totalPrepaidCreditsApplied: amounts.totalPrepaidCreditsApplied,
    taxedCreditsApplied: amounts.taxedCreditsApplied,
    total: amounts.total,
    amountDue: amounts.amountDue,
    amountRemaining: amounts.amountRemaining,
    noTaxReason: amounts.noTaxReason,
  };
}

/** Nothing to bill: subtotal 0 and no line with an amount. spec: §2.15.1 */
export function isEmpty(amounts: InvoiceAmounts): boolean {
  return decimal(amounts.subtotal).isZero() && amounts.lines.every((line) => decimal(line.amount).isZero());
}

/** The key that keeps one live invoice per subscription, period and reason, or change. spec: §2.15.9, §2.8.3 */
export function invoiceKey(
  scope: Scope,
  subscription: Pick<SubscriptionRow, 'id' | 'customerId'>,
  period: Period,
  reason: string,
): string {
  // Intermediate invoices may follow each other within a minute.
  const minute = (instant: string) => (reason === 'AUTO_INVOICE_THRESHOLD' ? instant : instant.slice(0, 16));
  const parts = [
    scope.tenantId,
    scope.environmentId,
    subscription.customerId,
    subscription.id,
    minute(period.start),
    minute(period.end),
    reason,
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
