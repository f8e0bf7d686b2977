import { Migration } from '@mikro-orm/migrations';

/** Money that came late, twice or not as asked, and one payment for each charge of a gateway. */
export class Migration20261125_81_unapplied_captures extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "unapplied" boolean not null default false;`);
    this.addSql(`alter table "payment" add column "duplicate_of" text null;`);
    this.addSql(
      `create unique index "payment_gateway_charge_unique" on "payment" (environment_id, payment_gateway, gateway_payment_id) where payment_gateway is not null and gateway_payment_id is not null;`,
    );
  }
}
