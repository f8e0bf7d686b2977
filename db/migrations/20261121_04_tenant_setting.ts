import { Migration } from '@mikro-orm/migrations';

/**
 * A setting of the whole tenant is kept under the tenant's id in place of an environment's; every environment of the
 * tenant sees it. spec: platform §12
 */
export class Migration20261121_04_tenant_setting extends Migration {
  override up(): void {
    const rule = `current_setting('perennial.environment_id', true) in (environment_id, '*')
      or (environment_id = tenant_id and current_setting('perennial.tenant_id', true) = tenant_id)`;
    this.addSql('drop policy setting_scope on setting');
    this.addSql(`create policy setting_scope on setting using (${rule}) with check (${rule})`);
  }
}
