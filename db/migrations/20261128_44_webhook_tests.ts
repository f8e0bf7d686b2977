import { Migration } from '@mikro-orm/migrations';

/** Test events that people asked for. design: people-and-events §B 23 */
export class Migration20261128_44_webhook_tests extends Migration {
  override up(): void {
    this.addSql(
      `create table "webhook_test" ("id" text not null, "endpoint_id" text not null, "tenant_id" text not null, "environment_id" text not null, "event_type" text not null, "body" text not null, "created_at" timestamptz not null, "created_by" text not null default '', "taken_until" timestamptz null, "sent_at" timestamptz null, "failure" text null, primary key ("id"));`,
    );
    this.addSql(`create index "webhook_test_endpoint_id_index" on "webhook_test" ("endpoint_id");`);
    this.addSql(`create index "webhook_test_waiting" on "webhook_test" ("endpoint_id") where "sent_at" is null;`);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "webhook_test" enable row level security`);
    this.addSql(`create policy "webhook_test_scope" on "webhook_test" using (${rule}) with check (${rule})`);
  }
}
