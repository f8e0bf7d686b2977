import { Migration } from '@mikro-orm/migrations';

const record =
  '"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default \'published\', "created_at" timestamptz not null, "created_by" text not null default \'\', "updated_at" timestamptz not null, "updated_by" text not null default \'\'';

/** Groups of prices or features, and custom currencies with what prices and invoices keep of them. */
export class Migration20261122_05_price_units_and_groups extends Migration {
  override up(): void {
    this.createTables();
    this.addSql(
      'alter table "price" add column "price_unit" text null, add column "price_unit_id" text null, add column "price_unit_amount" numeric null, add column "price_unit_tiers" jsonb null, add column "conversion_rate" numeric null;',
    );
    this.addSql('create index "price_environment_id_group_id_index" on "price" ("environment_id", "group_id");');
    this.addSql(
      'create index "price_environment_id_price_unit_id_index" on "price" ("environment_id", "price_unit_id");',
    );
    this.addSql('create index "feature_environment_id_group_id_index" on "feature" ("environment_id", "group_id");');
    this.addSql(
      'alter table "invoice_line_item" add column "price_unit" text null, add column "price_unit_id" text null, add column "price_unit_amount" numeric null, add column "price_unit_cost" numeric null, add column "conversion_rate" numeric null;',
    );
    this.addSql('alter table "invoice" add column "price_unit_totals" jsonb null;');
    for (const table of ['catalogue_group', 'price_unit']) this.protect(table);
  }

  private createTables(): void {
    this.addSql(
      `create table "catalogue_group" (${record}, "name" text not null, "entity_type" text not null, "lookup_key" text not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      'create index "catalogue_group_environment_id_created_at_id_index" on "catalogue_group" ("environment_id", "created_at", "id");',
    );
    this.addSql(
      `create unique index "group_lookup_key_unique" on "catalogue_group" (environment_id, lookup_key) where status = 'published';`,
    );
    this.addSql(
      `create table "price_unit" (${record}, "name" text not null, "code" text not null, "symbol" text not null, "base_currency" text not null, "conversion_rate" numeric not null, "precision" int not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      'create index "price_unit_environment_id_created_at_id_index" on "price_unit" ("environment_id", "created_at", "id");',
    );
    this.addSql(
      `create unique index "price_unit_code_unique" on "price_unit" (environment_id, code) where status = 'published';`,
    );
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
