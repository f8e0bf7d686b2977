import { Migration } from '@mikro-orm/migrations';

/** Saved methods know their card, so that its limits hold however often it is saved. design: money-in-wallets finding 9 */
export class Migration20261127_60_card_fingerprint extends Migration {
  override up(): void {
    this.addSql(`alter table "payment_method" add column "fingerprint" text null;`);
  }
}
