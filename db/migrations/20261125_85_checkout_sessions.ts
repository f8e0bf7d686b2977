import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Checkout sessions, and which session an invoice or payment waits for. spec: wallets-and-payments §1.4, §2.17, §2.18 */
export class Migration20261125_85_checkout_sessions extends Migration {
  override up(): void {
    this.addSql(
      `create table "checkout_session" (${record}, "idempotency_key" text not null, "token_hash" text not null, "page_token" text null, "base_url" text not null, "customer_id" text not null, "action" text not null, "checkout_status" text not null default 'initiated', "configuration" jsonb not null default '{}', "payment_provider" text not null, "provider_config" jsonb not null default '{}', "amount" numeric not null, "currency" text not null, "checkout_invoice_id" text null, "checkout_payment_id" text null, "wallet_id" text null, "subscription_id" text null, "purchase_id" text null, "provider_session_id" text null, "provider_url" text null, "provider_expires_at" timestamptz null, "link_state" text not null default 'none', "result" jsonb null, "success_url" text null, "failure_url" text null, "cancel_url" text null, "failure_reason" text null, "failure_message" text null, "opened_at" timestamptz not null, "expires_at" timestamptz not null, "asked_at" timestamptz null, "answered_at" timestamptz null, "completion_failed_at" timestamptz null, "ended_at" timestamptz null, "completed_at" timestamptz null, "cancelled_at" timestamptz null, "metadata" jsonb not null default '{}', "test_clock_id" text null, "version" int not null default 1, primary key ("id"));`,
    );
    const active = `where checkout_status in ('initiated', 'pending') and status = 'published'`;
    const unique = (name: string, columns: string, more = '') =>
      this.addSql(
        `create unique index "checkout_session_${name}_unique" on "checkout_session" (environment_id, ${columns}) ${active}${more};`,
      );
    unique('key', 'idempotency_key');
    unique('wallet', 'wallet_id', ' and wallet_id is not null');
    unique('subscription', 'subscription_id', ' and subscription_id is not null');
    unique('invoice', 'checkout_invoice_id', ' and checkout_invoice_id is not null');
    this.addSql(`create unique index "checkout_session_token_hash_unique" on "checkout_session" ("token_hash");`);
    this.addSql(
      `create index "checkout_session_environment_id_created_at_id_index" on "checkout_session" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "checkout_session_environment_id_customer_id_index" on "checkout_session" ("environment_id", "customer_id");`,
    );
    this.addSql(
      `create index "checkout_session_environment_id_checkout_invoice_id_index" on "checkout_session" ("environment_id", "checkout_invoice_id");`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "checkout_session" enable row level security`);
    this.addSql(`create policy "checkout_session_scope" on "checkout_session" using (${rule}) with check (${rule})`);
    for (const table of ['invoice', 'payment']) {
      this.addSql(`alter table "${table}" add column "checkout_session_id" text null`);
    }
  }
}
