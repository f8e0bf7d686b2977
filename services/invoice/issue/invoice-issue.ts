import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { invoicePayment } from '../../../billing/invoice/invoice-payment.ts';
import { decimal } from '../../../billing/money/money.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { openPayments } from '../../collection/payment.ts';
import { releaseLots } from '../../ledger/wallet-agenda.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { InvoiceEvent } from '../../platform/event-catalogue/invoice-events.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { recordPapers } from '../document/document-paper.ts';
import { sealDocuments } from '../document/invoice-seal.ts';
import {
  amountsOfDraft,
  type ComputedDraft,
  type DraftRow,
  lockDrafts,
  termsOfDrafts,
  writeDraftAmounts,
} from '../draft/invoice-amounts.ts';
import { isEmpty, totalsOf } from '../draft/invoice-draft.ts';
import { refreshUsageLines } from '../draft/invoice-usage.ts';
import { amountColumns } from '../read/invoice-columns.ts';
import { releaseCarriedCredits } from '../terms/carried-credit.ts';
import { convertAtCurrentRates } from '../terms/invoice-conversion.ts';
import {
  type CreditableInvoice,
  closePurse,
  openPurse,
  type PrepaidPurse,
  payFromPurse,
  walletsOf,
} from '../terms/invoice-credit.ts';
import type { InvoiceTerms } from '../terms/invoice-terms.ts';
import { assignNumbers, type NumberedInvoice } from './invoice-numbering.ts';

/** A draft to be issued and the instant it is issued at. */
export interface IssueRequest {
  invoiceId: string;
  at: string;
  /** The id of the payment that is opened for it; made up when absent. */
  paymentId?: string;
}

const issuedColumns: Columns = {
  id: 'text',
  invoiceStatus: 'text',
  paymentStatus: 'text',
  invoiceNumber: 'text',
  ...amountColumns,
  noTaxReason: 'text',
  overpaidAmount: 'numeric',
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

/** What the payment of a draft was said to be before it was final. */
const keptUnpaidStatuses = ['INITIATED', 'FAILED'];

interface IssuedInvoice extends ComputedDraft, NumberedInvoice {
  row: Record<string, unknown> & { id: string; invoiceStatus: string };
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
  const locked = await lockDrafts(sql, scope, ids);
  const issuable = new Map(locked.filter((row) => row.invoice_status === 'DRAFT').map((row) => [row.id, row]));
  if (issuable.size === 0) return;
  const wanted = requests.flatMap(({ invoiceId, at }) => {
    const draft = issuable.get(invoiceId);
    return draft ? [{ draft, at }] : [];
  });
  const paymentIds = new Map(requests.map(({ invoiceId, paymentId }) => [invoiceId, paymentId]));
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
  const terms = await termsOfDrafts(
    sql,
    scope,
    wanted.map(({ draft }) => draft),
  );
  const purse = await openPurse(sql, scope, wanted.filter(({ draft }) => draft.has_prepaid_credits).map(creditable));
  const issued = wanted.map(({ draft, at }) => finalAmounts(draft, at, scope, terms.get(draft.id), purse));
  await assignNumbers(sql, scope, issued, config);
  await writeDraftAmounts(sql, scope, issued);
  await writeRows(
    sql,
    updateIssued,
    issued.map(({ row }) => row),
  );
  await closePurse(purse);
  releaseLots(
    sql,
    scope,
    wanted.map(({ draft }) => draft.customer_id),
  );
  await writeEvents(
    sql,
    scope,
    issued.flatMap((invoice) => invoiceEvents(eventNames(invoice), invoice.row.id, invoice.at)),
  );
  const papers = issued
    .filter(({ row }) => row.invoiceStatus === 'FINALIZED')
    .map(({ row: { id } }) => ({ documentId: id, invoiceId: id }));
  await recordPapers(sql, scope, papers);
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
  await openAutomaticPayments(sql, scope, issued, paymentIds);
  await releaseUnused(sql, scope, issued);
}

/** What the last invoice of a subscription that has ended did not use of its credits goes to the wallet. spec: README decision 50 */
async function releaseUnused(sql: Sql, scope: Scope, issued: readonly IssuedInvoice[]): Promise<void> {
  for (const { draft, at } of issued) {
    if (draft.has_carried_credit) await releaseCarriedCredits(sql, scope, [draft.subscription_id ?? ''], at);
  }
}

function eventNames({ row }: IssuedInvoice): InvoiceEvent['name'][] {
  if (row.invoiceStatus === 'SKIPPED') return ['invoice.update'];
  return row.paidAt !== null ? ['invoice.update.finalized', 'invoice.update.payment'] : ['invoice.update.finalized'];
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
  const wallets = walletsOf(purse, creditable({ draft }));
  const { amounts, applied } = amountsOfDraft(draft, at, scope, terms, wallets);
  payFromPurse(purse, creditable({ draft }), amounts.walletUses);
  const trialStart = draft.billing_reason === 'SUBSCRIPTION_TRIAL_START';
  const skipped = isEmpty(amounts) && draft.invoice_type === 'SUBSCRIPTION' && !trialStart;
  const { paymentStatus, amountRemaining, overpaidAmount } = invoicePayment(
    amounts.amountDue,
    decimalText(draft.amount_paid),
  );
  const free = decimal(amountRemaining).isZero();
  // A trial that will be invoiced rather than charged shows its start as not yet paid (§2.10).
  const settled = free && !(trialStart && draft.collection_method === 'send_invoice');
  const due = draft.due_date ? instantText(draft.due_date) : at;
  // Only what a period's end decides is moved up to the finalization (§2.15.6).
  const isDueLater = due > at || draft.invoice_type !== 'SUBSCRIPTION';
  const unpaid = keptUnpaidStatuses.includes(draft.payment_status) ? draft.payment_status : 'PENDING';
  return {
    draft,
    at,
    lineAmounts: amounts.lines,
    applied,
    row: {
      id: draft.id,
      ...totalsOf(amounts),
      invoiceStatus: skipped ? 'SKIPPED' : 'FINALIZED',
      amountRemaining,
      overpaidAmount,
      paymentStatus: settled ? paymentStatus : unpaid,
      invoiceNumber: draft.invoice_number,
      issueDate: draft.issue_date ? instantText(draft.issue_date) : at,
      dueDate: isDueLater ? due : at,
      finalizedAt: skipped ? null : at,
      paidAt: settled && !skipped ? at : null,
      lastComputedAt: at,
      attended: skipped || free,
      updatedAt: new Date().toISOString(),
      updatedBy: scope.actor,
    },
  };
}

/**
 * Opens the payment of each invoice that is charged automatically; without a saved method the invoice waits for its payer,
 * who is asked by a link for more than a mandate allows. Automatic top-ups open their payments themselves.
 */
async function openAutomaticPayments(
  sql: Sql,
  scope: Scope,
  issued: readonly IssuedInvoice[],
  paymentIds: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const automatic = issued.filter(
    ({ draft, row }) =>
      row.invoiceStatus === 'FINALIZED' &&
      !row.attended &&
      draft.collection_method === 'charge_automatically' &&
      draft.billing_reason !== 'WALLET_AUTO_TOPUP',
  );
  await openPayments(
    { ...sql, scope },
    automatic.map(({ draft, row, at }) => ({
      invoiceId: row.id,
      idempotencyKey: `${row.id}/1`,
      at,
      paymentMethodId: draft.gateway_payment_method_id,
      ...(paymentIds.get(row.id) === undefined ? { asksPayer: true } : { paymentId: paymentIds.get(row.id)! }),
    })),
  );
}
