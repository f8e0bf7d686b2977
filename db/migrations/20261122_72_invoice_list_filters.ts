import { Migration } from '@mikro-orm/migrations';

/**
 * An index under every documented filter of invoice lists. Each ends with what lists are ordered by, or with a range, and
 * carries the record status, so that matches are counted without reading the invoices. spec: subscriptions-and-invoicing §1.11
 */
export class Migration20261122_72_invoice_list_filters extends Migration {
  override up(): void {
    for (const name of replaced) this.addSql(`drop index "${name}";`);
    for (const [name, columns] of indexes) {
      this.addSql(`create index "${name}" on "invoice" (${columns}) include ("status");`);
    }
  }
}

const replaced = [
  'invoice_list_by_status',
  'invoice_list_by_payment_status',
  'invoice_list_by_subscriber',
  'invoice_list_by_period_end',
];

const indexes = [
  ['invoice_list_by_status', '"environment_id", "invoice_status", "created_at", "id"'],
  ['invoice_list_by_payment_status', '"environment_id", "payment_status", "created_at", "id"'],
  ['invoice_list_by_subscriber', '"environment_id", "subscription_customer_id", "created_at", "id"'],
  ['invoice_list_by_type', '"environment_id", "invoice_type", "created_at", "id"'],
  ['invoice_list_by_reason', '"environment_id", "billing_reason", "created_at", "id"'],
  ['invoice_list_by_currency', '"environment_id", "currency", "created_at", "id"'],
  ['invoice_list_by_amount_due', '"environment_id", "amount_due"'],
  ['invoice_list_by_amount_remaining', '"environment_id", "amount_remaining"'],
  ['invoice_list_by_period_start', '"environment_id", "period_start"'],
  ['invoice_list_by_period_end', '"environment_id", "period_end"'],
] as const;
