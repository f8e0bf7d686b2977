import pg from 'pg';
import { inSqlTransaction } from '../../db/transaction.ts';
import { prepareEvent } from '../../metering/event.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { closePeriods } from '../../services/subscription/period/subscription-close.ts';
import { makePlan } from '../account.ts';
import { ownCpuMs, programCpuMs } from '../cpu.ts';
import { compare } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';
import { closeByHand, copyForHand } from './raw-close.ts';

const subscriptions = Number(process.env.BENCH_SUBSCRIPTIONS || 400);
const setSize = 200;
const pairs = 7;
const warmUps = 1;
const firstStart = '2024-01-15T00:00:00.000Z';
const calls = { eventName: 'call', perCustomer: 2 };

/**
 * Processor time, of this process and PostgreSQL, for each closed subscription with a fee and two usage charges: the set-based
 * close of the product against a close written by hand, one transaction a subscription, on copies of the same tables with
 * the same indexes. Afterwards every subscription has one invoice a period with the total its usage says.
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const ids = await subscribeAll(base);
    const owner = new pg.Client({ connectionString: base.ownerUrl });
    await owner.connect();
    try {
      await copyForHand(owner);
      const product = productSide(base, ids);
      await compare({
        bench: 'close-sql',
        pairs,
        warmUps,
        reference: handSide(base, owner, ids),
        product,
      });
      await checkInvoices(owner, ids.length);
    } finally {
      await owner.end();
    }
  });
}

/** Customers with a subscription from January 2024 and calls in every month that will be closed. */
async function subscribeAll(base: BenchDatabase): Promise<string[]> {
  const { planId } = await makePlan(base.api, { fee: '30', perCall: '0.10', eventName: calls.eventName });
  await addUnits(base, planId);
  const made = await subscribeDirectly(base, { count: subscriptions, planId, start: firstStart });
  for (let month = 0; month < pairs + warmUps; month += 1) await sendMonth(base, month);
  return made.map(({ subscriptionId }) => subscriptionId);
}

/** A second usage price, on the sum of a property. */
async function addUnits({ api }: BenchDatabase, planId: string): Promise<void> {
  const feature = await api<{ meter_id: string }>('POST', '/features', {
    name: 'Units',
    type: 'metered',
    meter: {
      name: 'Units',
      event_name: calls.eventName,
      aggregation: { type: 'SUM', field: 'units' },
      reset_usage: 'BILLING_PERIOD',
    },
  });
  await api('POST', '/prices', {
    entity_type: 'PLAN',
    entity_id: planId,
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    currency: 'usd',
    start_date: '2020-01-01T00:00:00Z',
    type: 'USAGE',
    amount: '0.01',
    invoice_cadence: 'ARREAR',
    display_name: 'Units',
    meter_id: feature.meter_id,
  });
}

async function sendMonth(base: BenchDatabase, month: number): Promise<void> {
  const timestamp = monthAfter(firstStart, month).replace('-15T', '-20T');
  const events = Array.from({ length: subscriptions * calls.perCustomer }, (_, index) =>
    prepareEvent({
      event_id: `${month}-${index}`,
      event_name: calls.eventName,
      external_customer_id: `customer-${index % subscriptions}`,
      timestamp,
      properties: { units: 50 },
    }),
  );
  for (let from = 0; from < events.length; from += 1_000) {
    await base.metering.append(base.scope, events.slice(from, from + 1_000));
  }
}

function productSide(base: BenchDatabase, ids: readonly string[]): () => Promise<number> {
  const readUsage = usageReader(base.metering);
  let month = 0;
  return async () => {
    month += 1;
    const at = monthAfter(firstStart, month);
    const cpuMs = await cpuOf(base, async () => {
      for (const set of setsOf(ids)) {
        const requests = set.map((subscriptionId) => ({ subscriptionId, at }));
        await inSqlTransaction(base.database, base.scope, (tx) => closePeriods(tx, tx.scope, requests, readUsage));
      }
    });
    await settleDrafts(base);
    return cpuMs / ids.length;
  };
}

function handSide(base: BenchDatabase, owner: pg.Client, ids: readonly string[]): () => Promise<number> {
  return async () => {
    const cpuMs = await cpuOf(base, async () => {
      for (const id of ids) await closeByHand(owner, id);
    });
    return cpuMs / ids.length;
  };
}

async function cpuOf(base: BenchDatabase, work: () => Promise<void>): Promise<number> {
  const used = () => ownCpuMs() + programCpuMs(base.postgres.program);
  const before = used();
  await work();
  return used() - before;
}

/** Somebody else finalizes and collects; here only the closes are measured. */
function settleDrafts({ database, scope }: BenchDatabase): Promise<unknown> {
  return inSqlTransaction(database, scope, (tx) =>
    tx.rows(`update invoice set attended = true where not attended and environment_id = $1`, [scope.environmentId]),
  );
}

function setsOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / setSize) }, (_, set) =>
    ids.slice(set * setSize, (set + 1) * setSize),
  );
}

/** The 15th of a later month. */
function monthAfter(start: string, months: number): string {
  const date = new Date(start);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString();
}

/** One cycle invoice a subscription and period with three lines: 30 + 2 × 0.10 + 100 × 0.01. */
async function checkInvoices(owner: pg.Client, count: number): Promise<void> {
  for (const schema of ['public', 'bench_hand']) {
    const { rows } = await owner.query(
      `select count(*)::int as invoices, count(distinct (subscription_id, period_start))::int as periods,
         min(total)::text as least, max(total)::text as most,
         (select count(*)::int from ${schema}.invoice_line_item l join ${schema}.invoice i on i.id = l.invoice_id where i.billing_reason = 'SUBSCRIPTION_CYCLE') as lines
       from ${schema}.invoice where billing_reason = 'SUBSCRIPTION_CYCLE'`,
    );
    const closes = count * (pairs + warmUps);
    const [found] = rows;
    const right = found.invoices === closes && found.periods === closes && found.lines === 3 * closes;
    if (!right || Number(found.least) !== 31.2 || Number(found.most) !== 31.2) {
      throw new Error(`${schema}: wrong closes, expected ${closes}: ${JSON.stringify(found)}`);
    }
    console.log(JSON.stringify({ bench: 'close-sql', created: schema, ...found }));
  }
}
