import { Migration } from '@mikro-orm/migrations';

/** A change credits or charges an item by charge period, so that later ones know what of it is over. spec: §2.8.2 */
export class Migration20261122_68_proration_times extends Migration {
  override up(): void {
    this.addSql(`drop index "subscription_proration_unique";`);
    this.addSql(
      `create unique index "subscription_proration_unique" on "subscription_proration" (environment_id, change_key, subscription_line_item_id, side, period_start);`,
    );
  }
}
