import { Migration } from '@mikro-orm/migrations';

/** Grant configurations of entitlements, and the budgets that usage opened by them. spec: catalogue-and-metering §9 */
export class Migration20261122_19_entitlement_grants extends Migration {
  override up(): void {
    this.addSql(
      'alter table "entitlement" add column "grant_measure" text null, add column "grant_quota" numeric null, add column "grant_duration_unit" text null, add column "grant_duration_value" int null, add column "grant_allocation_behavior" text null;',
    );
    this.addSql(
      `create table "entitlement_grant" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "entitlement_config_id" text not null, "customer_id" text not null, "subscription_id" text not null, "feature_id" text not null, "measure" text not null, "quota" numeric not null, "valid_from" timestamptz not null, "valid_to" timestamptz not null, "usage" numeric not null, "overage" numeric not null, "grant_status" text not null, "quota_crossed_at" timestamptz null, "exhaustion_reported_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      'create unique index "entitlement_grant_window_unique" on "entitlement_grant" (environment_id, entitlement_config_id, customer_id, subscription_id, valid_from);',
    );
    this.addSql(
      'create index "entitlement_grant_subscription_index" on "entitlement_grant" ("environment_id", "subscription_id", "valid_from");',
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql('alter table "entitlement_grant" enable row level security');
    this.addSql(`create policy "entitlement_grant_scope" on "entitlement_grant" using (${rule}) with check (${rule})`);
  }
}
