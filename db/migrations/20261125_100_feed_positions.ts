import { Migration } from '@mikro-orm/migrations';

/**
 * Places in the feed of outbound events that survive a restore; the first reader gives those that are there theirs.
 * design: people-and-events §A 1, 2
 */
export class Migration20261125_100_feed_positions extends Migration {
  override up(): void {
    this.addSql(
      `create table "outbox_feed" ("environment_id" text not null, "feed_position" bigint not null, "tenant_id" text not null, "event_id" text not null, primary key ("environment_id", "feed_position"));`,
    );
    this.addSql(
      `alter table "outbox_feed" add constraint "outbox_feed_environment_id_event_id_unique" unique ("environment_id", "event_id");`,
    );
    this.addSql(
      `create table "outbox_relay" ("environment_id" text not null, "tenant_id" text not null, "last_position" bigint not null, "seen_snapshot" text not null, "system_id" text not null, "was_restored" boolean not null default false, primary key ("environment_id"));`,
    );
    for (const table of ['outbox_feed', 'outbox_relay']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
  }
}
