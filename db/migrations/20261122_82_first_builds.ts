import { Migration } from '@mikro-orm/migrations';

/**
 * A new meter over many events is built in the background too: its version in force is the one being built, and its usage is read
 * from events until that is done. design: usage.md Closing and afterwards
 */
export class Migration20261122_82_first_builds extends Migration {
  override up(): void {
    this.addSql('alter table usage.meter_build add is_first boolean not null default false');
  }
}
