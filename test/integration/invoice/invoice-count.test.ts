import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import type { Wire } from './invoice.fixture.ts';

const base = await testDatabase();
const { api } = await testApp(base);
const owner = new pg.Client({ connectionString: base.ownerUrl });

const fillText = `
  insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id, idempotency_key,
    invoice_type, invoice_status, payment_status, billing_reason, collection_method, currency, subtotal, total, amount_due,
    amount_remaining, period_start, period_end)
  select $3::text || n, $1, $2, '2026-01-01'::timestamptz + n * interval '7 hours', '', now(), '', 'c' || n % 7, $3::text || n,
    case when n % 5 = 0 then 'ONE_OFF' else 'SUBSCRIPTION' end, case when n % 3 = 0 then 'SKIPPED' else 'DRAFT' end,
    case when n % 4 = 0 then 'FAILED' else 'PENDING' end, case when n % 6 = 0 then 'MANUAL' else 'SUBSCRIPTION_CYCLE' end,
    'send_invoice', case when n % 8 = 0 then 'eur' else 'usd' end, 0, 0, n * n * 0.333, n,
    case when n % 9 > 0 then '2026-01-01'::timestamptz + n * interval '12 hours' end,
    case when n % 9 > 0 then '2026-02-01'::timestamptz + n * interval '5 hours' end
  from generate_series(1, $4::int) n`;

beforeAll(async () => {
  await owner.connect();
  await owner.query(fillText, [base.scope.tenantId, base.scope.environmentId, 'a', 600]);
});

afterAll(async () => {
  await owner.query('delete from invoice');
  await owner.end();
});

/** Filters of the list and the same in SQL. */
const filters: [query: string, condition: string][] = [
  ['', 'true'],
  ['invoice_type=ONE_OFF', "invoice_type = 'ONE_OFF'"],
  ['invoice_status=DRAFT,SKIPPED&currency=eur', "currency = 'eur'"],
  ['payment_status=FAILED&billing_reason=MANUAL', "payment_status = 'FAILED' and billing_reason = 'MANUAL'"],
  ['status=archived', "status = 'archived'"],
  ['customer_id=c3&invoice_status=DRAFT', "customer_id = 'c3' and invoice_status = 'DRAFT'"],
  ['start_time=2026-02-03T04:05:06Z', "created_at >= '2026-02-03T04:05:06Z'"],
  ['start_time=2026-02-03T00:00:00Z', "created_at >= '2026-02-03'"],
  ['end_time=2026-02-05T00:00:00Z&currency=usd', "created_at < '2026-02-05' and currency = 'usd'"],
  ['end_time=2026-02-05T09:30:00Z', "created_at < '2026-02-05T09:30:00Z'"],
  [
    'start_time=2026-02-05T01:00:00Z&end_time=2026-02-05T20:00:00Z',
    "created_at >= '2026-02-05T01:00:00Z' and created_at < '2026-02-05T20:00:00Z'",
  ],
  ['period_start_gte=2026-03-01T12:00:00Z', "period_start >= '2026-03-01T12:00:00Z'"],
  ['period_start_lte=2026-03-01T00:00:00Z', "period_start <= '2026-03-01'"],
  ['period_start_lte=2026-03-01T12:00:00Z', "period_start <= '2026-03-01T12:00:00Z'"],
  [
    'period_start_gte=2026-02-01T12:00:00Z&period_start_lte=2026-03-01T00:00:00Z',
    "period_start between '2026-02-01T12:00:00Z' and '2026-03-01'",
  ],
  ['period_start_gte=2026-03-01T00:00:00Z&period_start_lte=2026-03-01T00:00:00Z', "period_start = '2026-03-01'"],
  ['period_start_gte=2026-04-01T00:00:00Z&period_start_lte=2026-03-01T00:00:00Z', 'false'],
  ['period_end_gte=2026-03-20T01:00:00Z', "period_end >= '2026-03-20T01:00:00Z'"],
  [
    'period_end_lte=2026-03-20T00:00:00Z&period_start_gte=2026-02-01T00:00:00Z',
    "period_end <= '2026-03-20' and period_start >= '2026-02-01'",
  ],
  ['amount_due_gt=-5', 'amount_due > -5'],
  ['amount_due_gt=0', 'amount_due > 0'],
  ['amount_due_gt=0.332', 'amount_due > 0.332'],
  ['amount_due_gt=0.333&invoice_type=ONE_OFF', "amount_due > 0.333 and invoice_type = 'ONE_OFF'"],
  ['amount_due_gt=1234.5', 'amount_due > 1234.5'],
  ['amount_remaining_gt=99.999', 'amount_remaining > 99.999'],
  ['amount_remaining_gt=100', 'amount_remaining > 100'],
  ['amount_remaining_gt=99999999999999999999', 'false'],
  ['amount_remaining_gt=0&amount_due_gt=20', 'amount_remaining > 0 and amount_due > 20'],
];

async function agrees(query: string, condition: string): Promise<void> {
  const { rows } = await owner.query<{ id: string }>(
    `select id from invoice where environment_id = $1 ${query.startsWith('status') ? '' : "and status = 'published'"}
      and (${condition}) order by created_at desc, id desc`,
    [base.scope.environmentId],
  );
  const { body } = await api<Wire>('GET', `/invoices?limit=20&skip_line_items=true&${query}`);
  expect([body.pagination.total, body.items.map(({ id }: { id: string }) => id)], query).toEqual([
    rows.length,
    rows.slice(0, 20).map(({ id }) => id),
  ]);
}

describe('the total of a list of invoices', () => {
  it.each(filters)('is exact for %s, and the page holds the first of them', agrees);

  it('is exact after changes of everything that is counted, folded or not', async () => {
    await owner.query(`update invoice set invoice_status = 'VOIDED' where id like 'a%3'`);
    await owner.query(`update invoice set status = 'archived' where id like 'a%7'`);
    await owner.query(`update invoice set amount_due = amount_due / 3, amount_remaining = 0 where id like 'a%1'`);
    await owner.query(`update invoice set period_start = period_start + interval '40 days' where id like 'a%5'`);
    await owner.query(`delete from invoice where id like 'a%9'`);
    for (const [query, condition] of filters) await agrees(query, condition);
    const { rows } = await owner.query('select count(*)::int as n from invoice_count_change');
    expect(rows[0].n).toBeLessThan(256);
  });

  it('shows what was counted, not what another transaction has not committed', async () => {
    await owner.query('begin');
    await owner.query(`update invoice set currency = 'gbp' where id = 'a2'`);
    expect((await api<Wire>('GET', '/invoices?currency=gbp')).body.pagination.total).toBe(0);
    await owner.query('rollback');
    await agrees('currency=usd', "currency = 'usd'");
  });

  it('counts the own environment only', async () => {
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    await owner.query(fillText, [other.tenantId, other.environmentId, 'b', 30]);
    await agrees('', 'true');
    const { body } = await api<Wire>('GET', '/invoices?amount_due_gt=0', undefined, { 'x-api-key': other.apiKey });
    expect(body.pagination.total).toBe(30);
  });
});

describe('writers of invoices', () => {
  it('never wait for each other, however many changes are folded meanwhile', async () => {
    const writers = [1, 2, 3, 4].map(() => new pg.Client({ connectionString: base.ownerUrl }));
    try {
      for (const writer of writers) await writer.connect();
      // Each transaction changes enough to fold several times, and stays open while the others do the same.
      for (const [index, writer] of writers.entries()) {
        await writer.query(`begin; set local lock_timeout = '1s'`);
        await writer.query(
          `update invoice set payment_status = 'SUCCEEDED' where right(id, 1) in ('${2 * index}', '${2 * index + 1}')`,
        );
        await writer.query(fillText, [base.scope.tenantId, base.scope.environmentId, `w${index}-`, 600]);
      }
      for (const [index, writer] of writers.entries()) await writer.query(index === 2 ? 'rollback' : 'commit');
    } finally {
      for (const writer of writers) await writer.end();
    }
    for (const [query, condition] of filters) await agrees(query, condition);
  });
});
