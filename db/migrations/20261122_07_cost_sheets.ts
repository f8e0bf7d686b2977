import { Migration } from '@mikro-orm/migrations';

/** Cost sheets. spec: catalogue-and-metering §10.2 */
export class Migration20261122_07_cost_sheets extends Migration {
  override up(): void {
    this.addSql(
      `create table "costsheet" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "name" text not null, "description" text not null default '', "lookup_key" text not null default '', "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "costsheet_environment_id_created_at_id_index" on "costsheet" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "costsheet_name_unique" on "costsheet" (environment_id, name) where status = 'published';`,
    );
    this.addSql(
      `create unique index "costsheet_lookup_key_unique" on "costsheet" (environment_id, lookup_key) where status = 'published' and lookup_key <> '';`,
    );
    this.addSql('alter table "costsheet" enable row level security');
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`create policy "costsheet_scope" on "costsheet" using (${rule}) with check (${rule})`);
  }
}
