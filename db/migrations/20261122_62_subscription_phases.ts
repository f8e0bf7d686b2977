import { Migration } from '@mikro-orm/migrations';

/** When a phase was left, and the coupons that apply while one runs. spec: subscriptions-and-invoicing §2.9.5, §2.17.1 */
export class Migration20261122_62_subscription_phases extends Migration {
  override up(): void {
    this.addSql(`alter table "subscription_phase" add column "ended_at" timestamptz null;`);
    this.addSql(`alter table "coupon_association" add column "subscription_phase_id" text null;`);
  }
}
