import { Migration } from '@mikro-orm/migrations';

const environmentTables = [
  'agenda_entry',
  'api_key',
  'audit_entry',
  'customer',
  'entitlement',
  'feature',
  'idempotent_request',
  'invoice',
  'invoice_line_item',
  'invoice_number_sequence',
  'meter',
  'outbox_event',
  'outbox_sequence',
  'parked_object',
  'payment',
  'payment_attempt',
  'payment_method',
  'plan',
  'price',
  'setting',
  'subscription',
  'subscription_line_item',
  'subscription_schedule',
  'test_clock',
];
const tenantTables = [
  { table: 'environment', column: 'tenant_id' },
  { table: 'user_account', column: 'tenant_id' },
  { table: 'tenant', column: 'id' },
];

/**
 * The second wall of tenancy: a row is visible only to a transaction that named its environment (or, for the tables of
 * a tenant, its tenant) with `set_config`; `*` is the scope of work that crosses environments. A transaction that named
 * nothing sees nothing. The application role owns no table, so no policy is bypassed. design: architecture §6
 */
export class Migration20261121_03_row_level_security extends Migration {
  override up(): void {
    for (const table of environmentTables) this.protect(table, 'environment_id', 'perennial.environment_id');
    for (const { table, column } of tenantTables) this.protect(table, column, 'perennial.tenant_id');
  }

  private protect(table: string, column: string, setting: string): void {
    this.addSql(`alter table "${table}" enable row level security`);
    this.addSql(
      `create policy "${table}_scope" on "${table}" using (current_setting('${setting}', true) in ("${column}", '*')) with check (current_setting('${setting}', true) in ("${column}", '*'))`,
    );
  }
}
