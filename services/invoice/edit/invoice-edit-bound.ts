import type { Preview } from '../../../billing/line/binding-preview.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { isCarriedOut } from '../../lifecycle/carried-out.ts';
import { heldTo, orConflict, promisedLines, promisedPreview, requestDigest } from '../../lifecycle/preview-digest.ts';
import { editInvoice, type InvoiceEdit } from './invoice-edit.ts';

/** Where an edit ended up, and the digest of what it read and made; null for one that was carried out before. */
export interface BoundEdit {
  invoiceId: string;
  previewDigest: string | null;
}

/**
 * Edits an invoice as `editInvoice` does and answers with the digest of the version it read and of every line it made. With a
 * digest the previewed moment is taken for the present, and another result throws `version_conflict`, which undoes all.
 * docs: previews.md; spec: subscriptions-and-invoicing §1.11, §2.15.8
 */
export async function editInvoiceAsPreviewed(
  sql: Sql,
  scope: Scope,
  edit: InvoiceEdit,
  previewDigest: string | null,
): Promise<BoundEdit> {
  const { environmentId } = scope;
  const [row] = await sql.rows<{ version: number }>(
    `select version from invoice where environment_id = $1 and id = $2 and status = 'published' for update`,
    [environmentId, edit.invoiceId],
  );
  if (!row) throw missing('invoice', edit.invoiceId);
  if (await isCarriedOut(sql, scope, edit.invoiceId, edit.commandId)) {
    return { invoiceId: await editInvoice(sql, scope, edit), previewDigest: null };
  }
  const promised = promisedPreview(previewDigest, edit.at);
  const at = promised?.at ?? edit.at;
  const asked = { read: { invoice: row.version }, request: requestDigest(edit.edit) };
  const invoiceId = await orConflict(promised, asked, () => editInvoice(sql, scope, { ...edit, at }));
  const present: Preview = {
    at,
    ...asked,
    usage: null,
    lines: await promisedLines(sql, environmentId, { ...invoiceAlone, invoiceIds: [invoiceId] }),
  };
  return { invoiceId, previewDigest: heldTo(promised, present) };
}

const invoiceAlone = { subscriptionIds: [], lineItems: [], returned: '0', currency: '' };
