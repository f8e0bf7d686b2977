import pg from 'pg';
import { compare } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';

const invoices = Number(process.env.BENCH_INVOICES || 1_000_000);
const requests = 21;
const limitMs = 30;

/** Every documented filter, by query string. */
const filters: Record<string, string> = {
  'no filter': '',
  invoice_ids: 'invoice_ids=inv_1,inv_2,inv_3',
  customer_id: 'customer_id=c7',
  external_customer_id: 'external_customer_id=nobody',
  subscription_customer_id: 'subscription_customer_id=c7',
  subscription_id: 'subscription_id=s7',
  invoice_type: 'invoice_type=ONE_OFF',
  invoice_status: 'invoice_status=DRAFT',
  payment_status: 'payment_status=FAILED',
  billing_reason: 'billing_reason=MANUAL',
  currency: 'currency=eur',
  amount_due_gt: `amount_due_gt=${invoices - 1_000}`,
  amount_remaining_gt: `amount_remaining_gt=${invoices - 1_000}`,
  period_start_gte: 'period_start_gte=2025-12-01T00:00:00Z',
  period_end_gte: 'period_end_gte=2025-12-31T00:00:00Z',
  ...Object.fromEntries(
    [
      'invoice_type=SUBSCRIPTION',
      'invoice_status=FINALIZED',
      'payment_status=SUCCEEDED',
      'billing_reason=SUBSCRIPTION_CYCLE',
      'currency=usd',
      'invoice_status=FINALIZED&payment_status=SUCCEEDED&currency=usd',
      `amount_due_gt=${invoices / 2}.5`,
      `amount_remaining_gt=${invoices / 3}`,
      'period_start_gte=2024-02-01T12:34:56Z',
      'period_start_lte=2024-06-01T00:00:00Z',
      'period_end_gte=2024-03-03T03:00:00Z',
      // The oldest of them, in a list that begins with the newest, and the other way round.
      'period_end_lte=2024-05-05T05:05:05Z',
      `amount_due_gt=${invoices / 2}&order=asc`,
      'start_time=2024-02-02T02:02:02Z',
      'end_time=2024-07-01T00:00:00Z&invoice_status=FINALIZED',
    ].map((filter) => [`most: ${filter}`, filter]),
  ),
};

/**
 * A page of 50 of a million invoices by every documented filter, request to answer, against one select of 50 rows by primary
 * key: p50 in milliseconds. At most 30 ms each. The filters named "most" match so many that counting them would take longer.
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const owner = new pg.Client({ connectionString: base.ownerUrl });
    await owner.connect();
    try {
      await fill(base, owner);
      const slow: string[] = [];
      for (const [name, filter] of Object.entries(filters)) {
        const ms = await medianMs(() => base.api('GET', `/invoices?limit=50&${filter}`));
        console.log(JSON.stringify({ bench: 'invoice-list', filter: name, ms: Number(ms.toPrecision(3)) }));
        if (ms > limitMs) slow.push(name);
      }
      const reference = () => medianMs(() => owner.query(fiftyText));
      const product = () => medianMs(() => base.api('GET', '/invoices?limit=50&invoice_status=DRAFT'));
      await compare({ bench: 'invoice-list', reference, product });
      if (slow.length > 0) console.log(`above ${limitMs} ms: ${slow.join(', ')}`);
      process.exitCode = slow.length > 0 ? 1 : 0;
      await emptyAgain(base, owner);
    } finally {
      await owner.end();
    }
  });
}

/** Rows a statement: what a statement changed is counted together with it. */
const fillRows = 2_500;

/** The indexes of the table are made of all rows at once, as a dump is read back, and the tables are left as autovacuum leaves them. */
async function fill(base: BenchDatabase, owner: pg.Client): Promise<void> {
  const began = performance.now();
  await owner.query(`set maintenance_work_mem = '512MB'`);
  const { rows: indexes } = await owner.query<{ name: string; text: string }>(indexesText);
  for (const { name } of indexes) await owner.query(`drop index "${name}"`);
  for (let first = 1; first <= invoices; first += fillRows) {
    const last = Math.min(invoices, first + fillRows - 1);
    await owner.query(fillText, [base.sandbox.tenantId, base.sandbox.environmentId, first, last]);
  }
  for (const { text } of indexes) await owner.query(text);
  await owner.query('vacuum analyze invoice, invoice_count, invoice_count_change');
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(JSON.stringify({ bench: 'invoice-list', invoices, filledInSeconds: seconds }));
}

const indexesText = `
select indexname as name, indexdef as text from pg_indexes where tablename = 'invoice' and indexdef like 'CREATE INDEX%'`;

const fillText = `
insert into invoice (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id, subscription_id,
  subscription_customer_id, idempotency_key, invoice_type, invoice_status, payment_status, billing_reason, collection_method,
  currency, subtotal, total, amount_due, amount_remaining, period_start, period_end, metadata)
select 'inv_' || n, $1, $2, '2024-01-01'::timestamptz + n * interval '1 minute', '', now(), '', 'c' || n % 20000, 's' || n % 20000,
  'c' || n % 20000, 'k' || n, case when n % 500 = 2 then 'ONE_OFF' else 'SUBSCRIPTION' end,
  case when n % 500 = 0 then 'DRAFT' else 'FINALIZED' end, case when n % 500 = 1 then 'FAILED' else 'SUCCEEDED' end,
  case when n % 500 = 3 then 'MANUAL' else 'SUBSCRIPTION_CYCLE' end, 'send_invoice', case when n % 500 = 4 then 'eur' else 'usd' end,
  n, n, n, n, '2024-01-01'::timestamptz + n * interval '1 minute', '2024-01-31'::timestamptz + n * interval '1 minute', '{}'
from generate_series($3::int, $4::int) n`;

const fiftyText = `select * from invoice where id = any(array(select 'inv_' || n from generate_series(1, 50) n))`;

/** Rows nobody made hold no invariant: they are taken out before the invariants are looked at. */
async function emptyAgain(base: BenchDatabase, owner: pg.Client): Promise<void> {
  await owner.query('truncate invoice');
  await base.checkInvariants();
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < requests; index += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(requests / 2)] ?? 0;
}
