import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { decimal } from '../../../billing/money/money.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { returnPrepaidCredits } from '../../ledger/wallet-credit.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { recordPapers } from '../document/document-paper.ts';
import { sealDocuments } from '../document/invoice-seal.ts';
import { type DraftInvoice, insertDrafts } from '../draft/invoice-draft.ts';
import { releaseCarriedCredits } from '../terms/carried-credit.ts';
import { releaseCoupons } from '../terms/invoice-coupon.ts';
import { releaseRedemptions } from '../terms/invoice-redemption.ts';
import { assignNumbers } from './invoice-numbering.ts';

interface GatedRow {
  id: string;
  customer_id: string;
  subscription_id: string | null;
  currency: string;
  invoice_status: string;
  source_type: string;
  checkout_session_id: string | null;
  total_prepaid_credits_applied: string;
  taxed_credits_applied: string;
  own_terms: OwnTerms | null;
  issue_date: string | null;
  due_date: string | null;
  config: Record<string, unknown> | null;
  version: number;
  [column: string]: unknown;
}

async function lockGated(sql: Sql, scope: Scope, invoiceId: string): Promise<GatedRow> {
  const [row] = await sql.rows<GatedRow>(
    `select i.id, i.customer_id, i.subscription_id, i.currency, i.invoice_status, i.source_type, i.checkout_session_id, i.total_prepaid_credits_applied, i.taxed_credits_applied, i.own_terms,
       i.issue_date, i.due_date, i.version,
       (select value from setting where environment_id = $1 and key = 'invoice_config' and status = 'published') as config
     from invoice i where i.environment_id = $1 and i.id = $2 for update of i`,
    [scope.environmentId, invoiceId],
    'gated-invoice-locked',
  );
  if (!row) throw missing('invoice', invoiceId);
  return row;
}

/**
 * Writes a draft that its checkout session collects: its amounts are final, its number and its first event come with the money. Gives its
 * id and what is to be paid; null, with nothing written, when that is nothing. spec: wallets-and-payments §2.18
 */
export async function insertGatedDraft(
  sql: Sql,
  scope: Scope,
  draft: DraftInvoice,
  checkoutSessionId: string,
): Promise<{ invoiceId: string; amountDue: string } | null> {
  const { id } = draft.row;
  const amountDue = String(draft.row.amountDue);
  if (draft.row.invoiceStatus === 'SKIPPED' || !decimal(amountDue).greaterThan(0)) return null;
  await insertDrafts(sql, [draft]);
  await sql.rows(
    `update invoice set source_type = 'checkout', payment_status = 'INITIATED', checkout_session_id = $3, attended = true
     where environment_id = $1 and id = $2`,
    [scope.environmentId, id, checkoutSessionId],
  );
  return { invoiceId: id, amountDue };
}

/**
 * Makes an invoice final whose session was paid, with the amounts it was opened with and the next number of its sequence. One that is
 * final already stays, and is answered by false. Throws `not_found`. spec: wallets-and-payments §2.18; design: money-in-checkout §A10
 */
export async function issueGatedInvoice(sql: Sql, scope: Scope, invoiceId: string, at: string): Promise<boolean> {
  const draft = await lockGated(sql, scope, invoiceId);
  if (draft.invoice_status !== 'DRAFT') return false;
  const config = invoiceConfig(draft.config);
  const row = { id: draft.id, invoiceStatus: 'FINALIZED', invoiceNumber: null as string | null };
  await assignNumbers(sql, scope, [{ row, at }], config);
  const due = draft.due_date ? instantText(draft.due_date) : at;
  await sql.rows(
    `update invoice set invoice_status = 'FINALIZED', invoice_number = $3, issue_date = coalesce(issue_date, $4), due_date = $5, finalized_at = $4,
       payment_status = 'PENDING', attended = true, version = version + 1, updated_at = $6, updated_by = $7 where environment_id = $1 and id = $2`,
    [scope.environmentId, invoiceId, row.invoiceNumber, at, due > at ? due : at, new Date().toISOString(), scope.actor],
  );
  await writeEvents(sql, scope, invoiceEvents(['invoice.update.finalized'], invoiceId, at));
  await recordPapers(sql, scope, [{ documentId: invoiceId, invoiceId }]);
  const digests = await sealDocuments(sql, scope, [{ row, draft: { invoice_number: null }, at }], config);
  await writeAudit(sql, scope, [
    {
      objectType: 'invoice',
      objectId: invoiceId,
      action: 'finalized',
      version: draft.version + 1,
      occurredAt: at,
      detail: { invoice_number: row.invoiceNumber, document: digests.get(invoiceId) },
    },
  ]);
  return true;
}

/**
 * Ends an invoice whose session was not paid: the prepaid credits it took go back, coupons can be redeemed again, and it is void
 * without a number and archived. Nothing is told of it, because nothing was. False for one that was final before: it stays. Throws
 * `not_found`.
 * spec: wallets-and-payments §2.17 Clean-up, §2.18; design: money-in-checkout §B1
 */
export async function dropGatedInvoice(sql: Sql, scope: Scope, invoiceId: string, at: string): Promise<boolean> {
  const row = await lockGated(sql, scope, invoiceId);
  if (row.invoice_status !== 'DRAFT') return false;
  const of = `unpaid checkout invoice ${row.id}`;
  await returnPrepaidCredits(sql, scope, row, { credits: decimalText(row.total_prepaid_credits_applied), of, at });
  await sql.send(
    `update invoice set invoice_status = 'VOIDED', voided_at = $3, status = 'archived', attended = true, version = version + 1, updated_at = $4, updated_by = $5
     where environment_id = $1 and id = $2`,
    [scope.environmentId, row.id, at, new Date().toISOString(), scope.actor],
    'gated-invoice-dropped',
  );
  await releaseCoupons(sql, scope, row.id);
  await releaseRedemptions(sql, scope, row.own_terms?.coupons ?? null, at);
  if (row.subscription_id) await releaseCarriedCredits(sql, scope, [row.subscription_id], at);
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: row.id, action: 'voided', version: row.version + 1, occurredAt: at },
  ]);
  return true;
}
