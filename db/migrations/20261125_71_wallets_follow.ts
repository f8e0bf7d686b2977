import { Migration } from '@mikro-orm/migrations';

/** A card's payment of a part says when the payer's postpaid wallets pay the rest. spec: wallets-and-payments §2.13 */
export class Migration20261125_71_wallets_follow extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "wallets_follow" text null`);
  }
}
