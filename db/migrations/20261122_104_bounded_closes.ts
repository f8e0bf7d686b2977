import { Migration } from '@mikro-orm/migrations';

/**
 * What a close reads of a subscription's past is found by an index that the past does not fill: the invoices that are open, those
 * that are void by what they billed, and the lines of an item by the end of the time they bill. spec: subscriptions-and-invoicing §2.5.1
 */
export class Migration20261122_104_bounded_closes extends Migration {
  override up(): void {
    this.addSql(
      `create index "invoice_open" on "invoice" ("environment_id", "subscription_id") where "invoice_status" in ('DRAFT', 'FINALIZED') and ("invoice_status" = 'DRAFT' or "amount_remaining" > 0)`,
    );
    this.addSql(
      `create index "invoice_voided_by_key" on "invoice" ("environment_id", "idempotency_key") where "invoice_status" = 'VOIDED'`,
    );
    this.addSql('drop index "invoice_line_item_environment_id_subscription_line_1185d_index"');
    this.addSql(
      'create index "invoice_line_item_environment_id_subscription_line_7df3b_index" on "invoice_line_item" ("environment_id", "subscription_line_item_id", "period_end")',
    );
  }
}
