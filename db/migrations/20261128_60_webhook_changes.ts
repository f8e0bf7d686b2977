import { Migration } from '@mikro-orm/migrations';

const heardOf: readonly (readonly [table: string, events: string])[] = [
  ['webhook_endpoint', 'insert or update or delete'],
  ['webhook_test', 'insert'],
  ['webhook_replay', 'insert or update of state'],
];

/**
 * Changes that the workers who send webhooks hear of at their commit, so that they need not look for them: an endpoint, a test event that is
 * asked for, a replay that begins or ends. design: people-and-events §A 5, B 28
 */
export class Migration20261128_60_webhook_changes extends Migration {
  override up(): void {
    this.addSql(
      `create function webhook_changed() returns trigger language plpgsql as $$ begin perform pg_notify('perennial_webhook', ''); return null; end $$`,
    );
    for (const [table, events] of heardOf) {
      this.addSql(
        `create trigger "${table}_changed" after ${events} on "${table}" for each statement execute function webhook_changed()`,
      );
    }
  }
}
