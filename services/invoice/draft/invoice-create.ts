import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { checkLineAmounts } from '../../../billing/invoice/invoice-line-request.ts';
import {
  type CheckedInvoice,
  checkNewInvoice,
  initialPayment,
  type NewInvoice,
} from '../../../billing/invoice/invoice-request.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { decimal } from '../../../billing/money/money.ts';
import { oneOffDueDate, subscriptionDueDate } from '../../../billing/time/due-date.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, writeRows } from '../../../db/rows/bulk.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { issueInvoices } from '../issue/invoice-issue.ts';
import { invoiceColumns } from '../read/invoice-columns.ts';
import { insertLines } from '../read/invoice-line.ts';
import { type CreditableInvoice, closePurse, openPurse, payFromPurse, walletsOf } from '../terms/invoice-credit.ts';
import { resolveOwnTerms } from '../terms/invoice-own-terms.ts';
import { computeAmounts, writeApplied } from '../terms/invoice-terms.ts';
import { termsOfDrafts } from './invoice-amounts.ts';
import { findInvoiceFacts, type InvoiceFacts } from './invoice-create-facts.ts';
import { keyOf, refuseTaken } from './invoice-create-key.ts';
import { totalsOf } from './invoice-draft.ts';
import { ownLineRows } from './invoice-own-line.ts';

/** A creation: the id its route made, and the customer's present. */
export interface InvoiceCreation {
  invoiceId: string;
  at: string;
  invoice: NewInvoice;
  /** The purchase of credits that it bills. */
  purchaseId?: string;
  /** The session that collects it: its amounts are frozen, prepaid credits taken, and it waits as a draft without a number. */
  checkoutSessionId?: string;
}

type Lines = (CheckedInvoice['lines'][number] & { id: string })[];

const ownColumns: Columns = {
  ...invoiceColumns,
  invoiceNumber: 'text',
  description: 'text',
  issueDate: 'timestamptz',
  paidAt: 'timestamptz',
  invoicePdfUrl: 'text',
  amountPaid: 'numeric',
  amountPaidByHand: 'numeric',
  attended: 'boolean',
  ownTerms: 'jsonb',
  purchaseId: 'text',
  sourceType: 'text',
  checkoutSessionId: 'text',
};
const insertOwnInvoice = insertText('invoice', ownColumns);

/**
 * Makes an invoice from what a person gives: its lines through the one pipeline with the coupons, taxes and credits it was
 * given. ONE_OFF and CREDIT are final at once and collected like any other, unless a draft was asked for; a SUBSCRIPTION
 * invoice is a draft of its subscription. Done again with the same id it changes nothing. Throws `validation_error`,
 * `not_found`, and `already_exists` for a key or number in use. spec: subscriptions-and-invoicing §1.11.1, §2.15.1, §2.15.9
 */
export async function createInvoice(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, invoice: request, purchaseId, checkoutSessionId }: InvoiceCreation,
  readUsage: UsageReader,
): Promise<void> {
  const [before] = await sql.rows('select id from invoice where environment_id = $1 and id = $2', [
    scope.environmentId,
    invoiceId,
  ]);
  if (before) return;
  const checked = checkNewInvoice(request, at);
  const facts = await findInvoiceFacts(sql, scope, request);
  const key = keyOf(scope, request, at);
  await refuseTaken(sql, scope, request, checked, key);
  const lines: Lines = checked.lines.map((line) => ({ ...line, id: newId('inv_line') }));
  const own = await resolveOwnTerms(
    sql,
    scope,
    { id: invoiceId, at, invoiceType: checked.invoiceType, lines },
    request,
  );
  const termed = { id: invoiceId, customer_id: request.customerId, subscription_id: request.subscriptionId };
  const terms = await termsOfDrafts(sql, scope, [{ ...termed, own_terms: own, lines }]);
  const creditable = creditableOf(invoiceId, request);
  const purse = await openPurse(sql, scope, checkoutSessionId ? [creditable] : []);
  const { amounts, applied } = computeAmounts(
    scope,
    {
      id: invoiceId,
      invoiceType: checked.invoiceType,
      currency: request.currency,
      period: request.periodStart && request.periodEnd ? { start: request.periodStart, end: request.periodEnd } : null,
      subscriptionId: request.subscriptionId,
      planId: facts.subscription?.planId ?? '',
      customerId: facts.subscription?.customerId ?? request.customerId,
      lines: lines.map((line) => ({ ...line, priceType: line.priceType ?? 'FIXED' })),
      wallets: checkoutSessionId ? walletsOf(purse, creditable) : [],
      at,
    },
    terms.get(invoiceId),
  );
  checkLineAmounts(lines, amounts.lines);
  if (own?.importedCredits && !decimal(amounts.totalPrepaidCreditsApplied).equals(decimal(own.importedCredits))) {
    throw badField(
      'total_prepaid_applied',
      `must not be more than the ${amounts.totalPrepaidCreditsApplied} it can pay`,
    );
  }
  const made = rowOf(scope, { invoiceId, at, request, checked, facts, key, own, amounts });
  const gate = checkoutSessionId
    ? { sourceType: 'checkout', paymentStatus: 'INITIATED', checkoutSessionId }
    : { sourceType: '' };
  const row = { ...made, ...gate, purchaseId: purchaseId ?? null };
  await writeRows(sql, insertOwnInvoice, [row]);
  await insertLines(sql, ownLineRows(scope, { invoiceId, ...request }, lines, amounts.lines));
  await writeApplied(sql, [applied]);
  payFromPurse(purse, creditable, checkoutSessionId ? amounts.walletUses : []);
  await closePurse(purse);
  // Nothing is told of an invoice that may never be one: its first event is that of its finalization.
  if (!checkoutSessionId) await writeEvents(sql, scope, invoiceEvents('invoice.update', invoiceId, at));
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: invoiceId, action: 'created', version: 1, occurredAt: at },
  ]);
  if (checked.isFinalizedAtOnce && !checkoutSessionId) await issueInvoices(sql, scope, [{ invoiceId, at }], readUsage);
}

function creditableOf(id: string, { customerId, currency, periodEnd }: NewInvoice): CreditableInvoice {
  return { id, customerId, currency, periodEnd };
}

interface NewRow {
  invoiceId: string;
  at: string;
  request: NewInvoice;
  checked: CheckedInvoice;
  facts: InvoiceFacts;
  key: string;
  own: OwnTerms | null;
  amounts: InvoiceAmounts;
}

function rowOf(scope: Scope, { invoiceId, at, request, checked, facts, key, own, amounts }: NewRow): object {
  const now = new Date().toISOString();
  const { amountPaid, paymentStatus } = initialPayment(request, amounts.amountDue);
  const remaining = decimal(amounts.amountDue).minus(decimal(amountPaid));
  const { subscription } = facts;
  return {
    ...totalsOf(amounts),
    id: invoiceId,
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    customerId: request.customerId,
    subscriptionId: request.subscriptionId,
    subscriptionCustomerId: subscription?.customerId ?? null,
    idempotencyKey: key,
    invoiceNumber: request.invoiceNumber,
    invoiceType: checked.invoiceType,
    invoiceStatus: 'DRAFT',
    paymentStatus,
    billingReason: request.billingReason,
    billingPeriod: request.billingPeriod,
    billingSequence: facts.billingSequence,
    collectionMethod: request.collectionMethod ?? subscription?.collectionMethod ?? 'charge_automatically',
    currency: request.currency,
    amountPaid,
    amountPaidByHand: amountPaid,
    amountRemaining: remaining.toFixed(),
    paidAt: paymentStatus === 'SUCCEEDED' ? at : null,
    periodStart: request.periodStart,
    periodEnd: request.periodEnd,
    issueDate: request.issueDate,
    dueDate: dueDateOf(request, checked, facts, at),
    lastComputedAt: at,
    description: request.description,
    invoicePdfUrl: request.invoicePdfUrl,
    metadata: request.metadata,
    // A draft that no boundary made waits for a person; a subscription's waits for its timer.
    attended: checked.invoiceType !== 'SUBSCRIPTION',
    ownTerms: own ?? undefined,
    testClockId: facts.testClockId,
  };
}

function dueDateOf(request: NewInvoice, { invoiceType }: CheckedInvoice, facts: InvoiceFacts, at: string): string {
  const { dueDateDays } = invoiceConfig(facts.config);
  if (invoiceType === 'SUBSCRIPTION' && request.dueDate === null && request.periodEnd !== null) {
    const paymentTerms = facts.subscription?.paymentTerms ?? null;
    return subscriptionDueDate({ periodEnd: request.periodEnd, paymentTerms, dueDateDays });
  }
  return oneOffDueDate({ dueDate: request.dueDate, issueDate: request.issueDate ?? at, dueDateDays });
}
