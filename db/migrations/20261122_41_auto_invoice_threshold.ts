import { Migration } from '@mikro-orm/migrations';

/** The threshold of plans, and how the intermediate invoices before an instant are found. spec: subscriptions-and-invoicing §2.14.1 */
export class Migration20261122_41_auto_invoice_threshold extends Migration {
  override up(): void {
    this.addSql('alter table "plan" add column "auto_invoice_threshold" numeric null');
    this.addSql(
      `create index "invoice_intermediate" on "invoice" ("environment_id", "subscription_id", "period_end") where "billing_reason" = 'AUTO_INVOICE_THRESHOLD'`,
    );
  }
}
