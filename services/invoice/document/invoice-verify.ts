import { type Mismatch, recomputeLine, recomputeTotals } from '../../../billing/invoice/invoice-verification.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import { refuse } from '../../../billing/refusal.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { InvoiceDocument } from '../../../db/entities/invoice/invoice-document.ts';
import { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import { documentDigestText } from '../../../db/rows/document-digest.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { taxesOf } from '../read/invoice-read.ts';
import { type PaperState, paperState } from './document-paper.ts';
import { chainedHash } from './invoice-seal.ts';

/** What a verification found of one invoice. */
export interface InvoiceVerification {
  row: Invoice;
  document: InvoiceDocument | null;
  /** The digest of the document as it is now. */
  digest: string;
  /** The seals before and after it in its number sequence. */
  previous: InvoiceDocument | null;
  next: InvoiceDocument | null;
  /** Record of names and texts; null when they never were. */
  paper: PaperState | null;
  isDocumentUnchanged: boolean;
  isChained: boolean;
  mismatches: Mismatch[];
}

/**
 * Reads a finalized invoice and checks it against itself: its document still has the digest it was sealed with, the seal is
 * chained to the ones before and after it, and every amount follows again from its derivation. Writes nothing. Throws
 * `not_found`, and `validation_error` for an invoice that was never finalized. design: quality.md I19
 */
export async function verifyInvoice(tx: Transaction, id: string): Promise<InvoiceVerification> {
  const { environmentId } = tx.scope;
  const row = await tx.em.findOne(Invoice, { id, environmentId });
  if (!row) throw missing('invoice', id);
  if (!row.finalizedAt) {
    const problem = `invoice ${id} is ${row.invoiceStatus} and was never finalized; there is no document to verify`;
    throw refuse('validation_error', problem, { invoice_status: row.invoiceStatus });
  }
  const [current] = await tx.rows<{ digest: string }>(documentDigestText('i.environment_id = $1 and i.id = $2'), [
    environmentId,
    id,
  ]);
  const digest = current?.digest ?? '';
  const document = await tx.em.findOne(InvoiceDocument, { invoiceId: id, environmentId });
  const paper = await paperState(tx, tx.scope, id);
  const neighbour = async (step: number) =>
    document?.position == null
      ? null
      : tx.em.findOne(InvoiceDocument, {
          environmentId,
          chain: document.chain,
          position: document.position + step,
        });
  const previous = await neighbour(-1);
  const next = await neighbour(1);
  return {
    row,
    document,
    digest,
    previous,
    next,
    paper,
    isDocumentUnchanged: document !== null && document.digest === digest && paper?.isUnchanged === true,
    isChained: document !== null && isChained(document, previous, next),
    mismatches: await recompute(tx, row),
  };
}

function isChained(document: InvoiceDocument, previous: InvoiceDocument | null, next: InvoiceDocument | null): boolean {
  const before = previous?.hash ?? null;
  const isFirst = document.position === null || document.position === 1;
  return (
    document.hash === chainedHash(document.previousHash ?? null, document.digest) &&
    (document.previousHash ?? null) === before &&
    (isFirst || previous !== null) &&
    (next === null || next.previousHash === document.hash)
  );
}

async function recompute(tx: Transaction, row: Invoice): Promise<Mismatch[]> {
  const stored = await tx.em.find(
    InvoiceLineItem,
    { environmentId: tx.scope.environmentId, invoiceId: row.id, status: 'published' },
    { orderBy: { position: 'asc', id: 'asc' } },
  );
  const lines = stored.map((line) => ({
    id: line.id,
    amount: line.amount,
    lineItemDiscount: line.lineItemDiscount,
    invoiceLevelDiscount: line.invoiceLevelDiscount,
    prepaidCreditsApplied: line.prepaidCreditsApplied,
    derivation: (line.derivation ?? null) as Derivation | null,
  }));
  const taxes = (await taxesOf(tx, [row])).get(row.id) ?? [];
  return [...lines.flatMap(recomputeLine), ...recomputeTotals(lines, { ...row, taxes })];
}
