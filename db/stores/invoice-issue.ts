import { invoiceConfig } from '../../billing/invoice-config.ts';
import { decimal } from '../../billing/money.ts';
import { writeAudit } from '../audit.ts';
import { type Columns, updateText, writeRows } from '../bulk.ts';
import { decimalText, instantText } from '../columns.ts';
import { writeEvents } from '../outbox.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import type { UsageReader } from '../usage-reader.ts';
import { convertAtCurrentRates } from './invoice-conversion.ts';
import {
  type CreditableInvoice,
  closePurse,
  hasPrepaidCredits,
  openPurse,
  type PrepaidPurse,
  payFromPurse,
  walletsOf,
} from './invoice-credit.ts';
import { isEmpty, totalsOf } from './invoice-draft.ts';
import { invoiceEvents } from './invoice-event.ts';
import { assignNumbers } from './invoice-numbering.ts';
import { sealDocuments } from './invoice-seal.ts';
import {
  type AppliedRows,
  computeAmounts,
  type InvoiceTerms,
  readInvoiceTerms,
  replaceApplied,
} from './invoice-terms.ts';
import { refreshUsageLines } from './invoice-usage.ts';
import { openPayments } from './payment.ts';

/** A draft to be issued and the instant it is issued at. */
export interface IssueRequest {
  invoiceId: string;
  at: string;
}

interface DraftRow {
  id: string;
  customer_id: string;
  has_prepaid_credits: boolean;
  subscription_id: string | null;
  invoice_status: string;
  invoice_type: string;
  billing_reason: string;
  collection_method: string;
  currency: string;
  adjustment_amount: string;
  amount_paid: string;
  invoice_number: string | null;
  issue_date: string | null;
  due_date: string | null;
  period_start: string | null;
  period_end: string | null;
  subscription_customer_id: string | null;
  plan_id: string | null;
  total_discount: string;
  no_tax_reason: string | null;
  is_manually_edited: boolean;
  version: number;
  collection_attempts: number;
  gateway_payment_method_id: string | null;
  config: Record<string, unknown> | null;
  lines: {
    id: string;
    amount: string;
    priceType: 'FIXED' | 'USAGE' | null;
    priceId: string | null;
    subscriptionLineItemId: string | null;
    priceUnitId: string | null;
  }[];
  [column: string]: unknown;
}

const lockDrafts = `
select i.id, i.subscription_id, i.invoice_status, i.invoice_type, i.billing_reason, i.collection_method, i.currency, i.adjustment_amount,
  i.amount_paid, i.invoice_number, i.issue_date, i.due_date, i.period_start, i.period_end,
  i.subscription_customer_id, i.total_discount, i.no_tax_reason, i.is_manually_edited, i.version, i.collection_attempts, i.customer_id,
  ${hasPrepaidCredits} as has_prepaid_credits,
  (select s.gateway_payment_method_id from subscription s where s.id = i.subscription_id) as gateway_payment_method_id,
  (select s.plan_id from subscription s where s.id = i.subscription_id) as plan_id,
  (select value from setting where environment_id = $1 and key = 'invoice_config' and status = 'published') as config,
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'amount', l.amount::text, 'priceType', l.price_type,
    'priceUnitId', l.price_unit_id, 'priceId', l.price_id, 'subscriptionLineItemId', l.subscription_line_item_id) order by l.position, l.id)
    from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = any($2) order by i.id for update of i`;

const issuedColumns: Columns = {
  id: 'text',
  invoiceStatus: 'text',
  paymentStatus: 'text',
  invoiceNumber: 'text',
  subtotal: 'numeric',
  totalDiscount: 'numeric',
  totalTax: 'numeric',
  noTaxReason: 'text',
  totalPrepaidCreditsApplied: 'numeric',
  total: 'numeric',
  amountDue: 'numeric',
  amountRemaining: 'numeric',
  issueDate: 'timestamptz',
  dueDate: 'timestamptz',
  finalizedAt: 'timestamptz',
  paidAt: 'timestamptz',
  lastComputedAt: 'timestamptz',
  attended: 'boolean',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};
const updateIssued = updateText('invoice', issuedColumns, 'version = r.version + 1');
const updateLineAmounts = updateText('invoice_line_item', {
  id: 'text',
  amount: 'numeric',
  lineItemDiscount: 'numeric',
  invoiceLevelDiscount: 'numeric',
  prepaidCreditsApplied: 'numeric',
});

interface IssuedInvoice {
  row: Record<string, unknown> & { id: string; invoiceStatus: string };
  lineAmounts: object[];
  applied: AppliedRows;
  draft: DraftRow;
  at: string;
}

/**
 * Issues drafts: usage is read once more, so that what came late is on the invoice, amounts are final, numbers are given in
 * the order of the requests without a gap, and the payment of what is due is opened. All in the caller's transaction: a
 * rollback gives the numbers back. Invoices that are no drafts any more are left alone.
 * spec: subscriptions-and-invoicing §2.15.3, §2.15.5
 */
export async function issueInvoices(
  sql: Sql,
  scope: Scope,
  requests: readonly IssueRequest[],
  readUsage: UsageReader | null,
): Promise<void> {
  if (requests.length === 0) return;
  const ids = requests.map((request) => request.invoiceId);
  const locked = await sql.rows<DraftRow>(lockDrafts, [scope.environmentId, ids]);
  const issuable = new Map(locked.filter((row) => row.invoice_status === 'DRAFT').map((row) => [row.id, row]));
  if (issuable.size === 0) return;
  const wanted = requests.flatMap(({ invoiceId, at }) => {
    const draft = issuable.get(invoiceId);
    return draft ? [{ draft, at }] : [];
  });
  if (readUsage)
    await refreshUsageLines(
      sql,
      scope,
      wanted.filter(({ draft }) => !draft.is_manually_edited),
      readUsage,
    );
  const config = invoiceConfig(locked[0]?.config ?? null);
  await convertAtCurrentRates(
    sql,
    scope,
    wanted.map(({ draft }) => draft),
  );
  const terms = await readInvoiceTerms(
    sql,
    scope.environmentId,
    wanted.flatMap(({ draft }) => draft.subscription_id ?? []),
  );
  const purse = await openPurse(sql, scope, wanted.filter(({ draft }) => draft.has_prepaid_credits).map(creditable));
  const issued = wanted.map(({ draft, at }) =>
    finalAmounts(draft, at, scope, terms.get(draft.subscription_id ?? ''), purse),
  );
  await assignNumbers(sql, scope, issued, config);
  await writeAmounts(sql, scope, issued);
  await closePurse(purse);
  await writeEvents(
    sql,
    scope,
    issued.flatMap((invoice) => invoiceEvents(eventNames(invoice), invoice.row.id, invoice.at)),
  );
  const digests = await sealDocuments(sql, scope, issued, config);
  await writeAudit(
    sql,
    scope,
    issued.map(({ row, draft, at }) => ({
      objectType: 'invoice',
      objectId: row.id,
      action: row.invoiceStatus === 'SKIPPED' ? 'skipped' : 'finalized',
      version: draft.version + 1,
      occurredAt: at,
      detail: { invoice_number: row.invoiceNumber ?? null, document: digests.get(row.id) },
    })),
  );
  await openAutomaticPayments(sql, scope, issued);
}

async function writeAmounts(sql: Sql, scope: Scope, issued: readonly IssuedInvoice[]): Promise<void> {
  const lineAmounts = issued.flatMap((invoice) => invoice.lineAmounts);
  const rows = issued.map((invoice) => invoice.row);
  // A draft without a reason for having no tax has tax rows, one with a discount has coupon rows; they may not hold any more.
  const taxed = issued.filter(({ draft }) => draft.no_tax_reason === null).map(({ row }) => row.id);
  const discounted = issued.filter(({ draft }) => decimalText(draft.total_discount) !== '0').map(({ row }) => row.id);
  const applied = issued.map((invoice) => invoice.applied);
  await replaceApplied(sql, scope.environmentId, { taxed, discounted }, applied);
  await writeRows(sql, updateLineAmounts, lineAmounts);
  await writeRows(sql, updateIssued, rows);
}

function eventNames({ row }: IssuedInvoice): string[] {
  if (row.invoiceStatus === 'SKIPPED') return ['invoice.update'];
  return row.paymentStatus === 'SUCCEEDED'
    ? ['invoice.update.finalized', 'invoice.update.payment']
    : ['invoice.update.finalized'];
}

function creditable({ draft }: { draft: DraftRow }): CreditableInvoice {
  const { id, customer_id: customerId, period_end: end } = draft;
  return { id, customerId, currency: draft.currency.toLowerCase(), periodEnd: end ? instantText(end) : null };
}

/** The final amounts of a draft from its lines, and what prepaid credits pay of them; a subscription's invoice without anything to bill is skipped instead. */
function finalAmounts(
  draft: DraftRow,
  at: string,
  scope: Scope,
  terms: InvoiceTerms | undefined,
  purse: PrepaidPurse,
): IssuedInvoice {
  const { period_start: start, period_end: end } = draft;
  const { amounts, applied } = computeAmounts(
    scope,
    {
      id: draft.id,
      invoiceType: draft.invoice_type,
      currency: draft.currency,
      period: start && end ? { start: instantText(start), end: instantText(end) } : null,
      subscriptionId: draft.subscription_id,
      planId: draft.plan_id ?? '',
      customerId: draft.subscription_customer_id ?? '',
      lines: draft.lines.map((line) => ({
        ...line,
        amount: decimalText(line.amount),
        priceType: line.priceType ?? 'FIXED',
      })),
      adjustmentAmount: decimalText(draft.adjustment_amount),
      amountPaid: decimalText(draft.amount_paid),
      wallets: walletsOf(purse, creditable({ draft })),
      at,
    },
    terms,
  );
  payFromPurse(purse, creditable({ draft }), amounts.walletUses);
  const trialStart = draft.billing_reason === 'SUBSCRIPTION_TRIAL_START';
  const skipped = isEmpty(amounts) && draft.invoice_type === 'SUBSCRIPTION' && !trialStart;
  const free = decimal(amounts.amountDue).isZero();
  // A trial that will be invoiced rather than charged shows its start as not yet paid (§2.10).
  const settled = free && !(trialStart && draft.collection_method === 'send_invoice');
  const due = draft.due_date ? instantText(draft.due_date) : at;
  return {
    draft,
    at,
    lineAmounts: amounts.lines,
    applied,
    row: {
      id: draft.id,
      ...totalsOf(amounts),
      invoiceStatus: skipped ? 'SKIPPED' : 'FINALIZED',
      paymentStatus: settled ? 'SUCCEEDED' : 'PENDING',
      invoiceNumber: draft.invoice_number,
      issueDate: draft.issue_date ? instantText(draft.issue_date) : at,
      dueDate: due > at ? due : at,
      finalizedAt: skipped ? null : at,
      paidAt: settled && !skipped ? at : null,
      lastComputedAt: at,
      attended: skipped || free,
      updatedAt: new Date().toISOString(),
      updatedBy: scope.actor,
    },
  };
}

/** Opens the payment of each invoice that is charged automatically; without a saved method the invoice waits for its payer. */
async function openAutomaticPayments(sql: Sql, scope: Scope, issued: readonly IssuedInvoice[]): Promise<void> {
  const automatic = issued.filter(
    ({ draft, row }) =>
      row.invoiceStatus === 'FINALIZED' && !row.attended && draft.collection_method === 'charge_automatically',
  );
  await openPayments(
    { rows: sql.rows, scope },
    automatic.map(({ draft, row, at }) => ({
      invoiceId: row.id,
      idempotencyKey: `${row.id}/1`,
      at,
      paymentMethodId: draft.gateway_payment_method_id,
    })),
  );
}
