import { Migration } from '@mikro-orm/migrations';

/** What is being charged for subscriptions that exist only once it is paid. spec: subscriptions-and-invoicing §2.3.4 */
export class Migration20261122_66_opening_charge extends Migration {
  override up(): void {
    this.addSql(
      `create table "opening_charge" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "subscription_id" text not null, "customer_id" text not null, "created_at" timestamptz not null, "created_by" text not null default '', "at" timestamptz not null, "payment_method_id" text not null, "payment_gateway" text not null, "intent_token" text not null, "amount" numeric not null, "currency" text not null, "charge_status" text not null default 'open', "test_clock_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "opening_charge_open_unique" on "opening_charge" ("environment_id", "subscription_id") where "charge_status" = 'open'`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "opening_charge" enable row level security`);
    this.addSql(`create policy "opening_charge_scope" on "opening_charge" using (${rule}) with check (${rule})`);
  }
}
