import { Migration } from '@mikro-orm/migrations';

/**
 * Outbound events that are kept no longer: how far each feed is forgotten, and events of which the number alone is left.
 * design: people-and-events §B 17
 */
export class Migration20261128_60_outbox_retention extends Migration {
  override up(): void {
    this.addSql(
      `alter table "outbox_relay" add column "forgotten_position" bigint not null default 0, add column "forgotten_before" timestamptz null;`,
    );
    this.addSql(`alter table "outbox_event" alter column "payload" drop not null;`);
    this.addSql(`drop index "outbox_event_environment_id_created_at_id_index";`);
    this.addSql(
      `create index "outbox_event_kept" on "outbox_event" (environment_id, created_at, id) where payload is not null;`,
    );
    this.addSql(
      `create index "outbox_event_number" on "outbox_event" (environment_id, entity_id, sequence) where payload is null;`,
    );
  }
}
