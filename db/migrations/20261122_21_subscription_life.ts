import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Pauses, phases, and one pending schedule of a kind. spec: subscriptions-and-invoicing §2.9.4, §2.9.5, §2.11 */
export class Migration20261122_21_subscription_life extends Migration {
  override up(): void {
    this.addSql(
      `create table "subscription_pause" (${record}, "subscription_id" text not null, "pause_start" timestamptz not null, "pause_end" timestamptz null, "pause_mode" text not null, "pause_status" text not null, "resume_mode" text not null, "resumed_at" timestamptz null, "original_period_start" timestamptz not null, "original_period_end" timestamptz not null, "reason" text not null default '', "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_pause_environment_id_subscription_id_index" on "subscription_pause" ("environment_id", "subscription_id");`,
    );
    this.addSql(
      `create unique index "subscription_pause_active_unique" on "subscription_pause" (environment_id, subscription_id) where pause_status = 'active';`,
    );
    this.addSql(
      `create table "subscription_phase" (${record}, "subscription_id" text not null, "start_date" timestamptz not null, "end_date" timestamptz null, "started_at" timestamptz null, "terms" jsonb not null default '{}', "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create unique index "subscription_phase_start_unique" on "subscription_phase" (environment_id, subscription_id, start_date) where status = 'published';`,
    );
    this.addSql(`alter table "subscription_line_item" add column "subscription_phase_id" text null;`);
    this.addSql(
      `create unique index "subscription_schedule_pending_unique" on "subscription_schedule" (environment_id, subscription_id, schedule_type) where schedule_status = 'pending';`,
    );
    for (const table of ['subscription_pause', 'subscription_phase']) this.protect(table);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
