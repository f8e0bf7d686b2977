import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceFiltersOf, invoiceListQuery } from '../../../api/invoice/invoice-query.schema.ts';
import { toListQuery } from '../../../api/list.ts';
import { applicationRole } from '../../../db/prepare.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { totalOfInvoices } from '../../../services/invoice/read/invoice-count.ts';
import { testDatabase } from '../../support/database.ts';

const base = await testDatabase();
const owner = new pg.Client({ connectionString: base.ownerUrl });

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

const fillText = `insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id,
    subscription_id, subscription_customer_id, idempotency_key, invoice_type, invoice_status, payment_status, billing_reason,
    collection_method, currency, subtotal, total, amount_due, amount_remaining, period_start, period_end, metadata)
  select 'i' || n, 't', 'e', '2026-01-01'::timestamptz + n * interval '1 second', '', now(), '',
    'c' || n % 2000, 's' || n % 2000,
    'c' || n % 2000, 'k' || n, case when n % 2000 = 2 then 'ONE_OFF' else 'SUBSCRIPTION' end, case when n % 2000 = 0 then 'SKIPPED' else 'DRAFT' end,
    case when n % 2000 = 1 then 'OVERPAID' else 'PENDING' end, case when n % 2000 = 3 then 'MANUAL' else 'SUBSCRIPTION_CYCLE' end,
    'send_invoice', case when n % 2000 = 4 then 'eur' else 'usd' end, 1, 1, n, n,
    '2026-01-01'::timestamptz + n * interval '1 hour', '2026-02-01'::timestamptz + n * interval '1 hour', '{}'
  from generate_series(1, 20000) n`;

beforeAll(async () => {
  await owner.connect();
  await owner.query('begin');
  await owner.query(fillText);
  await owner.query('analyze invoice, invoice_count, invoice_count_change');
  // As the application reads: behind row-level security, which keeps conditions that could leak away from indexes.
  await owner.query(`set local role ${applicationRole}; set local perennial.environment_id = 'e'`);
});

afterAll(async () => {
  await owner.query('rollback');
  await owner.end();
});

async function planOf(text: string, values: readonly unknown[] = []): Promise<string> {
  const { rows } = await owner.query<Record<string, string>>(`explain ${text}`, values as unknown[]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

it.each(filters)(
  'a page by %s reads an index of its filter and no table of all invoices',
  async (_name, filter, index) => {
    const from = `from invoice where environment_id = 'e' and status in ('published') ${filter}`;
    const page = await planOf(`select * ${from} order by created_at desc, id desc limit 50`);
    expect(page).toContain(index);
    expect(page).not.toContain('Seq Scan');
    expect(await planOf(`select count(*) ${from}`)).toContain(filter === '' ? 'Scan' : 'Index');
  },
);

/** Broad questions, whose totals are sums of counts, and what is left to count of invoices themselves. */
const broad: [query: string, ends: string[]][] = [
  ['', []],
  ['invoice_status=DRAFT,SKIPPED&payment_status=PENDING&currency=usd', []],
  ['start_time=2026-01-01T05:30:00Z', ['created_at']],
  ['period_start_gte=2026-05-01T12:34:56Z', ['invoice_list_by_period_start']],
  ['period_start_gte=2026-05-01T12:34:56Z&period_start_lte=2027-05-01T12:34:56Z', ['invoice_list_by_period_start']],
  ['period_end_lte=2027-05-01T00:00:00Z&invoice_type=SUBSCRIPTION', []],
  ['period_end_gte=2029-05-01T00:00:01Z', ['invoice_list_by_period_end']],
  ['amount_due_gt=9999.5', ['invoice_list_by_amount_due']],
  ['amount_remaining_gt=123', ['invoice_list_by_amount_remaining']],
];

it.each(broad)(
  'the total by %s is summed from counts, and counts invoices only at the ends of a range',
  async (query, ends) => {
    const asked = invoiceListQuery.parse(Object.fromEntries(new URLSearchParams(query)));
    const statements: [text: string, values: readonly unknown[]][] = [];
    const rows = async (text: string, values: readonly unknown[] = []) => {
      statements.push([text, values]);
      return (await owner.query(text, values as unknown[])).rows;
    };
    const tx = { scope: { environmentId: 'e' }, rows } as unknown as Transaction;
    await totalOfInvoices(tx, toListQuery(asked), invoiceFiltersOf(asked));
    expect(statements).toHaveLength(1);
    const plan = await planOf(...statements[0]!);
    expect(plan).toContain('on invoice_count ');
    expect(plan).not.toMatch(/Seq Scan on invoice( |$)/m);
    for (const index of ends) expect(plan).toContain(index);
  },
);
