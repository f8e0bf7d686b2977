import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

const indexes: readonly [table: string, ...columns: string[]][] = [
  ['credit_note', 'created_at', 'id'],
  ['credit_note', 'invoice_id'],
  ['credit_note', 'customer_id'],
  ['credit_note_line_item', 'credit_note_id'],
  ['credit_note_line_item', 'invoice_line_item_id'],
  ['refund', 'created_at', 'id'],
  ['refund', 'payment_id'],
  ['refund', 'invoice_id'],
  ['refund', 'credit_note_id'],
];

/** Credit notes, their lines, and the refunds they bring. spec: subscriptions-and-invoicing §1.12, §2.19, §2.20 */
export class Migration20261122_25_credit_notes extends Migration {
  override up(): void {
    this.addSql(
      `create table "credit_note" (${record}, "credit_note_number" text not null, "idempotency_key" text not null, "customer_id" text not null, "invoice_id" text not null, "subscription_id" text null, "subscription_customer_id" text null, "currency" text not null, "credit_note_status" text not null, "credit_note_type" text not null, "reason" text not null, "memo" text not null default '', "total_amount" numeric not null, "finalized_at" timestamptz null, "voided_at" timestamptz null, "metadata" jsonb not null default '{}', "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "credit_note_number_unique" on "credit_note" (environment_id, credit_note_number);`,
    );
    this.addSql(
      `create unique index "credit_note_idempotency_key_unique" on "credit_note" (environment_id, idempotency_key) where credit_note_status <> 'VOIDED';`,
    );
    this.addSql(
      `create table "credit_note_line_item" (${record}, "credit_note_id" text not null, "invoice_line_item_id" text not null, "position" int not null, "display_name" text not null, "amount" numeric not null, "currency" text not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create table "refund" (${record}, "payment_id" text null, "invoice_id" text not null, "credit_note_id" text null, "customer_id" text not null, "payment_gateway" text null, "gateway_refund_id" text null, "gateway_tracking_id" text null, "amount" numeric not null, "settled_amount" numeric null, "currency" text not null, "refund_status" text not null, "refund_reason" text not null, "refund_target" text not null, "refund_destination" text not null, "attempt" int not null default 0, "idempotency_key" text not null, "failure_reason" text null, "initiated_at" timestamptz null, "sent_at" timestamptz null, "succeeded_at" timestamptz null, "failed_at" timestamptz null, "cancelled_at" timestamptz null, "metadata" jsonb not null default '{}', "test_clock_id" text null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `alter table "refund" add constraint "refund_environment_id_idempotency_key_unique" unique ("environment_id", "idempotency_key");`,
    );
    for (const [table, ...columns] of indexes) this.index(table, ['environment_id', ...columns]);
    for (const table of ['credit_note', 'credit_note_line_item', 'refund']) this.protect(table);
  }

  private index(table: string, columns: readonly string[]): void {
    const named = columns.map((column) => `"${column}"`).join(', ');
    this.addSql(`create index "${table}_${columns.join('_')}_index" on "${table}" (${named});`);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
