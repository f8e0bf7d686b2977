import { Migration } from '@mikro-orm/migrations';

const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;

/** Payments that the banks of their payers take back. spec: README decision 39; design: money-in §5 */
export class Migration20261128_42_disputes extends Migration {
  override up(): void {
    this.addSql(
      `create table "dispute" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "payment_id" text not null, "payment_gateway" text not null, "gateway_dispute_id" text not null, "amount" numeric not null, "currency" text not null, "dispute_status" text not null, "reason" text null, "opened_at" timestamptz not null, "evidence_due_at" timestamptz null, "closed_at" timestamptz null, "refund_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "dispute_environment_id_payment_id_index" on "dispute" ("environment_id", "payment_id");`,
    );
    this.addSql(
      `alter table "dispute" add constraint "dispute_gateway_dispute_unique" unique ("environment_id", "payment_gateway", "gateway_dispute_id");`,
    );
    this.addSql('alter table "dispute" enable row level security');
    this.addSql(`create policy "dispute_scope" on "dispute" using (${rule}) with check (${rule})`);
  }
}
