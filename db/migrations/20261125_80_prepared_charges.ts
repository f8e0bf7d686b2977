import { Migration } from '@mikro-orm/migrations';

/** Charges that are prepared before they are confirmed, and refunds that know when they were first asked for. */
export class Migration20261125_80_prepared_charges extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "provider_object_id" text null;`);
    this.addSql(`alter table "opening_charge" add column "provider_object_id" text null;`);
    this.addSql(`alter table "payment_method" add column "customer_token" text null;`);
    this.addSql(`alter table "refund" add column "requested_at" timestamptz null;`);
    // Refunds that are under way were asked for before this was written down.
    this.addSql(`update "refund" set requested_at = updated_at where refund_status = 'PROCESSING';`);
  }
}
