import { Migration } from '@mikro-orm/migrations';

/** Senders of endpoints and their pauses, objects that wait, events that were skipped, and the bytes of invoices. design: people-and-events §A 3, 6, 7, B 16 */
export class Migration20261128_41_webhook_delivery extends Migration {
  override up(): void {
    this.addSql(
      `alter table "webhook_cursor" add column "owner" text null, add column "epoch" int not null default 0, add column "leased_until" timestamptz null, add column "pause_reason" text null, add column "paused_until" timestamptz null;`,
    );
    this.addSql(
      `create table "webhook_line" ("endpoint_id" text not null, "entity_id" text not null, "tenant_id" text not null, "environment_id" text not null, "next_sequence" int not null, "attempts" int not null, "next_at" timestamptz null, "failure" text not null, "failed_since" timestamptz not null, primary key ("endpoint_id", "entity_id"));`,
    );
    this.addSql(
      `create table "webhook_skip" ("endpoint_id" text not null, "entity_id" text not null, "sequence" int not null, "tenant_id" text not null, "environment_id" text not null, "event_id" text not null, "reason" text not null, "consecutive" int not null, "skipped_at" timestamptz not null, primary key ("endpoint_id", "entity_id", "sequence"));`,
    );
    this.addSql(
      `create table "outbox_body" ("event_id" text not null, "tenant_id" text not null, "environment_id" text not null, "body" bytea not null, "state_sequence" int not null, "created_at" timestamptz not null, primary key ("event_id"));`,
    );
    for (const table of ['webhook_line', 'webhook_skip', 'outbox_body']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
  }
}
