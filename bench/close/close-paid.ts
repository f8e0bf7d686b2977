import { inSqlTransaction } from '../../db/transaction.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { advanceClock, makeCustomer, makePlan, makeSubscription, sendCalls } from '../account.ts';
import { ownCpuMs, ownMemoryMiB, programCpuMs, programMemoryMiB } from '../cpu.ts';
import { percentile } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';

const few = 10;
const many = Number(process.env.BENCH_SUBSCRIPTIONS || 200);
const periods = 12;
const start = '2026-01-15T00:00:00Z';
/** A move of the clock for each period: to where its invoice is finalized and paid. */
const moves = Array.from({ length: periods }, (_, index) => new Date(Date.UTC(2026, 1 + index, 15, 3)).toISOString());
/** What Kill Bill 0.24.16 closes and collects a second, tuned, on a machine of this size. design: quality.md Benches */
const killBillPeriodsPerSecond = 29;

interface Reading {
  seconds: number;
  processMs: number;
  temporalMs: number;
  postgresMs: number;
  commits: number;
}

/**
 * A year of monthly periods of 200 subscriptions on one test clock, which is moved twelve times, each closed, finalized and paid:
 * periods a second, processor time and commits a period, and resident memory, everything included (the client, API and workers are
 * one process here). They are made one at a time, so that the latency of a creation is not one of a queue. The same with ten subscriptions, made eight at once,
 * shows what a clock costs by itself. The other system cannot run here: the reference is its measured figure.
 * `BENCH_SUBSCRIPTIONS` chooses the number.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const { planId } = await makePlan(platform.api, { fee: '30', perCall: '0.10', eventName: 'call' });
    await year(platform, planId, { count: 2, name: 'warm-up', atOnce: 1 });
    await year(platform, planId, { count: few, name: 'few', atOnce: 8 });
    const product = await year(platform, planId, { count: many, name: 'many', atOnce: 1 });
    await platform.checkInvariants();
    const ratio = product / killBillPeriodsPerSecond;
    const figures = { ratio, min: ratio, max: ratio, reference: killBillPeriodsPerSecond, product };
    console.log(JSON.stringify({ bench: 'close-paid', ...rounded(figures) }));
  });
}

/** Periods a second of a year of `count` subscriptions, made `atOnce` at a time. */
async function year(
  platform: BenchPlatform,
  planId: string,
  { count, name, atOnce }: { count: number; name: string; atOnce: number },
): Promise<number> {
  const { api } = platform;
  const clock = await api('POST', '/test-clocks', { frozen_time: start });
  const waiting = Array.from({ length: count }, (_, index) => `${name}-${index}`).values();
  const subscriptions: string[] = [];
  const createMs: number[] = [];
  const subscribe = async () => {
    for (const externalId of waiting) {
      const card = sandboxCardNumber('succeeds');
      const customerId = await makeCustomer(api, { externalId, clockId: clock.id, card });
      const began = performance.now();
      subscriptions.push((await makeSubscription(api, { customer_id: customerId, plan_id: planId })).id);
      createMs.push(performance.now() - began);
      await sendCalls(api, { eventName: 'call', externalId, count: 5, timestamp: '2026-06-20T00:00:00Z' });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, subscribe));
  const before = await read(platform);
  for (const to of moves) await advanceClock(api, clock.id, to, 400_000);
  const after = await read(platform);
  await checkYear(platform, subscriptions);
  const closed = count * periods;
  const used = (figure: keyof Reading) => after[figure] - before[figure];
  const each = (figure: keyof Reading) => used(figure) / closed;
  const periodsPerSecond = closed / used('seconds');
  console.log(
    JSON.stringify({
      bench: 'close-paid',
      subscriptions: count,
      createdAtOnce: atOnce,
      periods: closed,
      ...rounded({
        seconds: used('seconds'),
        periodsPerSecond,
        processMs: each('processMs'),
        temporalMs: each('temporalMs'),
        postgresMs: each('postgresMs'),
        cpuMs: each('processMs') + each('temporalMs') + each('postgresMs'),
        commits: each('commits'),
        createMs: percentile(createMs, 0.5),
        createP95Ms: percentile(createMs, 0.95),
        ...residentMiB(platform),
      }),
    }),
  );
  return periodsPerSecond;
}

function residentMiB({ temporalServer, postgres }: BenchPlatform) {
  const processMiB = ownMemoryMiB();
  const temporalMiB = programMemoryMiB(temporalServer.program);
  const postgresMiB = programMemoryMiB(postgres.program);
  return { processMiB, temporalMiB, postgresMiB, residentMiB: processMiB + temporalMiB + postgresMiB };
}

async function read(platform: BenchPlatform): Promise<Reading> {
  const { rows } = await platform.database.pool.query<{ commits: string }>(
    'select sum(xact_commit) as commits from pg_stat_database',
  );
  return {
    seconds: performance.now() / 1000,
    processMs: ownCpuMs(),
    temporalMs: programCpuMs(platform.temporalServer.program),
    postgresMs: programCpuMs(platform.postgres.program),
    commits: Number(rows[0]?.commits),
  };
}

/** Thirteen paid invoices each: the opening one and one a period, 390.50 in all. */
async function checkYear({ database, scope }: BenchPlatform, subscriptions: readonly string[]): Promise<void> {
  const right = await inSqlTransaction(database, scope, (tx) =>
    tx.rows(
      `select subscription_id from invoice
       where subscription_id = any($1) and payment_status = 'SUCCEEDED' and invoice_status = 'FINALIZED'
       group by subscription_id having count(*) = 13 and sum(amount_paid) = 390.5`,
      [subscriptions],
    ),
  );
  if (right.length !== subscriptions.length)
    throw new Error(`${subscriptions.length - right.length} years are not 13 paid invoices of 390.50 in all`);
}

function rounded<T extends Record<string, number>>(figures: T): T {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(4))])) as T;
}
