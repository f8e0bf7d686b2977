import { Migration } from '@mikro-orm/migrations';

/** From which plan a subscription's credit grant was copied, so that a change of plan ends it. spec: subscriptions-and-invoicing §2.9.1 */
export class Migration20261122_67_grant_origin extends Migration {
  override up(): void {
    this.addSql(`alter table "credit_grant" add column "origin_plan_id" text null`);
  }
}
