import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/**
 * Runs that copy the catalogue of an environment into another, which concern both and are therefore visible to the whole
 * tenant; and from where a meter was copied, because meters have no metadata. spec: platform §9
 */
export class Migration20261122_94_environment_clone extends Migration {
  override up(): void {
    const counts = ['features', 'plans'].flatMap((noun) =>
      ['cloned', 'skipped', 'failed'].map((outcome) => `"${noun}_${outcome}" int not null default 0`),
    );
    this.addSql(
      `create table "environment_clone" (${record}, "source_environment_id" text not null, "clone_status" text not null default 'running', "entity_type" text not null default 'feature', "after_id" text not null default '', ${counts.join(', ')}, "errors" jsonb not null default '[]', "finished_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `create index "environment_clone_source_environment_id_created_at_id_index" on "environment_clone" ("source_environment_id", "created_at", "id")`,
    );
    this.addSql(
      `create unique index "environment_clone_running_unique" on "environment_clone" (environment_id, source_environment_id) where clone_status = 'running'`,
    );
    const rule = `current_setting('perennial.tenant_id', true) in ("tenant_id", '*')`;
    this.addSql(`alter table "environment_clone" enable row level security`);
    this.addSql(`create policy "environment_clone_scope" on "environment_clone" using (${rule}) with check (${rule})`);
    this.addSql(`alter table "meter" add column "source_environment_meter_id" text null`);
  }
}
