import { Migration } from '@mikro-orm/migrations';

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

/** Imports of files. spec: platform §18 */
export class Migration20261122_17_event_import extends Migration {
  override up(): void {
    this.addSql(
      `create table "task" (${record}, "task_type" text not null, "entity_type" text not null, "file_url" text not null, "file_name" text null, "file_type" text not null, "file_sha256" text null, "task_status" text not null default 'PENDING', "total_records" int null, "processed_records" int not null default 0, "successful_records" int not null default 0, "failed_records" int not null default 0, "row_errors" jsonb not null, "failure_reason" text null, "metadata" jsonb null, "workflow_id" text not null, "run_id" text null, "started_at" timestamptz null, "completed_at" timestamptz null, "failed_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `create index "task_environment_id_created_at_id_index" on "task" ("environment_id", "created_at", "id")`,
    );
    this.addSql(`create index "task_environment_id_workflow_id_index" on "task" ("environment_id", "workflow_id")`);
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql(`alter table "task" enable row level security`);
    this.addSql(`create policy "task_scope" on "task" using (${rule}) with check (${rule})`);
  }
}
