import { Migration } from '@mikro-orm/migrations';

/** Outbound events of an environment by the time at which they were written, for their list and for what is sent again. spec: platform §17.4 */
export class Migration20261128_51_event_times extends Migration {
  override up(): void {
    this.addSql(
      `create index "outbox_event_environment_id_created_at_id_index" on "outbox_event" ("environment_id", "created_at", "id");`,
    );
  }
}
