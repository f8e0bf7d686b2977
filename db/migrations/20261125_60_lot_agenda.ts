import { Migration } from '@mikro-orm/migrations';

/**
 * The agendas of wallets: what holds a lot beyond its expiry belongs to its customer, who is asked for with each period, invoice
 * and payment. Lots that have an expiry already are put on the agendas of their wallets; `npm run reconcile` starts their workflows.
 * spec: wallets-and-payments §2.8
 */
export class Migration20261125_60_lot_agenda extends Migration {
  override up(): void {
    this.addSql(
      `create index "agenda_entry_lot_index" on "agenda_entry" ("environment_id", "customer_id") where "object_type" = 'wallet'`,
    );
    this.addSql(`
      insert into agenda_entry (environment_id, tenant_id, object_type, object_id, kind, ref, due_at, customer_id, test_clock_id)
      select t.environment_id, t.tenant_id, 'wallet', w.id, 'expireLot', t.id,
        greatest(t.expiry_date + interval '6 hours', coalesce(k.frozen_time, clock_timestamp())), w.customer_id, c.test_clock_id
      from wallet_transaction t join wallet w on w.id = t.wallet_id join customer c on c.id = w.customer_id
        left join test_clock k on k.id = c.test_clock_id
      where t.credits_available > 0 and t.expiry_date is not null and t.transaction_status = 'completed'
        and w.wallet_status = 'active' and w.status = 'published'`);
  }
}
