import { Migration } from '@mikro-orm/migrations';

/** Connections keep how far the event list of their provider is read, and what was wrong with that. design: money-in-checkout §B18 */
export class Migration20261127_10_event_lists extends Migration {
  override up(): void {
    this.addSql(`alter table "connection" add column "events_asked_at" timestamptz null;`);
    this.addSql(`alter table "connection" add column "events_read_until" timestamptz null;`);
    this.addSql(`alter table "connection" add column "events_problem" text null;`);
  }
}
