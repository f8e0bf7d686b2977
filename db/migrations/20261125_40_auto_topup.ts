import { Migration } from '@mikro-orm/migrations';

/** Standing of automatic top-ups and their attempts, of which a wallet has one open at most. design: money-in §1 */
export class Migration20261125_40_auto_topup extends Migration {
  override up(): void {
    for (const text of [...tables, ...indexes]) this.addSql(text);
    for (const table of ['wallet_auto_topup', 'auto_topup_attempt']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
  }
}

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

const tables = [
  `create table "wallet_auto_topup" (${record}, "customer_id" text not null, "currency" text not null, "test_clock_id" text null, "state" text not null, "reason" text null, "until" timestamptz null, "pause" text null, "consecutive_declines" int not null default 0, "attempts" int not null default 0, "evaluate_at" timestamptz null, "evaluated_at" timestamptz null, "version" int not null default 1, primary key ("id"))`,
  `create table "auto_topup_attempt" (${record}, "wallet_id" text not null, "customer_id" text not null, "currency" text not null, "number" int not null, "opened_at" timestamptz not null, "credits" numeric not null, "amount" numeric not null, "card" text null, "purchase_id" text not null, "invoice_id" text null, "payment_id" text null, "ending" text null, "outcome" text null, "ended_at" timestamptz null, "decline_reason" text null, "decline_class" text null, "needs_action_since" timestamptz null, "late_capture" boolean not null default false, "asked_to_lapse_at" timestamptz null, "test_clock_id" text null, primary key ("id"))`,
];

const index = (table: string, ...columns: string[]) =>
  `create index "${table}_${columns.join('_')}_index" on "${table}" (${columns.map((name) => `"${name}"`).join(', ')})`;

const indexes = [
  index('wallet_auto_topup', 'environment_id', 'customer_id'),
  index('wallet_auto_topup', 'environment_id', 'state'),
  `alter table "auto_topup_attempt" add constraint "auto_topup_attempt_environment_id_wallet_id_number_unique" unique ("environment_id", "wallet_id", "number")`,
  `alter table "auto_topup_attempt" add constraint "auto_topup_attempt_environment_id_purchase_id_unique" unique ("environment_id", "purchase_id")`,
  `create unique index "auto_topup_attempt_open_unique" on "auto_topup_attempt" (environment_id, wallet_id) where outcome is null`,
  `create index "auto_topup_attempt_environment_id_customer_id_curr_88143_index" on "auto_topup_attempt" ("environment_id", "customer_id", "currency", "opened_at")`,
  index('auto_topup_attempt', 'environment_id', 'card', 'opened_at'),
  index('auto_topup_attempt', 'environment_id', 'payment_id'),
  index('auto_topup_attempt', 'environment_id', 'created_at', 'id'),
  `create index "agenda_entry_top_up_index" on "agenda_entry" ("due_at") where "object_type" = 'auto_top_up' and "test_clock_id" is null`,
];
