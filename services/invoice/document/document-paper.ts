import type { Customer } from '../../../db/entities/customer/customer.ts';
import type { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { anyOf } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { paperDigestText } from '../../../db/rows/document-digest.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type SettingValue, settingDefaults } from '../../platform/setting-defaults.ts';

/** A seller as documents show it, with what its settings said of it and of the look of its pages. */
export interface PaperSeller {
  name: string;
  billingDetails: Record<string, unknown>;
  look: SettingValue<'invoice_pdf_config'>;
  terms: SettingValue<'e_invoice_config'>;
}

/** A customer as documents show it; of its metadata only what they show. */
export type PaperCustomer = Pick<
  Customer,
  | ('name' | 'externalId' | 'email' | 'contact' | 'timezone' | 'metadata')
  | `address${'Line1' | 'Line2' | 'City' | 'State' | 'PostalCode' | 'Country'}`
>;

/** Names and texts that an issued document shows beside its amounts. */
export interface Paper {
  seller: PaperSeller;
  customer: PaperCustomer;
  texts: Pick<Invoice, 'description' | 'dueDate' | 'metadata'> & {
    /** Layout of the printed pages; absent on papers of before there was a second. */
    layout?: number;
    /** Names of the meters of lines that have no such name of their own, by meter id. */
    meters: Record<string, string>;
  };
}

const setting = (key: string, defaults: string) =>
  `${defaults}::jsonb || coalesce((select value from setting s where s.environment_id = $1 and s.key = '${key}' and s.status = 'published'), '{}')`;
const digested = "encode(sha256(convert_to(content::text, 'UTF8')), 'hex')";
/** Members of a metadata that documents show. */
const shown = (metadata: string, keys: string) =>
  `(select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${metadata}) where key in (${keys}))`;

/** Layout of documents that are issued now; pages of an earlier one stay as they are. */
export const paperLayout = 2;

// Parties are kept in the order of their digests, so that two transactions that keep the same ones wait for each other in one order.
const recordText = `
with issued as materialized (
  select d.document_id, i.* from unnest($3::text[], $4::text[]) as d(document_id, invoice_id)
  join invoice i on i.environment_id = $1 and i.id = d.invoice_id and i.id = ${anyOf('$4')}
), seller as materialized (
  select content, ${digested} as digest from (select jsonb_build_object('name', t.name, 'billingDetails', t.billing_details,
    'look', ${setting('invoice_pdf_config', '$6')}, 'terms', ${setting('e_invoice_config', '$7')}) as content
    from tenant t where t.id = $2) of_seller
), customer as materialized (
  select id, content, ${digested} as digest from (select c.id, jsonb_build_object('name', c.name, 'externalId', c.external_id,
    'email', c.email, 'contact', c.contact, 'timezone', c.timezone, 'addressLine1', c.address_line1,
    'addressLine2', c.address_line2, 'addressCity', c.address_city, 'addressState', c.address_state,
    'addressPostalCode', c.address_postal_code, 'addressCountry', c.address_country,
    'metadata', ${shown('c.metadata', "'vat_id', 'tax_number', 'registration_id', 'buyer_reference', 'language'")}) as content
    from customer c where c.environment_id = $1 and c.id in (select customer_id from issued)) of_customer
), kept as (
  insert into document_content (environment_id, digest, tenant_id, content)
  select $1, digest, $2, content from (select digest, content from seller union select digest, content from customer) parties
  where not exists (select from document_content d where d.environment_id = $1 and d.digest = parties.digest)
  order by digest on conflict do nothing
)
insert into document_paper (document_id, tenant_id, environment_id, seller, customer, texts, is_sealed, recorded_at)
select i.document_id, $2, $1, s.digest, c.digest, jsonb_build_object('layout', ${paperLayout}, 'description', i.description,
  'dueDate', to_char(i.due_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'metadata', ${shown('i.metadata', "'purchase_order', 'buyer_reference'")},
  'meters', (select coalesce(jsonb_object_agg(m.id, m.name), '{}') from invoice_line_item l join meter m on m.id = l.meter_id
    where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published' and l.meter_display_name is null)), i.document_id = i.id, $5
from issued i cross join seller s join customer c on c.id = i.customer_id`;

/**
 * Records what documents that are being issued show beside their amounts: the seller with its settings, their customers and texts of their
 * own, as they are now. Parties are kept once, however many documents show them. One statement, whatever the number; nobody reads its answer.
 * For a credit note `invoiceId` is the invoice it takes from. design: quality.md I19
 */
export async function recordPapers(
  sql: Sql,
  scope: Scope,
  documents: readonly { documentId: string; invoiceId: string }[],
): Promise<void> {
  if (documents.length === 0) return;
  await sql.send(
    recordText,
    [
      scope.environmentId,
      scope.tenantId,
      documents.map(({ documentId }) => documentId),
      documents.map(({ invoiceId }) => invoiceId),
      new Date().toISOString(),
      JSON.stringify(settingDefaults.invoice_pdf_config),
      JSON.stringify(settingDefaults.e_invoice_config),
    ],
    'document-papers',
  );
}

/** The digest of a recorded paper, for the audit of a document without seal; null where there is none. */
export async function paperDigest(sql: Sql, scope: Scope, documentId: string): Promise<string | null> {
  const text = `select ${paperDigestText} as digest from document_paper p where p.environment_id = $1 and p.document_id = $2`;
  const [found] = await sql.rows<{ digest: string }>(text, [scope.environmentId, documentId]);
  return found?.digest ?? null;
}

/** Names and texts of an issued document; null for one that was not issued. */
export async function readPaper(sql: Sql, scope: Scope, documentId: string): Promise<Paper | null> {
  const [found] = await sql.rows<Paper & { [column: string]: unknown }>(
    `select s.content as seller, c.content as customer, p.texts from document_paper p
     join document_content s on s.environment_id = p.environment_id and s.digest = p.seller
     join document_content c on c.environment_id = p.environment_id and c.digest = p.customer
     where p.environment_id = $1 and p.document_id = $2`,
    [scope.environmentId, documentId],
  );
  return found ?? null;
}

/** Record of an invoice's paper: when it was made, and whether its parties still are what their digests say. */
export interface PaperState {
  isSealed: boolean;
  recordedAt: string;
  isUnchanged: boolean;
}

/** Looks at the paper of an issued invoice for its verification: one that no seal covers is compared with its audit. */
export async function paperState(sql: Sql, scope: Scope, documentId: string): Promise<PaperState | null> {
  const [found] = await sql.rows<{ is_sealed: boolean; recorded_at: string; is_unchanged: boolean }>(
    `select p.is_sealed, p.recorded_at, (select bool_and(digest = ${digested}) and count(*) = 2
       from document_content d where d.environment_id = p.environment_id and d.digest in (p.seller, p.customer))
       and (p.is_sealed or ${paperDigestText} = (select a.detail ->> 'paper' from audit_entry a where a.environment_id = p.environment_id
         and a.object_id = p.document_id and a.detail ? 'paper' order by a.id desc limit 1)) as is_unchanged
     from document_paper p where p.environment_id = $1 and p.document_id = $2`,
    [scope.environmentId, documentId],
  );
  if (!found) return null;
  const { is_sealed: isSealed, recorded_at, is_unchanged } = found;
  return { isSealed, recordedAt: instantText(recorded_at), isUnchanged: is_unchanged };
}
