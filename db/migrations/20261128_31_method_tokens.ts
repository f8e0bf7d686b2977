import { Migration } from '@mikro-orm/migrations';

/** Sessions know the cards that a payer's browser had a provider keep on our own page. design: money-in-checkout §C moyasar */
export class Migration20261128_31_method_tokens extends Migration {
  override up(): void {
    this.addSql(`alter table "checkout_session" add column "method_tokens" text[] not null default '{}';`);
  }
}
