import { Migration } from '@mikro-orm/migrations';

/**
 * Runs of price syncs, and an index by which a run walks through the subscriptions of its plan without sorting them again
 * for every step. spec: catalogue-and-metering §3.1
 */
export class Migration20261122_08_price_sync extends Migration {
  override up(): void {
    this.addSql(
      `create table "price_sync" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "plan_id" text not null, "sync_status" text not null default 'running', "target_sequence" bigint not null, "after_subscription_id" text not null default '', "subscriptions_found" int not null default 0, "subscriptions_synced" int not null default 0, "line_items_found_for_creation" int not null default 0, "line_items_created" int not null default 0, "line_items_terminated" int not null default 0, "subscriptions_failed" int not null default 0, "failures" jsonb not null default '[]', "finished_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `create index "price_sync_environment_id_plan_id_created_at_id_index" on "price_sync" ("environment_id", "plan_id", "created_at", "id")`,
    );
    this.addSql(
      `create unique index "price_sync_running_unique" on "price_sync" (environment_id, plan_id) where sync_status = 'running'`,
    );
    this.addSql('alter table "price_sync" enable row level security');
    const rule = `current_setting('perennial.environment_id', true) in (environment_id, '*')`;
    this.addSql(`create policy "price_sync_scope" on "price_sync" using (${rule}) with check (${rule})`);
    this.addSql('drop index "subscription_environment_id_plan_id_index"');
    this.addSql(
      'create index "subscription_environment_id_plan_id_id_index" on "subscription" ("environment_id", "plan_id", "id")',
    );
  }
}
