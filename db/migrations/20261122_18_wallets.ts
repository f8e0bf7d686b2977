import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Wallets and their ledger. spec: wallets-and-payments §1.1, §2.3 */
export class Migration20261122_18_wallets extends Migration {
  override up(): void {
    this.addSql(
      `create table "wallet" (${record}, "customer_id" text not null, "name" text not null, "description" text null, "currency" text not null, "wallet_status" text not null, "wallet_type" text not null, "balance" numeric not null, "credit_balance" numeric not null, "conversion_rate" numeric not null, "topup_conversion_rate" numeric not null, "allowed_price_types" jsonb not null, "auto_topup" jsonb null, "alert_settings" jsonb null, "alert_state" text not null default 'ok', "metadata" jsonb not null default '{}', "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `create index "wallet_environment_id_created_at_id_index" on "wallet" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "wallet_live_unique" on "wallet" (environment_id, customer_id, currency, wallet_type) where wallet_status <> 'closed' and status = 'published';`,
    );
    this.addSql(
      `create table "wallet_transaction" (${record}, "wallet_id" text not null, "customer_id" text not null, "currency" text not null, "position" int not null, "type" text not null, "credit_amount" numeric not null, "amount" numeric not null, "credit_balance_before" numeric not null, "credit_balance_after" numeric not null, "transaction_status" text not null, "transaction_reason" text not null, "reference_type" text not null, "reference_id" text not null, "credits_available" numeric not null, "expiry_date" timestamptz null, "priority" int null, "parent_transaction_id" text null, "conversion_rate" numeric null, "topup_conversion_rate" numeric null, "idempotency_key" text not null, "description" text not null, "consumed_lots" jsonb null, "occurred_at" timestamptz not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "wallet_transaction_environment_id_created_at_id_index" on "wallet_transaction" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "wallet_transaction_environment_id_reference_id_index" on "wallet_transaction" ("environment_id", "reference_id");`,
    );
    this.addSql(
      `create unique index "wallet_transaction_key_unique" on "wallet_transaction" (environment_id, idempotency_key) where transaction_status <> 'failed';`,
    );
    this.addSql(
      `alter table "wallet_transaction" add constraint "wallet_transaction_wallet_id_position_unique" unique ("wallet_id", "position");`,
    );
    this.addSql(
      `create index "wallet_transaction_open_lot_index" on "wallet_transaction" (wallet_id) where credits_available > 0;`,
    );
    for (const table of ['wallet', 'wallet_transaction']) this.protect(table);
  }

  private protect(table: string): void {
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
  }
}
