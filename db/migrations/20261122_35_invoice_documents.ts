import { Migration } from '@mikro-orm/migrations';

const frozenOfInvoice = [
  'id',
  'tenant_id',
  'environment_id',
  'customer_id',
  'subscription_id',
  'subscription_customer_id',
  'invoice_number',
  'invoice_type',
  'billing_reason',
  'currency',
  'price_unit_totals',
  'subtotal',
  'total_discount',
  'total_tax',
  'no_tax_reason',
  'total_prepaid_credits_applied',
  'total',
  'period_start',
  'period_end',
  'issue_date',
  'finalized_at',
];

/** Tables whose rows belong to a document: the column that names the invoice, and what may not change. */
const parts: readonly { table: string; invoice: string; frozen: readonly string[] }[] = [
  {
    table: 'invoice_line_item',
    invoice: 'invoice_id',
    frozen: [
      ...[
        'id',
        'invoice_id',
        'status',
        'position',
        'subscription_line_item_id',
        'price_id',
        'meter_id',
        'display_name',
      ],
      ...['currency', 'quantity', 'amount', 'line_item_discount', 'invoice_level_discount', 'prepaid_credits_applied'],
      ...['period_start', 'period_end', 'price_unit', 'price_unit_id', 'price_unit_amount', 'price_unit_cost'],
      ...['conversion_rate', 'derivation'],
    ],
  },
  {
    table: 'tax_applied',
    invoice: 'entity_id',
    frozen: [
      'id',
      'entity_id',
      'status',
      'position',
      'tax_rate_id',
      'tax_behavior',
      'taxable_amount',
      'tax_amount',
      'tax_rate',
    ],
  },
  {
    table: 'coupon_application',
    invoice: 'invoice_id',
    frozen: [
      ...['id', 'invoice_id', 'position', 'coupon_association_id', 'invoice_line_item_id', 'original_price'],
      ...['discounted_amount', 'coupon_snapshot'],
    ],
  },
];

const row = (of: string, columns: readonly string[]) =>
  `row(${columns.map((column) => `${of}."${column}"`).join(', ')})`;

/**
 * Finalized invoices are frozen: their digests are chained in a table that only grows, and triggers refuse whoever changes a
 * document, the owner of the tables included. Payments, statuses and metadata stay free. Rows of many are checked once a
 * statement, so that finalizing a set costs one look. Invoices finalized before keep the digest of their audit, unchained.
 * spec: issue of invoices, Immutability; design: quality.md I19
 */
export class Migration20261122_35_invoice_documents extends Migration {
  override up(): void {
    this.addSql(
      `create table "invoice_document" ("invoice_id" text not null, "tenant_id" text not null, "environment_id" text not null, "chain" text not null, "position" bigint null, "digest" text not null, "previous_hash" text null, "hash" text not null, "sealed_at" timestamptz not null, primary key ("invoice_id"));`,
    );
    this.addSql(
      `alter table "invoice_document" add constraint "invoice_document_environment_id_chain_position_unique" unique ("environment_id", "chain", "position");`,
    );
    this.addSql(`insert into invoice_document (invoice_id, tenant_id, environment_id, chain, digest, hash, sealed_at)
      select distinct on (a.object_id) a.object_id, a.tenant_id, a.environment_id, '', a.detail ->> 'document',
        encode(sha256(convert_to(a.detail ->> 'document', 'UTF8')), 'hex'), a.recorded_at
      from audit_entry a join invoice i on i.id = a.object_id and i.finalized_at is not null
      where a.object_type = 'invoice' and a.action = 'finalized' and a.detail ? 'document' order by a.object_id, a.id desc`);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "invoice_document" enable row level security`);
    this.addSql(`create policy "invoice_document_scope" on "invoice_document" using (${rule}) with check (${rule})`);
    this.addSql(`create function refuse_frozen() returns trigger language plpgsql as $$ begin
      raise exception '% % is finalized: a % changes its document; void it, credit it or replace it', tg_table_name, old.id, lower(tg_op)
        using errcode = 'integrity_constraint_violation';
    end $$`);
    this.addSql(`create function refuse_sealed() returns trigger language plpgsql as $$ begin
      raise exception 'the seal of invoice % stays as it was written', old.invoice_id using errcode = 'integrity_constraint_violation';
    end $$`);
    this.addSql(
      `create trigger invoice_document_kept before update or delete on invoice_document for each row execute function refuse_sealed()`,
    );
    this.freezeInvoices();
    for (const part of parts) this.freezePart(part);
  }

  private freezeInvoices(): void {
    const changed = `${row('new', frozenOfInvoice)} is distinct from ${row('old', frozenOfInvoice)}`;
    const leaves = `new.invoice_status not in (old.invoice_status, 'VOIDED')`;
    this.addSql(`create trigger invoice_frozen before update on invoice for each row
      when (old.finalized_at is not null and (${changed} or ${leaves})) execute function refuse_frozen()`);
    this.addSql(`create trigger invoice_kept before delete on invoice for each row
      when (old.finalized_at is not null) execute function refuse_frozen()`);
  }

  private freezePart({ table, invoice, frozen }: (typeof parts)[number]): void {
    const refuse = (from: string, operation: string, where: string) => `
      create function ${table}_${operation}_frozen() returns trigger language plpgsql as $$ declare found text; begin
        select c.id into found from ${from} join invoice_document d on d.invoice_id = c."${invoice}" ${where} limit 1;
        if found is not null then
          raise exception '${table} % is of a finalized invoice: a ${operation} changes its document; void it, credit it or replace it', found
            using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $$`;
    const on = (operation: string, tables: string) =>
      this.addSql(`create trigger ${table}_${operation}_frozen after ${operation} on ${table} referencing ${tables}
        for each statement execute function ${table}_${operation}_frozen()`);
    this.addSql(refuse('made c', 'insert', ''));
    on('insert', 'new table as made');
    this.addSql(refuse('gone c', 'delete', ''));
    on('delete', 'old table as gone');
    const differs = `where a.id is null or ${row('a', frozen)} is distinct from ${row('c', frozen)}`;
    this.addSql(refuse('was c left join made a on a.id = c.id', 'update', differs));
    on('update', 'old table as was new table as made');
  }
}
