import { Migration } from '@mikro-orm/migrations';

/**
 * Since when a payment waits for its payer to confirm. Those that waited before are asked once more and then know it too.
 * spec: wallets-and-payments §2.19
 */
export class Migration20261125_10_awaiting_payer extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "awaits_payer_since" timestamptz null`);
  }
}
