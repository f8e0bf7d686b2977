import { Migration } from '@mikro-orm/migrations';

/** Payment pages that save a method, and whether a saved one may be charged without its payer. spec: wallets-and-payments §1.5 */
export class Migration20261126_40_saved_methods extends Migration {
  override up(): void {
    this.addSql(`alter table "payment_method" add column "usage" text not null default 'off_session';`);
    this.addSql(`alter table "checkout_session" add column "connection_id" text null;`);
  }
}
