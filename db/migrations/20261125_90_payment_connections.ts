import { Migration } from '@mikro-orm/migrations';

/** Payments and saved methods know their connection, and connections the provider's account. */
export class Migration20261125_90_payment_connections extends Migration {
  override up(): void {
    this.addSql(`alter table "payment" add column "connection_id" text null;`);
    this.addSql(`alter table "connection" add column "provider_account" text null;`);
    this.addSql(`alter table "payment_method" add column "connection_id" text null;`);
  }
}
