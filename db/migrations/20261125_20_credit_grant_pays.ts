import { Migration } from '@mikro-orm/migrations';

/**
 * Columns for the invoices that credits of a grant pay, and for the instant from which a lot does: those of a grant that is to pay only from its grant on pay no
 * period that had ended by then. Grants and lots that exist pay any open invoice, as they did.
 * spec: wallets-and-payments §2.4, §2.15, README decision 49
 */
export class Migration20261125_20_credit_grant_pays extends Migration {
  override up(): void {
    this.addSql(`alter table "credit_grant" add column "pays" text not null default 'any_open_invoice'`);
    this.addSql(`alter table "wallet_transaction" add column "pays_from" timestamptz null`);
  }
}
