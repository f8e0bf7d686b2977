import { Migration } from '@mikro-orm/migrations';

/** Notifications of providers, and the keys by which what they are about is found. spec: platform §16; design: money-in-checkout §A13 */
export class Migration20261125_82_inbound_events extends Migration {
  override up(): void {
    this.addSql(
      `create table "inbound_event" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "connection_id" text not null, "provider" text not null, "provider_event_id" text not null, "event_type" text not null, "marker" jsonb null, "provider_ids" text[] not null, "headers" jsonb not null, "body" bytea not null, "received_at" timestamptz not null, "due_at" timestamptz null, "attempt" int not null default 0, "outcome" text null, "object_type" text null, "object_id" text null, "done_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "inbound_event" add constraint "inbound_event_provider_event_unique" unique ("environment_id", "connection_id", "provider_event_id");`,
    );
    this.addSql(`create index "inbound_event_received_at_index" on "inbound_event" ("received_at");`);
    this.addSql(
      `create index "inbound_event_open_index" on "inbound_event" (environment_id, connection_id, due_at) where done_at is null;`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql('alter table "inbound_event" enable row level security');
    this.addSql(`create policy "inbound_event_scope" on "inbound_event" using (${rule}) with check (${rule})`);
    this.addSql(
      `create index "payment_provider_object_index" on "payment" (environment_id, payment_gateway, provider_object_id) where provider_object_id is not null;`,
    );
    this.addSql(
      `create index "refund_gateway_refund_index" on "refund" (environment_id, payment_gateway, gateway_refund_id) where gateway_refund_id is not null;`,
    );
  }
}
