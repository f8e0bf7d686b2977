import { Migration } from '@mikro-orm/migrations';

/** Notes that people keep on an endpoint. design: people-and-events §D */
export class Migration20261128_45_webhook_metadata extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_endpoint" add column "metadata" jsonb not null default '{}';`);
  }
}
