import { Migration } from '@mikro-orm/migrations';

/** Changes of subscriptions that wait for their checkout session. spec: wallets-and-payments §2.17 add_addon, modify_subscription */
export class Migration20261125_62_planned_changes extends Migration {
  override up(): void {
    this.addSql(`alter table "checkout_session" add column "planned" jsonb null`);
  }
}
