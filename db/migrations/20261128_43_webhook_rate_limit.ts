import { Migration } from '@mikro-orm/migrations';

/** Requests that begin at an endpoint within a second at most. spec: platform §17.4 */
export class Migration20261128_43_webhook_rate_limit extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_endpoint" add column "rate_limit" int null;`);
  }
}
