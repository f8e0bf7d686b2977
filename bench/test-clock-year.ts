import { inSqlTransaction } from '../db/transaction.ts';
import { sandboxCardNumber } from '../integrations/sandbox-gateway/card.ts';
import { advanceClock, makeCustomer, makePlan, makeSubscription, sendCalls } from './account.ts';
import { ownCpuMs, programCpuMs } from './cpu.ts';
import { type BenchPlatform, withBenchPlatform } from './platform.ts';

const few = 10;
const many = Number(process.env.BENCH_SUBSCRIPTIONS || 100);
const periods = 12;
const atOnce = 8;
const start = '2026-01-15T00:00:00Z';
const end = '2027-01-15T03:00:00Z';

interface Used {
  seconds: number;
  processMs: number;
  temporalMs: number;
  postgresMs: number;
}

/**
 * A year of monthly periods of 100 subscriptions on one test clock, each closed, finalized and paid: seconds, and processor
 * time a period by part. The same with ten subscriptions shows what a clock costs by itself. Ratio = seconds of the year.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const { planId } = await makePlan(platform.api, { fee: '30', perCall: '0.10', eventName: 'call' });
    await year(platform, planId, 2, 'warm-up');
    const reference = await year(platform, planId, few, 'few');
    const product = await year(platform, planId, many, 'many');
    await platform.checkInvariants();
    const { seconds } = product;
    const figures = { ratio: seconds, min: seconds, max: seconds, reference: reference.seconds, product: seconds };
    console.log(JSON.stringify({ bench: 'test-clock-year', ...rounded(figures) }));
  });
}

async function year(platform: BenchPlatform, planId: string, count: number, name: string): Promise<Used> {
  const { api } = platform;
  const clock = await api('POST', '/test-clocks', { frozen_time: start });
  const waiting = Array.from({ length: count }, (_, index) => `${name}-${index}`).values();
  const subscriptions: string[] = [];
  const subscribe = async () => {
    for (const externalId of waiting) {
      const card = sandboxCardNumber('succeeds');
      const customerId = await makeCustomer(api, { externalId, clockId: clock.id, card });
      subscriptions.push((await makeSubscription(api, { customer_id: customerId, plan_id: planId })).id);
      await sendCalls(api, { eventName: 'call', externalId, count: 5, timestamp: '2026-06-20T00:00:00Z' });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, subscribe));
  const used = await usedBy(platform, () => advanceClock(api, clock.id, end, 400_000));
  await checkYear(platform, subscriptions);
  const closed = count * periods;
  const each = (ms: number) => ms / closed;
  console.log(
    JSON.stringify({
      bench: 'test-clock-year',
      subscriptions: count,
      periods: closed,
      ...rounded({
        seconds: used.seconds,
        periodsPerSecond: closed / used.seconds,
        processMs: each(used.processMs),
        temporalMs: each(used.temporalMs),
        postgresMs: each(used.postgresMs),
        cpuMs: each(used.processMs + used.temporalMs + used.postgresMs),
      }),
    }),
  );
  return used;
}

async function usedBy(platform: BenchPlatform, work: () => Promise<void>): Promise<Used> {
  const read = () => ({
    seconds: performance.now() / 1000,
    processMs: ownCpuMs(),
    temporalMs: programCpuMs(platform.temporalServer.program),
    postgresMs: programCpuMs(platform.postgres.program),
  });
  const before = read();
  await work();
  const after = read();
  return {
    seconds: after.seconds - before.seconds,
    processMs: after.processMs - before.processMs,
    temporalMs: after.temporalMs - before.temporalMs,
    postgresMs: after.postgresMs - before.postgresMs,
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
