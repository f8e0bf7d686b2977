import { Migration } from '@mikro-orm/migrations';

/**
 * Subscriptions with children: where they are found, one parent for a customer that inherits, and a mark that stays on whatever was
 * part of a hierarchy. spec: subscriptions-and-invoicing §2.13
 */
export class Migration20261122_64_hierarchy extends Migration {
  override up(): void {
    this.addSql(`alter table "subscription" add column "in_hierarchy" boolean not null default false;`);
    this.addSql(
      `create index "subscription_children" on "subscription" ("environment_id", "parent_subscription_id") where "parent_subscription_id" is not null;`,
    );
    this.addSql(
      `create unique index "subscription_inherited_unique" on "subscription" ("environment_id", "customer_id") where "status" = 'published' and "subscription_type" = 'inherited' and "subscription_status" <> 'cancelled';`,
    );
  }
}
