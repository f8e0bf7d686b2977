import { Migration } from '@mikro-orm/migrations';

/**
 * What is asked of invoices in amounts and texts, which commands to workflows name by id; and the indexes under the filters and
 * the order of invoice lists. spec: subscriptions-and-invoicing §1.11; design: architecture §3
 */
export class Migration20261122_44_invoice_commands extends Migration {
  override up(): void {
    this.addSql(
      `create table "invoice_command" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "invoice_id" text not null, "created_at" timestamptz not null, "created_by" text not null default '', "content" jsonb not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "invoice_command_environment_id_invoice_id_index" on "invoice_command" ("environment_id", "invoice_id");`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "invoice_command" enable row level security`);
    this.addSql(`create policy "invoice_command_scope" on "invoice_command" using (${rule}) with check (${rule})`);
    for (const [name, columns] of listIndexes) this.addSql(`create index "${name}" on "invoice" (${columns});`);
  }
}

/** Each begins with the environment and ends with what lists are ordered by, so that a page is read and no more. */
const listIndexes = [
  ['invoice_list_by_status', 'environment_id, invoice_status, created_at, id'],
  ['invoice_list_by_payment_status', 'environment_id, payment_status, created_at, id'],
  ['invoice_list_by_subscriber', 'environment_id, subscription_customer_id, created_at, id'],
  ['invoice_list_by_period_end', 'environment_id, period_end'],
] as const;
