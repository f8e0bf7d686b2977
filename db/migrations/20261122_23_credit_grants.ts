import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Credits that subscriptions get, and what became of each period. spec: wallets-and-payments §1.2, §2.15 */
export class Migration20261122_23_credit_grants extends Migration {
  override up(): void {
    this.addSql(
      `create table "credit_grant" (${record}, "name" text not null, "scope" text not null, "plan_id" text null, "addon_id" text null, "subscription_id" text null, "addon_association_id" text null, "cadence" text not null, "credits" numeric not null, "conversion_rate" numeric null, "topup_conversion_rate" numeric null, "period" text null, "period_count" int null, "credit_grant_anchor" timestamptz null, "start_date" timestamptz null, "end_date" timestamptz null, "expiration_type" text not null, "expiration_duration" int null, "expiration_duration_unit" text null, "priority" int null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create table "credit_grant_application" (${record}, "credit_grant_id" text not null, "subscription_id" text not null, "scheduled_for" timestamptz not null, "applied_at" timestamptz null, "period_start" timestamptz not null, "period_end" timestamptz null, "application_status" text not null, "application_reason" text not null, "subscription_status_at_application" text null, "credits" numeric not null, "retry_count" int not null default 0, "failure_reason" text null, "idempotency_key" text not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    const index = (table: string, ...columns: string[]) =>
      this.addSql(
        `create index "${table}_${columns.join('_')}_index" on "${table}" (${columns.map((column) => `"${column}"`).join(', ')});`,
      );
    index('credit_grant', 'environment_id', 'created_at', 'id');
    index('credit_grant', 'environment_id', 'plan_id');
    index('credit_grant', 'environment_id', 'addon_id');
    index('credit_grant', 'environment_id', 'subscription_id');
    this.addSql(
      `alter table "credit_grant_application" add constraint "credit_grant_application_key_unique" unique ("environment_id", "idempotency_key");`,
    );
    index('credit_grant_application', 'environment_id', 'subscription_id');
    index('credit_grant_application', 'environment_id', 'credit_grant_id');
    for (const table of ['credit_grant', 'credit_grant_application']) this.protect(table);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
