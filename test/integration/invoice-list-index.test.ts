import pg from 'pg';
import { expect, it } from 'vitest';
import { testDatabase } from '../support/database.ts';

const base = await testDatabase();

/** Each filter of the list in its default order, and the index a page of it is read by. */
const filters: [string, string, string][] = [
  ['no filter', '', 'created_at'],
  ['a rare status', "and invoice_status = 'SKIPPED'", 'invoice_list_by_status'],
  ['a rare payment status', "and payment_status = 'OVERPAID'", 'invoice_list_by_payment_status'],
  ['a customer', "and customer_id = 'c7'", 'customer_id'],
  ['a subscriber', "and subscription_customer_id = 'c7'", 'invoice_list_by_subscriber'],
  ['a subscription', "and subscription_id = 's7'", 'subscription_id'],
  ['a period that ends late', "and period_end >= '2028-05-10'", 'invoice_list_by_period_end'],
  ['ids', "and id = any('{i1,i2,i3}')", 'pkey'],
];

it('a page of a list reads an index of its filter and no table of all invoices', async () => {
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  try {
    await owner.query('begin');
    await owner.query(`insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id,
        subscription_id, subscription_customer_id, idempotency_key, invoice_type, invoice_status, payment_status, billing_reason,
        collection_method, currency, subtotal, total, amount_due, amount_remaining, period_start, period_end, metadata)
      select 'i' || n, 't', 'e', '2026-01-01'::timestamptz + n * interval '1 second', '', now(), '', 'c' || n % 2000, 's' || n % 2000,
        'c' || n % 2000, 'k' || n, 'SUBSCRIPTION', case when n % 2000 = 0 then 'SKIPPED' else 'DRAFT' end,
        case when n % 2000 = 1 then 'OVERPAID' else 'PENDING' end, 'SUBSCRIPTION_CYCLE', 'send_invoice', 'usd', 1, 1, 1, 1,
        '2026-01-01'::timestamptz + n * interval '1 hour', '2026-02-01'::timestamptz + n * interval '1 hour', '{}'
      from generate_series(1, 20000) n`);
    await owner.query('analyze invoice');
    for (const [name, filter, index] of filters) {
      const { rows } = await owner.query<Record<string, string>>(
        `explain select * from invoice where environment_id = 'e' and status in ('published') ${filter}
         order by created_at desc, id desc limit 50`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, name).toContain(index);
      expect(plan, name).not.toContain('Seq Scan');
    }
  } finally {
    await owner.query('rollback');
    await owner.end();
  }
});
