import type { EditOrder } from '../../../billing/invoice/invoice-command.ts';
import {
  assertEditable,
  type EditableInvoice,
  type PlannedEdit,
  planEdit,
} from '../../../billing/invoice/invoice-edit.ts';
import { movedTerms, type OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { refuse } from '../../../billing/refusal.ts';
import { newId } from '../../../db/id.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { isCarriedOut } from '../../lifecycle/carried-out.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { refuseGatedInvoice } from '../issue/invoice-gate.ts';
import { insertLines } from '../read/invoice-line.ts';
import { copyLines } from './invoice-copy.ts';
import { recomputeDraft } from './invoice-recompute.ts';
import { replaceInvoice } from './invoice-replace.ts';

/** An edit of one invoice; `edit` null takes its coupons anew and leaves its lines. */
export interface InvoiceEdit extends Pick<EditOrder, 'edit'> {
  invoiceId: string;
  /** The customer's present. */
  at: string;
  /** The same command is carried out once. */
  commandId: string;
}

interface EditedRow {
  invoice_status: string;
  payment_status: string;
  source_type: string;
  recalculated_invoice_id: string | null;
  subscription_id: string | null;
  customer_id: string;
  currency: string;
  own_terms: OwnTerms | null;
  purchase_id: string | null;
  version: number;
  lines: { id: string; position: number; amount: string; quantity: string; isCarriedCredit: boolean }[];
  [column: string]: unknown;
}

const editedText = `
select i.invoice_status, i.payment_status, i.source_type, i.recalculated_invoice_id, i.subscription_id, i.customer_id, i.currency,
  i.own_terms, i.version, i.purchase_id,
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'position', l.position, 'amount', l.amount::text, 'quantity', l.quantity::text,
    'isCarriedCredit', l.is_carried_credit)
    order by l.position) from invoice_line_item l
    where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = $2 and i.status = 'published' for update of i`;

/** Refuses to change what a purchase of credits costs. design: money-in-wallets finding 5 */
function refuseEditedPurchase(invoiceId: string, purchaseId: string | null): void {
  if (purchaseId === null) return;
  throw refuse('invalid_operation', `invoice ${invoiceId} bills credits and cannot be edited; void it instead`, {
    invoice_id: invoiceId,
  });
}

/**
 * Edits the lines of an invoice, or takes its coupons anew: a draft in place; a final one is voided and a linked draft with
 * its content is edited, which waits for a person to finalize it. Returns the id of the invoice that holds the result. Throws
 * `not_found` and `validation_error`; nothing is changed then. spec: subscriptions-and-invoicing §2.15.8
 */
export async function editInvoice(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, edit, commandId }: InvoiceEdit,
): Promise<string> {
  const row = await lockEdited(sql, scope, invoiceId);
  if (await isCarriedOut(sql, scope, invoiceId, commandId)) return row.recalculated_invoice_id ?? invoiceId;
  await refuseGatedInvoice(sql, scope, invoiceId, 'edited');
  assertEditable(editableOf(row));
  refuseEditedPurchase(invoiceId, row.purchase_id);
  const lines = row.lines.map((line) => ({
    ...line,
    amount: decimalText(line.amount),
    quantity: decimalText(line.quantity),
  }));
  const plan = edit && planEdit(lines, edit, () => newId('inv_line'));
  if (row.invoice_status === 'DRAFT') {
    if (plan) await applyPlan(sql, scope, { invoiceId, row, terms: row.own_terms }, plan);
    await recomputeDraft(sql, scope, { invoiceId, at, isManuallyEdited: edit !== null });
    await reportEdit(sql, scope, { invoiceId, at, version: row.version + 1, edit, commandId });
    if (row.subscription_id) await refreshSubscriptions(sql, scope.environmentId, [row.subscription_id]);
    return invoiceId;
  }
  const { draftId, lineIds, terms } = await replaceInvoice(sql, scope, { invoiceId, at, isManuallyEdited: true });
  if (plan) await applyPlan(sql, scope, { invoiceId: draftId, row, terms }, moved(plan, lineIds));
  await recomputeDraft(sql, scope, { invoiceId: draftId, at, isManuallyEdited: true });
  await reportEdit(sql, scope, { invoiceId: draftId, at, version: 2, edit, commandId });
  const detail = { recalculated_invoice_id: draftId, command_id: commandId };
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: invoiceId, action: 'replaced', occurredAt: at, detail },
  ]);
  return draftId;
}

async function lockEdited(sql: Sql, scope: Scope, invoiceId: string): Promise<EditedRow> {
  const [row] = await sql.rows<EditedRow>(editedText, [scope.environmentId, invoiceId]);
  if (!row) throw missing('invoice', invoiceId);
  return row;
}

/** Locks an invoice and refuses one that may not be edited. Throws `not_found`, and what `assertEditable` throws. */
export async function refuseUneditable(sql: Sql, scope: Scope, invoiceId: string): Promise<void> {
  await refuseGatedInvoice(sql, scope, invoiceId, 'edited');
  assertEditable(editableOf(await lockEdited(sql, scope, invoiceId)));
}

function editableOf(row: EditedRow): EditableInvoice {
  return {
    invoiceStatus: row.invoice_status,
    paymentStatus: row.payment_status,
    recalculatedInvoiceId: row.recalculated_invoice_id,
    sourceType: row.source_type,
  };
}

/** The plan of an edit on the copies of its lines. */
function moved(plan: PlannedEdit, lineIds: ReadonlyMap<string, string>): PlannedEdit {
  const of = (id: string) => lineIds.get(id) ?? id;
  return {
    ...plan,
    removed: plan.removed.map(of),
    replaced: plan.replaced.map((line) => ({ ...line, lineItemId: of(line.lineItemId) })),
  };
}

interface EditTarget {
  invoiceId: string;
  row: EditedRow;
  terms: OwnTerms | null;
}

async function applyPlan(sql: Sql, scope: Scope, target: EditTarget, plan: PlannedEdit): Promise<void> {
  const { invoiceId, row } = target;
  await copyLines(sql, scope, {
    invoiceId,
    lines: plan.replaced.map((line) => ({
      from: line.lineItemId,
      to: line.newId,
      displayName: line.displayName,
      amount: line.amount,
      quantity: line.quantity,
      metadata: line.metadata,
      keepsDerivation: line.keepsDerivation,
    })),
  });
  await sql.rows('delete from coupon_application where environment_id = $1 and invoice_line_item_id = any($2)', [
    scope.environmentId,
    plan.removed,
  ]);
  await sql.rows('delete from invoice_line_item where environment_id = $1 and invoice_id = $2 and id = any($3)', [
    scope.environmentId,
    invoiceId,
    plan.removed,
  ]);
  const now = new Date().toISOString();
  await insertLines(
    sql,
    plan.added.map(({ newId: id, ...line }) => ({
      ...line,
      id,
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      invoiceId,
      customerId: row.customer_id,
      subscriptionId: row.subscription_id,
      priceType: 'FIXED',
      currency: row.currency,
      lineItemDiscount: '0',
      invoiceLevelDiscount: '0',
      prepaidCreditsApplied: '0',
    })),
  );
  if (!target.terms || plan.replaced.length === 0) return;
  const newIds = new Map(plan.replaced.map((line) => [line.lineItemId, line.newId]));
  await sql.rows('update invoice set own_terms = $3::jsonb where environment_id = $1 and id = $2', [
    scope.environmentId,
    invoiceId,
    JSON.stringify(movedTerms(target.terms, newIds)),
  ]);
}

async function reportEdit(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, version, edit, commandId }: InvoiceEdit & { version: number },
): Promise<void> {
  await writeEvents(sql, scope, invoiceEvents('invoice.update', invoiceId, at));
  const action = edit === null ? 'discounts applied' : 'edited';
  const detail = { ...(edit === null ? {} : { action: edit.action }), command_id: commandId };
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: invoiceId, action, version, occurredAt: at, detail },
  ]);
}
