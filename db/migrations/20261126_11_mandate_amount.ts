import { Migration } from '@mikro-orm/migrations';

/** Saved methods keep the most that may be charged at once without their payer. design: money-in-wallets finding 37 */
export class Migration20261126_11_mandate_amount extends Migration {
  override up(): void {
    this.addSql(`alter table "payment_method" add column "max_amount" numeric null;`);
  }
}
