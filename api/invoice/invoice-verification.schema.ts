import { z } from 'zod';
import type { InvoiceVerification } from '../../services/invoice/document/invoice-verify.ts';
import { decimalOutput, timestampOutput } from '../scalars.schema.ts';

/** What was looked at, and whether it holds. */
const check = z.object({
  check: z.enum(['document', 'chain', 'amounts']),
  ok: z.boolean(),
  message: z.string(),
});

const mismatch = z.object({
  line_item_id: z.string().nullable(),
  field: z.string(),
  stored: decimalOutput(),
  recomputed: decimalOutput(),
});

export const invoiceVerification = z
  .object({
    invoice_id: z.string(),
    invoice_number: z.string().nullable(),
    verified: z.boolean().describe('True when every check holds.'),
    checks: z.array(check),
    sealed_at: timestampOutput().nullable(),
    chain: z.string().nullable().describe('The number sequence; empty for a number that came from outside.'),
    position: z.int().nullable(),
    document_digest: z.string().nullable().describe('SHA-256 of the document when it was finalized, in hexadecimal.'),
    current_digest: z.string().describe('SHA-256 of the document as it is now.'),
    texts_recorded_at: timestampOutput()
      .nullable()
      .describe('When names, addresses, numbers and texts of the document were recorded.'),
    texts_sealed: z
      .boolean()
      .describe('False for an invoice issued before they were part of the seal; the audit holds their digest.'),
    previous_hash: z.string().nullable(),
    hash: z.string().nullable().describe('SHA-256 of previous_hash, when there is one, followed by document_digest.'),
    mismatches: z.array(mismatch).describe('Amounts that do not follow from what they were derived from.'),
  })
  .meta({ id: 'InvoiceVerification' });

export function viewInvoiceVerification(found: InvoiceVerification): z.output<typeof invoiceVerification> {
  const { row, document } = found;
  const checks = [documentCheck(found), chainCheck(found), amountsCheck(found)];
  return {
    invoice_id: row.id,
    invoice_number: row.invoiceNumber ?? null,
    verified: checks.every(({ ok }) => ok),
    checks,
    sealed_at: document?.sealedAt ?? null,
    chain: document?.chain ?? null,
    position: document?.position ?? null,
    document_digest: document?.digest ?? null,
    current_digest: found.digest,
    texts_recorded_at: found.paper?.recordedAt ?? null,
    texts_sealed: found.paper?.isSealed ?? false,
    previous_hash: document?.previousHash ?? null,
    hash: document?.hash ?? null,
    mismatches: found.mismatches.map(({ lineId, what, stored, recomputed }) => ({
      line_item_id: lineId,
      field: what,
      stored,
      recomputed,
    })),
  };
}

type Check = z.output<typeof check>;

function documentCheck({ document, paper, isDocumentUnchanged: ok }: InvoiceVerification): Check {
  if (!document) return { check: 'document', ok, message: 'There is no seal: the document cannot be compared.' };
  const later = `Its names and texts were recorded at ${paper?.recordedAt}, when the seal was older than they are: the audit holds their digest.`;
  const message = ok
    ? `The document is what it was when it was finalized.${paper?.isSealed ? '' : ` ${later}`}`
    : 'The document differs from the one that was finalized.';
  return { check: 'document', ok, message };
}

function chainCheck({ document, isChained: ok }: InvoiceVerification): Check {
  if (!document) return { check: 'chain', ok, message: 'There is no seal, so there is no chain.' };
  if (!ok) return { check: 'chain', ok, message: 'Its seal does not fit the one before or after it.' };
  const message =
    document.position === null
      ? 'Its number came from outside, so its seal stands alone, and it holds.'
      : `Its seal is number ${document.position} of ${document.chain} and fits the ones before and after it.`;
  return { check: 'chain', ok, message };
}

function amountsCheck({ mismatches }: InvoiceVerification): Check {
  const ok = mismatches.length === 0;
  const message = ok
    ? 'Every amount follows again from its derivation.'
    : `${mismatches.length} amounts do not follow from their derivation.`;
  return { check: 'amounts', ok, message };
}
