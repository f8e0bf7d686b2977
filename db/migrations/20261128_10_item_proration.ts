import { Migration } from '@mikro-orm/migrations';

/** A line item may say by itself how the period in which it begins is charged. spec: subscriptions-and-invoicing §2.9.6 */
export class Migration20261128_10_item_proration extends Migration {
  override up(): void {
    this.addSql(`alter table "subscription_line_item" add column "proration_behavior" text null;`);
  }
}
