import { Migration } from '@mikro-orm/migrations';

const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;

/** Completed credits of each wallet and day in UTC, for percentages of the credits of a period. design: money-in-wallets finding 54 */
export class Migration20261128_30_wallet_credit_days extends Migration {
  override up(): void {
    this.addSql(
      `create table "wallet_credit_day" ("environment_id" text not null, "wallet_id" text not null, "day" date not null, "tenant_id" text not null, "credits" numeric not null, primary key ("environment_id", "wallet_id", "day"))`,
    );
    this.addSql(`insert into wallet_credit_day (environment_id, wallet_id, day, tenant_id, credits)
      select environment_id, wallet_id, (occurred_at at time zone 'UTC')::date, min(tenant_id), sum(credit_amount)
      from wallet_transaction where type = 'credit' and transaction_status = 'completed' group by 1, 2, 3`);
    this.addSql(`alter table "wallet_credit_day" enable row level security`);
    this.addSql(`create policy "wallet_credit_day_scope" on "wallet_credit_day" using (${rule}) with check (${rule})`);
    this.addSql(
      `create index "wallet_transaction_credit_index" on "wallet_transaction" (wallet_id, occurred_at) include (credit_amount) where type = 'credit' and transaction_status = 'completed'`,
    );
  }
}
