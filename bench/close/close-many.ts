import { setTimeout as delay } from 'node:timers/promises';
import { inSqlTransaction } from '../../db/transaction.ts';
import { advanceClock, makePlan } from '../account.ts';
import { inMs, latencies } from '../latency.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';
import { startWorkerProcess } from '../worker-process.ts';

const subscriptions = Number(process.env.BENCH_SUBSCRIPTIONS || 10_000);
const goalSeconds = 300;
const start = '2026-01-15T00:00:00.000Z';
const beforeBoundary = '2026-02-14T23:00:00.000Z';
const boundary = '2026-02-15T00:00:00.000Z';
const limitMs = 1_800_000;
const idleMs = 3_000;

/**
 * 10 000 subscriptions whose periods end at one instant, closed by their workflows in a worker process of its own. It has no reference:
 * what is printed are the seconds beside the goal, and how long the API takes meanwhile beside a quiet system. Fails unless every
 * subscription has its one invoice of the period and every invariant holds. `BENCH_SUBSCRIPTIONS` chooses the number.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const worker = await startWorkerProcess(platform);
    try {
      const { id: testClockId } = await platform.api('POST', '/test-clocks', { frozen_time: start });
      const terms = { fee: '30', perCall: '0.10', eventName: 'call', feeCadence: 'ARREAR' } as const;
      const { planId } = await makePlan(platform.api, terms);
      await subscribeDirectly(platform, { count: subscriptions, planId, start, testClockId });
      await advanceClock(platform.api, testClockId, beforeBoundary, limitMs);
      const quiet = await latencies(platform, () => delay(idleMs));
      let seconds = 0;
      const busy = await latencies(platform, async () => {
        const began = performance.now();
        await advanceClock(platform.api, testClockId, boundary, limitMs);
        seconds = Math.round((performance.now() - began) / 1_000);
      });
      await checkClosed(platform);
      console.log(
        JSON.stringify({
          bench: 'close-many',
          subscriptions,
          seconds,
          closesPerSecond: Math.round(subscriptions / seconds),
          api: { quiet: inMs(quiet), busy: inMs(busy) },
          goalSeconds,
        }),
      );
    } finally {
      await worker.stop();
    }
    await platform.checkInvariants();
  });
}

async function checkClosed({ database, scope }: BenchPlatform): Promise<void> {
  const [found] = await inSqlTransaction(database, scope, (tx) =>
    tx.rows(
      `select count(*)::int as invoices, count(distinct subscription_id)::int as closed from invoice
       where billing_reason = 'SUBSCRIPTION_CYCLE' and total = 30 and period_end = $1`,
      [boundary],
    ),
  );
  if (found?.invoices !== subscriptions || found.closed !== subscriptions) {
    throw new Error(`wrong closes, expected ${subscriptions}: ${JSON.stringify(found)}`);
  }
}
