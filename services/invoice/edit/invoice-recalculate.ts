import { refuse } from '../../../billing/refusal.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { isCarriedOut } from '../../lifecycle/carried-out.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { computeDraft, refuseEdited } from '../draft/invoice-compute.ts';
import { insertDrafts } from '../draft/invoice-draft.ts';
import { issueInvoices } from '../issue/invoice-issue.ts';
import { voidInvoice } from '../issue/invoice-void.ts';
import { type RebuildableRow, rebuildInvoice } from './invoice-rebuild.ts';
import { linkReplacement } from './invoice-replace.ts';

interface RecalculableRow extends RebuildableRow {
  invoice_status: string;
  invoice_type: string;
  payment_status: string;
  is_manually_edited: boolean;
  recalculated_invoice_id: string | null;
}

const recalculableText = `
select id, subscription_id, billing_reason, billing_sequence, period_start, period_end, invoice_status, invoice_type, payment_status,
  is_manually_edited, recalculated_invoice_id
from invoice where environment_id = $1 and id = $2 and status = 'published' for update`;

/**
 * Gives a final or voided invoice of a subscription up for a draft of what usage and prices come to now, which it names and
 * which keeps its sequence. Throws `not_found`, and `validation_error` for any other invoice, for one that was edited by hand or
 * replaced, and when nothing is left to bill: the original stays then. spec: subscriptions-and-invoicing §2.15.8
 */
export async function recalculateInvoice(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, commandId }: { invoiceId: string; at: string; commandId: string },
  readUsage: UsageReader,
): Promise<void> {
  const [row] = await sql.rows<RecalculableRow>(recalculableText, [scope.environmentId, invoiceId]);
  if (!row) throw missing('invoice', invoiceId);
  if (await isCarriedOut(sql, scope, invoiceId, commandId)) return;
  refuseUnfit(row);
  await refuseBilled(sql, scope, row);
  if (row.invoice_status === 'FINALIZED') await voidInvoice(sql, scope, { invoiceId, at, metadata: null });
  const draft = await rebuildInvoice(sql, scope, { row, at, keepsId: false }, readUsage);
  if (draft.row.invoiceStatus === 'SKIPPED') {
    throw refuse('validation_error', 'nothing is left to bill for the period of this invoice; it stays as it is');
  }
  const draftId = draft.row.id;
  await insertDrafts(sql, [draft]);
  await linkReplacement(sql, scope, invoiceId, draftId);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draftId, at));
  const detail = { recalculated_invoice_id: draftId, command_id: commandId };
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: invoiceId, action: 'recalculated', occurredAt: at, detail },
  ]);
  if (row.subscription_id) await refreshSubscriptions(sql, scope.environmentId, [row.subscription_id]);
}

function refuseUnfit(row: RecalculableRow): void {
  if (row.invoice_type !== 'SUBSCRIPTION') {
    throw refuse('validation_error', `an invoice of type ${row.invoice_type} cannot be recalculated; edit it instead`, {
      invoice_type: row.invoice_type,
    });
  }
  if (row.invoice_status !== 'FINALIZED' && row.invoice_status !== 'VOIDED') {
    throw refuse(
      'validation_error',
      `an invoice that is ${row.invoice_status} cannot be recalculated; a DRAFT is computed by recalculate-v2`,
      { invoice_status: row.invoice_status },
    );
  }
  refuseEdited(row, 'recalculated');
  if (row.recalculated_invoice_id === null) return;
  throw refuse('validation_error', `the invoice was replaced by ${row.recalculated_invoice_id}; recalculate that one`, {
    recalculated_invoice_id: row.recalculated_invoice_id,
  });
}

/** A voided invoice freed its period; another one may bill it by now. */
async function refuseBilled(sql: Sql, scope: Scope, row: RecalculableRow): Promise<void> {
  const [other] = await sql.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and subscription_id = $2 and id <> $3 and invoice_type = 'SUBSCRIPTION'
       and invoice_status <> 'VOIDED' and period_start = $4 and period_end = $5 and billing_reason = $6 limit 1`,
    [scope.environmentId, row.subscription_id, row.id, row.period_start, row.period_end, row.billing_reason],
  );
  if (!other) return;
  throw refuse('validation_error', `invoice ${other.id} bills the period already; recalculate that one`, {
    invoice_id: other.id,
  });
}

/**
 * Computes a draft of a subscription in place and, when asked, finalizes it. Throws like `computeDraft`, and
 * `validation_error` for one of another type. spec: subscriptions-and-invoicing §2.15.8 recalculate-v2
 */
export async function recalculateDraft(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, finalize }: { invoiceId: string; at: string; finalize: boolean },
  readUsage: UsageReader,
): Promise<void> {
  const [row] = await sql.rows<{ invoice_type: string; invoice_status: string }>(
    `select invoice_type, invoice_status from invoice where environment_id = $1 and id = $2 and status = 'published' for update`,
    [scope.environmentId, invoiceId],
  );
  if (!row) throw missing('invoice', invoiceId);
  if (row.invoice_type !== 'SUBSCRIPTION' || row.invoice_status !== 'DRAFT') {
    throw refuse(
      'validation_error',
      `only a DRAFT of type SUBSCRIPTION is recalculated in place, not one that is ${row.invoice_status} of type ${row.invoice_type}`,
      { invoice_status: row.invoice_status, invoice_type: row.invoice_type },
    );
  }
  await computeDraft(sql, scope, { invoiceId, at }, readUsage);
  if (finalize) await issueInvoices(sql, scope, [{ invoiceId, at }], readUsage);
}
