import type { GivenToCompute } from '../../../billing/invoice/invoice-command.ts';
import { refuse } from '../../../billing/refusal.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { isCarriedOut } from '../../lifecycle/carried-out.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { type RebuildableRow, rebuildInvoice } from '../edit/invoice-rebuild.ts';
import { recomputeDraft } from '../edit/invoice-recompute.ts';
import { refuseGatedInvoice } from '../issue/invoice-gate.ts';
import { amountColumns } from '../read/invoice-columns.ts';
import { insertLines } from '../read/invoice-line.ts';
import { releaseCarriedCredits } from '../terms/carried-credit.ts';
import { replaceApplied } from '../terms/invoice-terms.ts';
import { checkComputed, giveToDraft } from './invoice-compute-given.ts';
import type { DraftInvoice } from './invoice-draft.ts';

/** A draft to compute at the customer's present `at`. */
interface Computation {
  invoiceId: string;
  at: string;
  given?: GivenToCompute | null;
  /** The command that asks for it, which is carried out once; absent where it is a step of another. */
  commandId?: string;
}

interface ComputableRow extends RebuildableRow {
  invoice_status: string;
  invoice_type: string;
  source_type: string;
  is_manually_edited: boolean;
  own_terms: unknown;
  is_paused: boolean;
  version: number;
}

const computableText = `
select id, subscription_id, billing_reason, billing_sequence, period_start, period_end, invoice_status, invoice_type, source_type,
  is_manually_edited, own_terms, version, coalesce(metadata ->> 'paused', '') = 'true' as is_paused
from invoice where environment_id = $1 and id = $2 and status = 'published' for update`;

const computedColumns: Columns = {
  id: 'text',
  invoiceStatus: 'text',
  paymentStatus: 'text',
  ...amountColumns,
  noTaxReason: 'text',
  priceUnitTotals: 'jsonb',
  lastComputedAt: 'timestamptz',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};
const updateComputed = updateText('invoice', computedColumns, 'version = r.version + 1');
/** Where the amounts are computed again at once, which is one change with this. */
const updateRebuilt = updateText('invoice', computedColumns);

/**
 * Computes a draft again: a subscription's from its charges in the period it stores, which may make it SKIPPED and a SKIPPED
 * one a draft; another's amounts from its lines. What is `given` comes in the place of what the draft has. The same command is
 * carried out once. Throws `not_found`, and `validation_error` for one that is final or was edited by hand, and for what is given
 * and does not fit; nothing is changed then. spec: subscriptions-and-invoicing §2.15.1, §2.15.2
 */
export async function computeDraft(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, given, commandId }: Computation,
  readUsage: UsageReader,
): Promise<void> {
  const [row] = await sql.rows<ComputableRow>(computableText, [scope.environmentId, invoiceId]);
  if (!row) throw missing('invoice', invoiceId);
  if (commandId && (await isCarriedOut(sql, scope, invoiceId, commandId))) return;
  await refuseGatedInvoice(sql, scope, invoiceId, 'computed');
  if (row.invoice_status !== 'DRAFT' && row.invoice_status !== 'SKIPPED') {
    throw refuse('validation_error', `an invoice that is ${row.invoice_status} cannot be computed; only a DRAFT can`, {
      invoice_status: row.invoice_status,
    });
  }
  refuseEdited(row, 'computed');
  // What a pause skipped is never charged.
  if (row.invoice_status === 'SKIPPED' && row.is_paused) {
    if (given)
      throw refuse('validation_error', 'the invoice is of a pause, which is never charged; nothing can be given');
    return;
  }
  const isOfSubscription = row.invoice_type === 'SUBSCRIPTION';
  // What was given to this invoice itself holds over what its subscription has.
  const isTermed = !isOfSubscription || row.own_terms !== null || given != null;
  if (isOfSubscription) {
    const rebuilt = await rebuildInvoice(sql, scope, { row, at, keepsId: true }, readUsage);
    await storeAgain(sql, scope, { row, update: isTermed ? updateRebuilt : updateComputed }, rebuilt);
  }
  if (given) await giveToDraft(sql, scope, { invoiceId, at, given });
  if (isTermed) await recomputeDraft(sql, scope, { invoiceId, at, isManuallyEdited: false });
  if (given) await checkComputed(sql, scope, { invoiceId, at, given });
  if (row.subscription_id) await releaseCarriedCredits(sql, scope, [row.subscription_id], at);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', invoiceId, at));
  await writeAudit(sql, scope, [
    {
      objectType: 'invoice',
      objectId: invoiceId,
      action: 'computed',
      version: row.version + 1,
      occurredAt: at,
      ...(commandId ? { detail: { command_id: commandId } } : {}),
    },
  ]);
  if (row.subscription_id) await refreshSubscriptions(sql, scope.environmentId, [row.subscription_id]);
}

/** Refuses to compute over what a person edited. spec: subscriptions-and-invoicing §2.15.2, error 39 */
export function refuseEdited(row: { is_manually_edited: boolean }, verb: string): void {
  if (!row.is_manually_edited) return;
  throw refuse('validation_error', `the invoice was edited by hand and cannot be ${verb}; edit it again, or void it`, {
    is_manually_edited: true,
  });
}

/** Puts a draft computed again in the place of what the invoice was. */
async function storeAgain(
  sql: Sql,
  scope: Scope,
  { row, update }: { row: ComputableRow; update: string },
  draft: DraftInvoice,
): Promise<void> {
  const { environmentId } = scope;
  const { row: computed, lines, applied } = draft;
  await replaceApplied(sql, environmentId, { taxed: [row.id], discounted: [row.id] }, []);
  await sql.rows('delete from invoice_line_item where environment_id = $1 and invoice_id = $2', [
    environmentId,
    row.id,
  ]);
  await insertLines(sql, lines);
  await writeRows(sql, update, [computed]);
  await replaceApplied(sql, environmentId, { taxed: [], discounted: [] }, [applied]);
}

/** The drafts of a subscription that can be computed again: not those that were edited by hand or wait for a checkout. */
export async function computableDrafts(sql: Sql, { environmentId }: Scope, subscriptionId: string): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and subscription_id = $2 and status = 'published' and invoice_status = 'DRAFT'
       and invoice_type = 'SUBSCRIPTION' and not is_manually_edited and source_type <> 'checkout' order by billing_sequence, id`,
    [environmentId, subscriptionId],
  );
  return rows.map(({ id }) => id);
}
