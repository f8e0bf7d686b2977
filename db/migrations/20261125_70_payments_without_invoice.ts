import { Migration } from '@mikro-orm/migrations';

/** A payment may buy credits of a wallet without an invoice, and its money may go back. design: money-in-wallets finding 6 */
export class Migration20261125_70_payments_without_invoice extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "purchase_id" text null`);
    this.addSql(
      `create unique index "payment_purchase_unique" on "payment" (environment_id, purchase_id) where purchase_id is not null;`,
    );
    this.addSql(`alter table "refund" alter column "invoice_id" drop not null;`);
  }
}
