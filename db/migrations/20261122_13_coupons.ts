import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Coupons, who redeemed them, and what they took off invoices. spec: subscriptions-and-invoicing §1.14, §2.17 */
export class Migration20261122_13_coupons extends Migration {
  override up(): void {
    this.addSql(
      `create table "coupon" (${record}, "name" text not null, "coupon_code" text not null, "type" text not null, "cadence" text not null, "amount_off" numeric null, "percentage_off" numeric null, "currency" text null, "duration_in_periods" int null, "max_redemptions" int null, "total_redemptions" int not null default 0, "redeem_after" timestamptz null, "redeem_before" timestamptz null, "rules" jsonb null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "coupon_environment_id_created_at_id_index" on "coupon" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "coupon_code_unique" on "coupon" (environment_id, lower(coupon_code)) where status = 'published';`,
    );
    this.addSql(
      `create table "coupon_association" (${record}, "coupon_id" text not null, "subscription_id" text not null, "subscription_line_item_id" text null, "start_date" timestamptz not null, "end_date" timestamptz null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "coupon_association_environment_id_created_at_id_index" on "coupon_association" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "coupon_association_environment_id_subscription_id_index" on "coupon_association" ("environment_id", "subscription_id");`,
    );
    this.addSql(
      `create index "coupon_association_environment_id_coupon_id_index" on "coupon_association" ("environment_id", "coupon_id");`,
    );
    this.addSql(
      `create table "coupon_application" (${record}, "coupon_id" text not null, "coupon_association_id" text not null, "invoice_id" text not null, "invoice_line_item_id" text null, "subscription_id" text null, "position" int not null, "discount_type" text not null, "discount_percentage" numeric null, "original_price" numeric not null, "discounted_amount" numeric not null, "final_price" numeric not null, "currency" text not null, "applied_at" timestamptz not null, "coupon_snapshot" jsonb not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "coupon_application_environment_id_coupon_association_id_index" on "coupon_application" ("environment_id", "coupon_association_id");`,
    );
    this.addSql(
      `create unique index "coupon_application_unique" on "coupon_application" (environment_id, invoice_id, position);`,
    );
    for (const table of ['coupon', 'coupon_association', 'coupon_application']) this.protect(table);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
