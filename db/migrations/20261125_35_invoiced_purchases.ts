import { Migration } from '@mikro-orm/migrations';

/** The invoice of a purchase of credits names it. spec: wallets-and-payments §2.6 */
export class Migration20261125_35_invoiced_purchases extends Migration {
  override up(): void {
    this.addSql(`alter table "invoice" add column "purchase_id" text null`);
    this.addSql(
      `create unique index "invoice_purchase_unique" on "invoice" (environment_id, purchase_id) where purchase_id is not null;`,
    );
    this.addSql(
      `create index "wallet_transaction_pending_index" on "wallet_transaction" (wallet_id) where transaction_status = 'pending';`,
    );
    this.addSql(
      `create index "wallet_transaction_bonus_index" on "wallet_transaction" (parent_transaction_id) where parent_transaction_id is not null;`,
    );
  }
}
