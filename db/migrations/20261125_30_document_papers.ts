import { Migration } from '@mikro-orm/migrations';

const frozenOfLine = [
  ...['id', 'invoice_id', 'status', 'position', 'subscription_line_item_id', 'price_id', 'meter_id', 'display_name'],
  ...['currency', 'quantity', 'amount', 'line_item_discount', 'invoice_level_discount', 'prepaid_credits_applied'],
  ...['period_start', 'period_end', 'price_unit', 'price_unit_id', 'price_unit_amount', 'price_unit_cost'],
  ...['conversion_rate', 'derivation', 'plan_display_name'],
];
const row = (of: string) => `row(${frozenOfLine.map((column) => `${of}."${column}"`).join(', ')})`;

const look = `{"template_name": "default", "group_by": [], "logo": "", "footer": "", "accent_color": "#1f4e8c", "paper": "a4"}`;
const terms = `{"vat_id": "", "tax_number": "", "registration_id": "", "contact_name": "", "iban": "", "bic": "",
  "untaxed_category": "O", "untaxed_reason": "", "exempt_category": "E", "exempt_reason": ""}`;
const setting = (key: string, defaults: string) => `'${defaults}'::jsonb || coalesce((select value from setting s
  where s.environment_id = i.environment_id and s.key = '${key}' and s.status = 'published'), '{}')`;
const digestOf = (content: string) => `encode(sha256(convert_to(${content}::text, 'UTF8')), 'hex')`;

/** Statements of one transaction that record what documents show which were issued before. Doing it again changes nothing. */
export const recordPapersOfIssued: readonly string[] = [
  `create temporary table issued_before on commit drop as
      with documents as (
        select i.id as document_id, 'invoice' as kind, i.id as invoice_id from invoice i where i.finalized_at is not null
        union all select n.id, 'credit_note', n.invoice_id from credit_note n where n.finalized_at is not null
      ), sellers as (
        select i.environment_id, jsonb_build_object('name', t.name, 'billingDetails', t.billing_details,
          'look', ${setting('invoice_pdf_config', look)}, 'terms', ${setting('e_invoice_config', terms)}) as content
        from (select distinct environment_id, tenant_id from invoice where finalized_at is not null) i join tenant t on t.id = i.tenant_id
      ), customers as (
        select c.id, jsonb_build_object('name', c.name, 'externalId', c.external_id, 'email', c.email, 'contact', c.contact,
          'timezone', c.timezone, 'addressLine1', c.address_line1, 'addressLine2', c.address_line2, 'addressCity', c.address_city,
          'addressState', c.address_state, 'addressPostalCode', c.address_postal_code, 'addressCountry', c.address_country,
          'metadata', (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(c.metadata)
            where key in ('vat_id', 'tax_number', 'registration_id', 'buyer_reference', 'language'))) as content
        from customer c
      )
      select d.document_id, d.kind, i.tenant_id, i.environment_id, s.content as seller, c.content as customer,
        ${digestOf('s.content')} as seller_digest, ${digestOf('c.content')} as customer_digest,
        jsonb_build_object('description', i.description, 'dueDate',
          to_char(i.due_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'metadata', (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(i.metadata)
            where key in ('purchase_order', 'buyer_reference')),
          'meters', (select coalesce(jsonb_object_agg(m.id, m.name), '{}') from invoice_line_item l join meter m on m.id = l.meter_id
    where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published' and l.meter_display_name is null)) as texts
      from documents d join invoice i on i.id = d.invoice_id join customers c on c.id = i.customer_id
        join sellers s on s.environment_id = i.environment_id
      where not exists (select from document_paper p where p.document_id = d.document_id)`,
  `insert into document_content (environment_id, digest, tenant_id, content)
      select environment_id, seller_digest, tenant_id, seller from issued_before
      union select environment_id, customer_digest, tenant_id, customer from issued_before
      on conflict do nothing`,
  `insert into document_paper (document_id, tenant_id, environment_id, seller, customer, texts, is_sealed, recorded_at)
      select document_id, tenant_id, environment_id, seller_digest, customer_digest, texts, false, now() from issued_before`,
  `insert into audit_entry (tenant_id, environment_id, object_type, object_id, action, actor, request_id, occurred_at, recorded_at, detail)
      select tenant_id, environment_id, kind, document_id, 'paper recorded', 'migration', '', now(), now(), jsonb_build_object(
        'paper', ${digestOf('jsonb_build_array(seller_digest, customer_digest, texts)')},
        'reason', 'issued before what documents show was kept with them; recorded as it was shown at the upgrade')
      from issued_before`,
];

/**
 * Tables of the names and texts that issued documents show beside their amounts. Documents issued before get today's, once, outside their
 * seal, which stays what it was; the audit says so. design: quality.md I19
 */
export class Migration20261125_30_document_papers extends Migration {
  override up(): void {
    this.addSql(
      `create table "document_content" ("environment_id" text not null, "digest" text not null, "tenant_id" text not null, "content" jsonb not null, primary key ("environment_id", "digest"));`,
    );
    this.addSql(
      `create table "document_paper" ("document_id" text not null, "tenant_id" text not null, "environment_id" text not null, "seller" text not null, "customer" text not null, "texts" jsonb not null, "is_sealed" boolean not null, "recorded_at" timestamptz not null, primary key ("document_id"));`,
    );
    for (const text of recordPapersOfIssued) this.addSql(text);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`create function refuse_kept_paper() returns trigger language plpgsql as $$ begin
      raise exception 'what issued documents show stays as it was written' using errcode = 'integrity_constraint_violation';
    end $$`);
    for (const table of ['document_content', 'document_paper']) {
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
      this.addSql(
        `create trigger ${table}_kept before update or delete on ${table} for each row execute function refuse_kept_paper()`,
      );
    }
    // The name of the plan is on the paper too.
    this.addSql(`create or replace function invoice_line_item_update_frozen() returns trigger language plpgsql as $$ declare found text; begin
      select c.id into found from was c left join made a on a.id = c.id join invoice_document d on d.invoice_id = c."invoice_id"
        where a.id is null or ${row('a')} is distinct from ${row('c')} limit 1;
      if found is not null then
        raise exception 'invoice_line_item % is of a finalized invoice: a update changes its document; void it, credit it or replace it', found
          using errcode = 'integrity_constraint_violation';
      end if;
      return null;
    end $$`);
  }
}
