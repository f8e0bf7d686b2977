import { Migration } from '@mikro-orm/migrations';

/**
 * Publishable keys held the roles of their owner, often those of an administrator, although they are made to be seen by everybody.
 * They keep what their own role allows; the audit says of each what it held. spec: platform §7
 */
export class Migration20261125_02_publishable_keys extends Migration {
  override up(): void {
    this.addSql(`
      with mended as (
        select id, tenant_id, environment_id, display_id, user_id, roles from api_key
        where type = 'publishable_key' and roles <> '{publishable}' for update
      ), changed as (
        update api_key k set roles = '{publishable}', updated_at = now(), updated_by = 'migration'
        from mended m where k.id = m.id
      )
      insert into audit_entry (tenant_id, environment_id, object_type, object_id, action, actor, occurred_at, recorded_at, detail)
      select tenant_id, environment_id, 'api_key', id, 'roles reduced', 'migration', now(), now(),
             jsonb_build_object('display_id', display_id, 'user_id', user_id, 'roles_before', to_jsonb(roles))
      from mended`);
  }
}
