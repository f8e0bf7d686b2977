import { Migration } from '@mikro-orm/migrations';

/** What objects are called at providers. spec: platform §14 */
export class Migration20261122_12_integration_mapping extends Migration {
  override up(): void {
    this.addSql(
      `create table "integration_mapping" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "entity_type" text not null, "entity_id" text not null, "provider_type" text not null, "provider_entity_id" text not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "integration_mapping_environment_id_created_at_id_index" on "integration_mapping" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "integration_mapping_unique" on "integration_mapping" (environment_id, entity_type, entity_id, provider_type) where status = 'published';`,
    );
    this.addSql(
      `create unique index "integration_mapping_provider_unique" on "integration_mapping" (environment_id, provider_type, provider_entity_id, entity_type) where status = 'published';`,
    );
    const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    this.addSql('alter table "integration_mapping" enable row level security');
    this.addSql(
      `create policy "integration_mapping_scope" on "integration_mapping" using (${rule}) with check (${rule})`,
    );
  }
}
