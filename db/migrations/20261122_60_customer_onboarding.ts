import { Migration } from '@mikro-orm/migrations';

/** What is done for a new customer, action by action. spec: platform §10.2 Onboarding */
export class Migration20261122_60_customer_onboarding extends Migration {
  override up(): void {
    this.addSql(
      `create table "customer_onboarding" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "customer_id" text not null, "workflow_name" text null, "actions" jsonb not null, "results" jsonb not null, "onboarding_status" text not null, "failure_reason" text null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "customer_onboarding" add constraint "customer_onboarding_environment_id_customer_id_unique" unique ("environment_id", "customer_id");`,
    );
    this.addSql(
      `create index "customer_onboarding_pending_index" on "customer_onboarding" (id) where onboarding_status = 'pending';`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "customer_onboarding" enable row level security`);
    this.addSql(
      `create policy "customer_onboarding_scope" on "customer_onboarding" using (${rule}) with check (${rule})`,
    );
  }
}
