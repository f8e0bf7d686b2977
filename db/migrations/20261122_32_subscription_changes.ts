import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Changes of subscriptions that were carried out. spec: subscriptions-and-invoicing §1.7–§1.9, §2.9 */
export class Migration20261122_32_subscription_changes extends Migration {
  override up(): void {
    this.addSql(
      `create table "subscription_change" (${record}, "subscription_id" text not null, "kind" text not null, "effective_at" timestamptz not null, "from_plan_id" text null, "to_plan_id" text null, "successor_subscription_id" text null, "attended" boolean not null default true, "outcome" jsonb not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_change_environment_id_subscription_id_index" on "subscription_change" ("environment_id", "subscription_id");`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "subscription_change" enable row level security`);
    this.addSql(
      `create policy "subscription_change_scope" on "subscription_change" using (${rule}) with check (${rule})`,
    );
  }
}
