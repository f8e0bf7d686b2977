import pg from 'pg';
import { expect, it } from 'vitest';
import { applicationRole } from '../../db/prepare.ts';
import { testDatabase } from '../support/database.ts';

const base = await testDatabase();

/** Each documented filter of the list in its default order, and the index a page of it is read by. */
const filters: [name: string, condition: string, index: string][] = [
  ['no filter', '', 'created_at'],
  ['invoice_ids', "and id = any('{i1,i2,i3}')", 'pkey'],
  ['customer_id', "and customer_id = 'c7'", 'customer_id'],
  ['external_customer_id', "and customer_id in ('c7', 'c8')", 'customer_id'],
  ['subscription_customer_id', "and subscription_customer_id in ('c7')", 'invoice_list_by_subscriber'],
  ['subscription_id', "and subscription_id = 's7'", 'subscription_id'],
  ['invoice_type', "and invoice_type = 'ONE_OFF'", 'invoice_list_by_type'],
  ['invoice_status', "and invoice_status in ('SKIPPED')", 'invoice_list_by_status'],
  ['payment_status', "and payment_status in ('OVERPAID')", 'invoice_list_by_payment_status'],
  ['billing_reason', "and billing_reason = 'MANUAL'", 'invoice_list_by_reason'],
  ['currency', "and currency = 'eur'", 'invoice_list_by_currency'],
  ['amount_due_gt', 'and amount_due > 19990 and amount_due_rank > 1999000', 'invoice_list_by_amount_due'],
  [
    'amount_remaining_gt',
    'and amount_remaining > 19990 and amount_remaining_rank > 1999000',
    'invoice_list_by_amount_remaining',
  ],
  ['period_start_gte', "and period_start >= '2028-04-10'", 'invoice_list_by_period_start'],
  ['period_start_lte', "and period_start <= '2026-01-02'", 'invoice_list_by_period_start'],
  ['period_end_gte', "and period_end >= '2028-05-10'", 'invoice_list_by_period_end'],
  ['period_end_lte', "and period_end <= '2026-02-02'", 'invoice_list_by_period_end'],
  ['start_time', "and created_at >= '2026-01-01T05:33:00Z'", 'created_at'],
  ['end_time', "and created_at < '2026-01-01T00:00:30Z'", 'created_at'],
];

it('a page of a list reads an index of its filter and no table of all invoices', async () => {
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  try {
    await owner.query('begin');
    await owner.query(`insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id,
        subscription_id, subscription_customer_id, idempotency_key, invoice_type, invoice_status, payment_status, billing_reason,
        collection_method, currency, subtotal, total, amount_due, amount_remaining, period_start, period_end, metadata)
      select 'i' || n, 't', 'e', '2026-01-01'::timestamptz + n * interval '1 second', '', now(), '',
        'c' || n % 2000, 's' || n % 2000,
        'c' || n % 2000, 'k' || n, case when n % 2000 = 2 then 'ONE_OFF' else 'SUBSCRIPTION' end, case when n % 2000 = 0 then 'SKIPPED' else 'DRAFT' end,
        case when n % 2000 = 1 then 'OVERPAID' else 'PENDING' end, case when n % 2000 = 3 then 'MANUAL' else 'SUBSCRIPTION_CYCLE' end,
        'send_invoice', case when n % 2000 = 4 then 'eur' else 'usd' end, 1, 1, n, n,
        '2026-01-01'::timestamptz + n * interval '1 hour', '2026-02-01'::timestamptz + n * interval '1 hour', '{}'
      from generate_series(1, 20000) n`);
    await owner.query('analyze invoice');
    // As the application reads: behind row-level security, which keeps conditions that could leak away from indexes.
    await owner.query(`set local role ${applicationRole}; set local perennial.environment_id = 'e'`);
    for (const [name, filter, index] of filters) {
      const { rows } = await owner.query<Record<string, string>>(
        `explain select * from invoice where environment_id = 'e' and status in ('published') ${filter}
         order by created_at desc, id desc limit 50`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, name).toContain(index);
      expect(plan, name).not.toContain('Seq Scan');
      const counted = await owner.query<Record<string, string>>(
        `explain select count(*) from invoice where environment_id = 'e' and status in ('published') ${filter}`,
      );
      expect(counted.rows.map((row) => row['QUERY PLAN']).join('\n'), `count by ${name}`).toContain(
        filter === '' ? 'Scan' : 'Index',
      );
    }
  } finally {
    await owner.query('rollback');
    await owner.end();
  }
});
