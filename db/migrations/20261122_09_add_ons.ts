import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/**
 * Add-ons and their attachments to subscriptions. What a change of a subscription charges at once is a ONE_OFF invoice, and
 * two changes may fall on one instant, so one live invoice per period and reason holds for SUBSCRIPTION invoices.
 */
export class Migration20261122_09_add_ons extends Migration {
  override up(): void {
    this.addSql(
      `create table "addon" (${record}, "name" text not null, "description" text not null default '', "lookup_key" text not null, "type" text not null default 'multiple_instance', "metadata" jsonb not null default '{}', primary key ("id"))`,
    );
    this.addSql(
      `create index "addon_environment_id_created_at_id_index" on "addon" ("environment_id", "created_at", "id")`,
    );
    this.addSql(
      `create unique index "addon_lookup_key_unique" on "addon" (environment_id, lookup_key) where status = 'published'`,
    );
    this.addSql(
      `create table "addon_association" (${record}, "addon_id" text not null, "entity_type" text not null default 'subscription', "entity_id" text not null, "addon_status" text not null, "cadence" text not null, "quantity" int not null default 1, "start_date" timestamptz not null, "end_date" timestamptz null, "cancelled_at" timestamptz null, "cancellation_reason" text not null default '', "invoice_id" text null, "metadata" jsonb not null default '{}', primary key ("id"))`,
    );
    this.addSql(
      `create index "addon_association_environment_id_addon_id_index" on "addon_association" ("environment_id", "addon_id")`,
    );
    this.addSql(
      `create index "addon_association_environment_id_entity_id_index" on "addon_association" ("environment_id", "entity_id")`,
    );
    this.addSql('alter table "subscription_line_item" add column "addon_association_id" text null');
    this.addSql('drop index "invoice_period_unique"');
    this.addSql(
      `create unique index "invoice_period_unique" on "invoice" (environment_id, subscription_id, period_start, period_end, billing_reason) where invoice_status <> 'VOIDED' and subscription_id is not null and invoice_type = 'SUBSCRIPTION'`,
    );
    for (const table of ['addon', 'addon_association']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
  }
}
