import { Migration } from '@mikro-orm/migrations';

/** Connections to providers, with sealed secrets. spec: platform §13 */
export class Migration20261122_95_connections extends Migration {
  override up(): void {
    this.addSql(
      `create table "connection" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "name" text not null, "provider_type" text not null, "metadata" jsonb not null default '{}', "sync_config" jsonb not null, "secret_key_id" text null, "secret_nonce" bytea null, "secret_ciphertext" bytea null, primary key ("id"));`,
    );
    this.addSql(
      `create index "connection_environment_id_created_at_id_index" on "connection" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "connection_provider_unique" on "connection" (environment_id, provider_type) where status = 'published' and provider_type <> 's3';`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql('alter table "connection" enable row level security');
    this.addSql(`create policy "connection_scope" on "connection" using (${rule}) with check (${rule})`);
  }
}
