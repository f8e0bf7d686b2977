import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { checkInvariants } from '../../activities/check/check.ts';
import { openDatabase } from '../../db/orm.ts';
import type { DemoClient } from '../../dev/demo/client.ts';
import type { DemoInvoice, DemoPayment } from '../../dev/demo/result.ts';
import { sandboxOperator } from '../../integrations/sandbox-gateway/operator.ts';
import { openSandboxStore } from '../../integrations/sandbox-gateway/store.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { checkProviderBooks, type FakesByGateway } from '../support/gateways/provider-books.ts';
import { violationsOf } from '../support/invariants.ts';
import { expectedInvoices } from '../support/oracles/flights-oracle.ts';
import type { Installation } from './installation.ts';
import { waitUntil } from './part.ts';
import type { ExpectedBill } from './relatives.ts';
import type { Subscriber, Wave } from './wave.ts';

const quietLimitMs = 60_000;

/** Waits until nothing is under way any more. Throws with what is left when that takes too long. */
export async function waitForQuiet(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  let left = '';
  try {
    await waitUntil('the installation is quiet', quietLimitMs, async () => {
      const { rows } = await client.query<{ what: string }>(unfinishedText);
      left = rows.map(({ what }) => what).join('; ');
      return rows.length === 0;
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}; left: ${left}`);
  } finally {
    await client.end();
  }
}

const unfinishedText = `
select format('%s %s is parked at %s: %s', object_type, object_id, step, reason) as what from parked_object
union all select format('clock %s advances to %s', id, target_time) from test_clock where target_time is not null
union all select format('price sync of %s runs', plan_id) from price_sync where sync_status = 'running'
union all select format('notification %s is to be passed on since %s', id, due_at) from inbound_event where due_at <= clock_timestamp()
union all select format('%s %s waits for %s since %s', a.object_type, a.object_id, a.kind, a.due_at)
  from agenda_entry a join test_clock c on c.id = a.test_clock_id where a.due_at <= c.frozen_time
limit 10`;

/**
 * Broken invariants, I1 to I20 of `npm run check`, and I9 also by the books of fakes of providers; empty when all hold.
 */
export async function brokenInvariants(
  { applicationUrl, temporalAddress }: Installation,
  fakes: FakesByGateway = {},
): Promise<string[]> {
  const database = await openDatabase({ url: applicationUrl, poolSize: 4 });
  const metering = openPostgresUsageStore(database);
  const books = openSandboxStore({ url: applicationUrl, poolSize: 1 });
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const temporal = new Client({ connection });
    // Nothing is under way any more, so nothing due has any time left.
    const findings = await checkInvariants({
      database,
      metering,
      gateway: sandboxOperator(books),
      temporal,
      graceMs: 0,
    });
    const ofProviders = await checkProviderBooks(database, fakes);
    return violationsOf([...findings, ...ofProviders]).map(({ text }) => text);
  } finally {
    await connection.close();
    await metering.close();
    await books.close();
    await database.close();
  }
}

/** What was billed and paid, as the API tells it, against the oracle; empty when they agree to the cent. */
export async function differencesFromOracle(
  api: DemoClient,
  waves: readonly Wave[],
): Promise<{ invoices: number; problems: string[] }> {
  const oracle = expectedInvoices();
  const paymentsOf = Map.groupBy(await readAll<DemoPayment>(api, '/payments?'), (payment) => payment.destination_id);
  const problems: string[] = [];
  let invoices = 0;
  for (const subscriber of waves.flatMap((wave) => wave.subscribers)) {
    const billed = await readAll<DemoInvoice>(api, `/invoices?subscription_id=${subscriber.subscriptionId}&`);
    billed.sort((a, b) => a.billing_sequence - b.billing_sequence);
    invoices += billed.length;
    const expected = subscriber.isAirport ? (oracle.get(subscriber.code) ?? []) : subscriber.expected;
    const found = [
      ...(expected ? misbilled(billed, expected) : []),
      ...billed.flatMap((invoice) => mispaid(invoice, paymentsOf.get(invoice.id) ?? [])),
    ];
    problems.push(...found.map((problem) => `${nameOf(subscriber)}: ${problem}`));
  }
  return { invoices, problems };
}

const nameOf = ({ code, subscriptionId }: Subscriber) => `${code} (${subscriptionId})`;

function misbilled(billed: readonly DemoInvoice[], expected: readonly ExpectedBill[]): string[] {
  const lineOf = (reason: string, start: string, end: string, total: string) =>
    `${reason} ${start} to ${end}, total ${total}`;
  const actual = billed.map((each) =>
    lineOf(each.billing_reason, each.period_start, each.period_end, dollars(each.total)),
  );
  const wanted = expected.map((each) => lineOf(each.reason, each.start, each.end, each.total));
  return actual.join('\n') === wanted.join('\n')
    ? []
    : [`billed [${actual.join(' | ')}], the oracle says [${wanted.join(' | ')}]`];
}

/** What was given back later was captured all the same. */
const capturedStatuses = new Set(['SUCCEEDED', 'PARTIALLY_REFUNDED']);

function mispaid(invoice: DemoInvoice, payments: readonly DemoPayment[]): string[] {
  const { id, invoice_status, payment_status, total, amount_paid } = invoice;
  const what = `invoice ${id} is ${invoice_status}/${payment_status}, ${amount_paid} of ${total} paid`;
  const captured = payments
    .filter(({ payment_status }) => capturedStatuses.has(payment_status))
    .map((payment) => dollars(payment.amount));
  const isFree = /^0(\.0*)?$/.test(total);
  const isPaid = isFree ? captured.length === 0 : captured.length === 1 && captured[0] === dollars(total);
  const isDone =
    invoice_status === 'FINALIZED' ? amount_paid === total && isPaid : invoice_status === 'SKIPPED' && isFree;
  return isDone ? [] : [`${what} by payments [${captured.join(', ')}]`];
}

async function readAll<Item>(api: DemoClient, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await api.send<{ items: Item[]; pagination: { total: number } }>(
      'GET',
      `${path}limit=1000&offset=${items.length}`,
    );
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= page.pagination.total) return items;
  }
}

/** A decimal of the API with two decimals; one with more stays as it is and equals no cents. */
function dollars(amount: string): string {
  const [whole, decimals = ''] = amount.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}
