import { Migration } from '@mikro-orm/migrations';

/** What is asked of subscriptions in amounts and texts, which commands to workflows name by id. design: architecture §3 */
export class Migration20261122_61_subscription_commands extends Migration {
  override up(): void {
    this.addSql(
      `create table "subscription_command" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "subscription_id" text not null, "created_at" timestamptz not null, "created_by" text not null default '', "content" text not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_command_environment_id_subscription_id_index" on "subscription_command" ("environment_id", "subscription_id");`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "subscription_command" enable row level security`);
    this.addSql(
      `create policy "subscription_command_scope" on "subscription_command" using (${rule}) with check (${rule})`,
    );
  }
}
