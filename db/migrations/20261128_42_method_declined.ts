import { Migration } from '@mikro-orm/migrations';

/** Sessions in setup mode know that a card was declined, so that their page can say so: they have no payment with attempts. */
export class Migration20261128_42_method_declined extends Migration {
  override up(): void {
    this.addSql(`alter table "checkout_session" add column "method_declined" boolean not null default false;`);
  }
}
