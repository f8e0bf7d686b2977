import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** What changes of subscriptions credited and charged. spec: subscriptions-and-invoicing §2.8 */
export class Migration20261122_22_prorations extends Migration {
  override up(): void {
    this.addSql(
      `create table "subscription_proration" (${record}, "subscription_id" text not null, "subscription_line_item_id" text not null, "change_key" text not null, "action" text not null, "side" text not null, "currency" text not null, "amount" numeric not null, "uncapped_amount" numeric not null, "period_start" timestamptz not null, "period_end" timestamptz not null, "effective_at" timestamptz not null, "settlement" text not null, "invoice_id" text null, "returned_amount" numeric not null default 0, primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_proration_environment_id_subscription_id_index" on "subscription_proration" ("environment_id", "subscription_id");`,
    );
    this.addSql(
      `create index "subscription_proration_line_item_index" on "subscription_proration" ("environment_id", "subscription_line_item_id");`,
    );
    this.addSql(
      `create unique index "subscription_proration_unique" on "subscription_proration" (environment_id, change_key, subscription_line_item_id, side);`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "subscription_proration" enable row level security`);
    this.addSql(
      `create policy "subscription_proration_scope" on "subscription_proration" using (${rule}) with check (${rule})`,
    );
  }
}
