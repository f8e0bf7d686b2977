import { Migration } from '@mikro-orm/migrations';

/**
 * Bought credits that were taxed as they were bought are marked, and an invoice keeps what such credits paid of it, which is frozen with
 * its other amounts. design: money-in-wallets finding 6
 */
export class Migration20261128_29_taxed_credits extends Migration {
  override up(): void {
    this.addSql(`alter table "wallet_transaction" add column "is_taxed" boolean not null default false;`);
    this.addSql(`alter table "invoice" add column "taxed_credits_applied" numeric not null default 0;`);
    this.addSql(`create trigger invoice_taxed_credits_frozen before update on invoice for each row
      when (old.finalized_at is not null and new.taxed_credits_applied is distinct from old.taxed_credits_applied)
      execute function refuse_frozen()`);
  }
}
