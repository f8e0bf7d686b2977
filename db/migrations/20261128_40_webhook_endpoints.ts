import { Migration } from '@mikro-orm/migrations';

/** Receivers of outbound events, what each gets, and how far it has come. spec: platform §17.4; design: people-and-events §A 1, 4 */
export class Migration20261128_40_webhook_endpoints extends Migration {
  override up(): void {
    this.addSql(
      `create table "webhook_endpoint" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "url" text not null, "description" text not null default '', "event_types" text[] not null, "enabled" boolean not null default true, "on_exhausted" text not null default 'skip', "header_names" text[] not null, "secret_key_id" text null, "secret_nonce" bytea null, "secret_ciphertext" bytea null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_endpoint_environment_id_created_at_id_index" on "webhook_endpoint" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create table "webhook_filter" ("endpoint_id" text not null, "from_position" bigint not null, "tenant_id" text not null, "environment_id" text not null, "event_types" text[] not null, primary key ("endpoint_id", "from_position"));`,
    );
    this.addSql(
      `create table "webhook_cursor" ("endpoint_id" text not null, "tenant_id" text not null, "environment_id" text not null, "position" bigint not null, "created_position" bigint not null, primary key ("endpoint_id"));`,
    );
    this.addSql(`create index "webhook_cursor_environment_id_index" on "webhook_cursor" ("environment_id");`);
    for (const table of ['webhook_endpoint', 'webhook_filter', 'webhook_cursor']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
  }
}
