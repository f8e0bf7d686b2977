import { Migration } from '@mikro-orm/migrations';

/** What subscriptions and line items commit themselves to, and what invoice lines show of it. spec: subscriptions-and-invoicing §2.7 */
export class Migration20261122_23_commitments extends Migration {
  override up(): void {
    this.addSql(
      `alter table "subscription" add column "commitment_amount" numeric null, add column "commitment_duration" text null, add column "overage_factor" numeric not null default '1', add column "enable_true_up" boolean not null default false;`,
    );
    this.addSql(
      `alter table "subscription_line_item" add column "commitment_type" text null, add column "commitment_amount" numeric null, add column "commitment_quantity" numeric null, add column "commitment_overage_factor" numeric null, add column "commitment_duration" text null, add column "commitment_true_up_enabled" boolean not null default false, add column "commitment_windowed" boolean not null default false, add column "commitment_time_buckets" jsonb null;`,
    );
    this.addSql(`alter table "invoice_line_item" add column "commitment_info" jsonb null;`);
  }
}
