import { Migration } from '@mikro-orm/migrations';

/**
 * What invoices that people make, edit and settle by hand need beside their lines, and the indexes under the filters of their
 * lists. spec: subscriptions-and-invoicing §1.11, §2.15
 */
export class Migration20261122_24_invoice_operations extends Migration {
  override up(): void {
    this.addSql(
      `alter table "invoice" add column "own_terms" jsonb null, add column "amount_paid_by_hand" numeric not null default '0';`,
    );
    this.addSql(`alter table "coupon_association" alter column "subscription_id" drop not null;`);
  }
}
