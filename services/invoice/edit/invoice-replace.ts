import { type OwnTerms, replacementTerms } from '../../../billing/invoice/own-terms.ts';
import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { voidInvoice } from '../issue/invoice-void.ts';
import { copyLines } from './invoice-copy.ts';

/** A final invoice that is given up for a draft. */
export interface Replacement {
  invoiceId: string;
  at: string;
  isManuallyEdited: boolean;
}

/** The draft, the ids of its lines by those of the original's, and the terms it was given. */
export interface ReplacedBy {
  draftId: string;
  lineIds: Map<string, string>;
  terms: OwnTerms | null;
}

const copyInvoice = `
insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id, subscription_id,
  subscription_customer_id, idempotency_key, invoice_type, invoice_status, payment_status, billing_reason, billing_period,
  billing_sequence, collection_method, currency, price_unit_totals, subtotal, total, amount_due, amount_remaining, no_tax_reason,
  description, period_start, period_end, due_date, last_computed_at, attended, is_manually_edited, source_type, metadata, own_terms,
  test_clock_id)
select $3, tenant_id, environment_id, $4, $5, $4, $5, customer_id, subscription_id,
  subscription_customer_id, idempotency_key, invoice_type, 'DRAFT', 'PENDING', billing_reason, billing_period,
  billing_sequence, collection_method, currency, price_unit_totals, 0, 0, 0, 0, 'no_tax_rates',
  description, period_start, period_end, due_date, $6, invoice_type <> 'SUBSCRIPTION', $7, source_type, metadata, $8::jsonb,
  test_clock_id
from invoice where environment_id = $1 and id = $2`;

/**
 * Voids a final invoice and makes a draft with the same customer, subscription, period, reason, sequence, lines and coupons,
 * unpaid, without credits and number, which the original names. Its amounts are still to be computed. The caller holds the
 * lock. Throws what `voidInvoice` throws. spec: subscriptions-and-invoicing §2.15.8
 */
export async function replaceInvoice(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, isManuallyEdited }: Replacement,
): Promise<ReplacedBy> {
  const rows = await sql.rows<{ own_terms: OwnTerms | null; line_ids: string[] }>(
    `select i.own_terms, array(select l.id from invoice_line_item l where l.environment_id = i.environment_id
       and l.invoice_id = i.id and l.status = 'published' order by l.position) as line_ids
     from invoice i where i.environment_id = $1 and i.id = $2`,
    [scope.environmentId, invoiceId],
  );
  const original = rows[0]!;
  await voidInvoice(sql, scope, { invoiceId, at, metadata: null, isReplaced: true });
  const draftId = newId('inv');
  const lineIds = new Map(original.line_ids.map((id) => [id, newId('inv_line')]));
  const terms = replacementTerms(original.own_terms, lineIds);
  await sql.rows(copyInvoice, [
    scope.environmentId,
    invoiceId,
    draftId,
    new Date().toISOString(),
    scope.actor,
    at,
    isManuallyEdited,
    terms === null ? null : JSON.stringify(terms),
  ]);
  const lines = [...lineIds].map(([from, to]) => ({ from, to, keepsDerivation: true }));
  await copyLines(sql, scope, { invoiceId: draftId, lines });
  await linkReplacement(sql, scope, invoiceId, draftId);
  return { draftId, lineIds, terms };
}

/** From now on the original names what it was replaced by. */
export async function linkReplacement(sql: Sql, scope: Scope, invoiceId: string, draftId: string): Promise<void> {
  await sql.rows('update invoice set recalculated_invoice_id = $3 where environment_id = $1 and id = $2', [
    scope.environmentId,
    invoiceId,
    draftId,
  ]);
}
