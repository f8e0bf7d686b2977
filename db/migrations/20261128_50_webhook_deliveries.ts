import { Migration } from '@mikro-orm/migrations';

/** Attempts to deliver events and how they ended. spec: platform §17.4; design: people-and-events §B 26, 27 */
export class Migration20261128_50_webhook_deliveries extends Migration {
  override up(): void {
    this.addSql(
      `create table "webhook_delivery" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "endpoint_id" text not null, "event_id" text not null, "attempt" int not null, "attempted_at" timestamptz not null, "duration_ms" int not null, "status_code" int null, "error" text null, "response_excerpt" text not null default '', "next_attempt_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_delivery_environment_id_event_id_index" on "webhook_delivery" ("environment_id", "event_id");`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "webhook_delivery" enable row level security`);
    this.addSql(`create policy "webhook_delivery_scope" on "webhook_delivery" using (${rule}) with check (${rule})`);
  }
}
