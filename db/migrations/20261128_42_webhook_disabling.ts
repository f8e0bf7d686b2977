import { Migration } from '@mikro-orm/migrations';

/**
 * Reasons why an endpoint is disabled, how its receiver answered lately, and the place up to which events are left out.
 * design: people-and-events §B 19
 */
export class Migration20261128_42_webhook_disabling extends Migration {
  override up(): void {
    this.addSql(
      `alter table "webhook_endpoint" add column "disabled_reason" text null, add column "disabled_at" timestamptz null, add column "disabled_answer" text null, add column "disabled_failures" int null;`,
    );
    this.addSql(
      `update webhook_endpoint set disabled_reason = 'requested', disabled_at = updated_at where not enabled and status = 'published';`,
    );
    this.addSql(
      `alter table "webhook_cursor" add column "received_at" timestamptz null, add column "failed_at" timestamptz null, add column "failure" text null, add column "silent_since" timestamptz null, add column "failing_since" timestamptz null, add column "failures" int not null default 0, add column "dropped_position" bigint not null default 0;`,
    );
    this.addSql(`alter table "webhook_cursor" alter column "dropped_position" drop default;`);
  }
}
