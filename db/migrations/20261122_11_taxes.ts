import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/**
 * Tax rates, where they hold, and what they came to on invoices. Invoices from before were computed without any rate, which
 * is what the new column says of them. spec: subscriptions-and-invoicing §1.13, §2.18
 */
export class Migration20261122_11_taxes extends Migration {
  override up(): void {
    this.addSql(
      `create table "tax_rate" (${record}, "code" text not null, "name" text not null, "description" text not null default '', "percentage_value" numeric not null, "scope" text not null default 'INTERNAL', "tax_rate_status" text not null default 'ACTIVE', "tax_rate_type" text not null default 'percentage', "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "tax_rate_environment_id_created_at_id_index" on "tax_rate" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "tax_rate_code_unique" on "tax_rate" (environment_id, code) where status = 'published';`,
    );
    this.addSql(
      `create table "tax_association" (${record}, "tax_rate_id" text not null, "entity_type" text not null, "entity_id" text not null default '', "tax_behavior" text not null default 'exclusive', "priority" int not null default 100, "currency" text not null default '', "auto_apply" boolean not null default true, "start_date" timestamptz not null, "end_date" timestamptz null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "tax_association_environment_id_created_at_id_index" on "tax_association" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "tax_association_environment_id_tax_rate_id_index" on "tax_association" ("environment_id", "tax_rate_id");`,
    );
    this.addSql(
      `create unique index "tax_association_unique" on "tax_association" (environment_id, entity_type, entity_id, tax_rate_id, currency) where status = 'published';`,
    );
    this.addSql(
      `create table "tax_applied" (${record}, "entity_type" text not null default 'invoice', "entity_id" text not null, "tax_rate_id" text not null, "tax_association_id" text null, "tax_behavior" text not null, "position" int not null, "currency" text not null, "taxable_amount" numeric not null, "tax_amount" numeric not null, "applied_at" timestamptz not null, "tax_rate" jsonb not null, "idempotency_key" text not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "tax_applied_environment_id_entity_id_position_index" on "tax_applied" ("environment_id", "entity_id", "position");`,
    );
    this.addSql(
      `create index "tax_applied_environment_id_tax_rate_id_index" on "tax_applied" ("environment_id", "tax_rate_id");`,
    );
    this.addSql(`create unique index "tax_applied_unique" on "tax_applied" (environment_id, idempotency_key);`);
    this.addSql(`alter table "invoice" add column "no_tax_reason" text null;`);
    this.addSql(`update "invoice" set no_tax_reason = 'no_tax_rates';`);
    for (const table of ['tax_rate', 'tax_association', 'tax_applied']) this.protect(table);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
