import { Migration } from '@mikro-orm/migrations';

/** Events that are sent to an endpoint again, and which of those that were given up it received so. spec: platform §17.4; design: people-and-events §B 22 */
export class Migration20261128_52_webhook_replays extends Migration {
  override up(): void {
    this.addSql(
      `create table "webhook_replay" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "endpoint_id" text not null, "event_id" text not null default '', "state" text not null, "start_time" timestamptz null, "end_time" timestamptz null, "event_types" text[] not null, "only_failed" boolean not null default false, "new_ids" boolean not null default false, "number" int not null, "event_count" int not null, "position" bigint not null, "up_to_position" bigint not null, "received" int not null default 0, "failed" int not null default 0, "epoch" int not null default 0, "created_at" timestamptz not null, "created_by" text not null, "ended_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "webhook_replay_running_unique" on "webhook_replay" (endpoint_id, event_id) where state = 'running';`,
    );
    this.addSql(`create index "webhook_replay_endpoint_id_id_index" on "webhook_replay" ("endpoint_id", "id");`);
    this.addSql(`alter table "webhook_skip" add column "received_at" timestamptz null;`);
    this.addSql(`alter table "webhook_delivery" add column "is_replay" boolean not null default false;`);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "webhook_replay" enable row level security`);
    this.addSql(`create policy "webhook_replay_scope" on "webhook_replay" using (${rule}) with check (${rule})`);
  }
}
