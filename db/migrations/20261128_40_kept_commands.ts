import { Migration } from '@mikro-orm/migrations';

const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;

/**
 * One table for the contents of commands, in place of one for subscriptions and one for invoices, whose rows did not tell the name of
 * their command. design: architecture §3 Ids only
 */
export class Migration20261128_40_kept_commands extends Migration {
  override up(): void {
    this.addSql(
      `create table "kept_command" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "object_type" text not null, "object_id" text not null, "command" text not null, "content" text not null, "refusal" text null, "created_at" timestamptz not null, "created_by" text not null default '', primary key ("id"));`,
    );
    this.addSql(
      `create index "kept_command_environment_id_object_id_index" on "kept_command" ("environment_id", "object_id");`,
    );
    this.addSql(`alter table "kept_command" enable row level security`);
    this.addSql(`create policy "kept_command_scope" on "kept_command" using (${rule}) with check (${rule})`);
    for (const type of ['subscription', 'invoice']) {
      this.addSql(`insert into kept_command (id, tenant_id, environment_id, object_type, object_id, command, content, created_at, created_by)
        select id, tenant_id, environment_id, '${type}', ${type}_id, '', content::text, created_at, created_by from ${type}_command`);
      this.addSql(`drop table "${type}_command"`);
    }
  }
}
