import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Credits of changes that the next invoice uses. spec: README decision 50 */
export class Migration20261125_91_carried_credits extends Migration {
  override up(): void {
    this.addSql(
      `create table "carried_credit" (${record}, "subscription_id" text not null, "customer_id" text not null, "currency" text not null, "amount" numeric not null, "change_key" text null, "occurred_at" timestamptz not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "carried_credit_environment_id_subscription_id_index" on "carried_credit" ("environment_id", "subscription_id");`,
    );
    this.addSql(`create unique index "carried_credit_change_unique" on "carried_credit" (environment_id, change_key);`);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "carried_credit" enable row level security`);
    this.addSql(`create policy "carried_credit_scope" on "carried_credit" using (${rule}) with check (${rule})`);
    this.addSql(`alter table "invoice_line_item" add column "is_carried_credit" boolean not null default false;`);
    this.addSql(
      `create index "invoice_line_item_carried_credit_index" on "invoice_line_item" (environment_id, subscription_id) where is_carried_credit;`,
    );
  }
}
