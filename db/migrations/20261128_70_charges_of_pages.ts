import { Migration } from '@mikro-orm/migrations';

/** The key by which a payment is found whose charge is named by its page and itself, when its provider names the charge alone. docs: nomod.md */
export class Migration20261128_70_charges_of_pages extends Migration {
  override up(): void {
    this.addSql(
      `create index "payment_charge_of_page_index" on "payment" (environment_id, payment_gateway, nullif(split_part(gateway_payment_id, '/', 2), '')) where nullif(split_part(gateway_payment_id, '/', 2), '') is not null;`,
    );
  }
}
