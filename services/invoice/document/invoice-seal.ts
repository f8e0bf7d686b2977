import { createHash } from 'node:crypto';
import type { InvoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { invoiceDateKey } from '../../../billing/invoice/invoice-number.ts';
import { anyOf, insertText, writeRows } from '../../../db/rows/bulk.ts';
import { documentDigestText } from '../../../db/rows/document-digest.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** An invoice that was just issued or skipped; a skipped one is no document and gets no seal. */
export interface IssuedDocument {
  row: { id: string; invoiceStatus: string };
  /** As the draft was: a number that it had then came from outside. */
  draft: { invoice_number: string | null };
  at: string;
}

const insertDocuments = insertText('invoice_document', {
  invoiceId: 'text',
  tenantId: 'text',
  environmentId: 'text',
  chain: 'text',
  position: 'bigint',
  digest: 'text',
  previousHash: 'text',
  hash: 'text',
  sealedAt: 'timestamptz',
});

// One round trip: the digests of the documents, and where each chain ends. The chains are a subquery for the sake of the plan: `anyOf`.
const digestsAndEndsText = `
select id, null as chain, digest as hash, null as position from (${documentDigestText(`i.environment_id = $1 and i.id = ${anyOf('$2')}`)}) documents
union all
select null, chain, last.hash, last.position::text from unnest((select $3::text[])) chain cross join lateral (
  select hash, position from invoice_document d where d.environment_id = $1 and d.chain = chain.chain
  order by position desc limit 1) last`;

/**
 * Seals documents that were just issued, in the order of their numbers, and returns the digests of all by invoice id. Each is chained to the one before in its number
 * sequence; the sequence's row is locked since the numbers were given, so nobody comes in between. Two statements, whatever
 * their number. design: quality.md I19
 */
export async function sealDocuments(
  sql: Sql,
  scope: Scope,
  issued: readonly IssuedDocument[],
  config: InvoiceConfig,
): Promise<Map<string, string>> {
  const invoices = issued.map(({ row, draft, at }) => {
    const chain = draft.invoice_number === null ? invoiceDateKey(at, config) : '';
    return { id: row.id, chain: row.invoiceStatus === 'FINALIZED' ? chain : null, at };
  });
  const chains = [...new Set(invoices.flatMap(({ chain }) => (chain ? [chain] : [])))];
  const rows = await sql.rows<{ id: string | null; chain: string | null; hash: string; position: string | null }>(
    digestsAndEndsText,
    [scope.environmentId, invoices.map(({ id }) => id), chains],
    'invoice-digests',
  );
  const digests = new Map(rows.flatMap((row) => (row.id ? [[row.id, row.hash] as const] : [])));
  const ends = new Map<string, { hash: string | null; position: number }>();
  for (const row of rows) if (row.chain) ends.set(row.chain, { hash: row.hash, position: Number(row.position) });
  const documents = invoices.flatMap(({ id, chain, at }) => {
    const digest = digests.get(id);
    if (chain === null || digest === undefined) return [];
    const end = chain === '' ? null : (ends.get(chain) ?? { hash: null, position: 0 });
    const position = end === null ? null : end.position + 1;
    const previousHash = end?.hash ?? null;
    const hash = chainedHash(previousHash, digest);
    if (position !== null) ends.set(chain, { hash, position });
    const { tenantId, environmentId } = scope;
    return [{ invoiceId: id, tenantId, environmentId, chain, position, digest, previousHash, hash, sealedAt: at }];
  });
  await writeRows(sql, insertDocuments, documents);
  return digests;
}

/** SHA-256 of the hash before, if there is one, and the document's digest, both as hexadecimal text. */
export function chainedHash(previousHash: string | null, digest: string): string {
  return createHash('sha256')
    .update(`${previousHash ?? ''}${digest}`)
    .digest('hex');
}
