import { setTimeout as delay } from 'node:timers/promises';
import { advanceClock, makeCustomer, makePlan, makeSubscription } from '../account.ts';
import { ownCpuMs, programCpuMs } from '../cpu.ts';
import { inMs, latencies } from '../latency.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { startWorkerProcess } from '../worker-process.ts';
import { openCrowd } from './checkout-crowd.ts';

const sessions = Number(process.env.BENCH_SESSIONS || 10_000);
const goalPerSecond = 50;
const orderedAt = '2026-01-15T00:00:00.000Z';
/** Ten seconds before the end of every session: none of them is polled in between. */
const openedAt = '2026-01-15T00:29:50.000Z';
const expiredAt = '2026-01-15T00:30:00.000Z';
const limitMs = 1_800_000;
const idleMs = 3_000;

/**
 * 10 000 sessions of one-off invoices that expire at one instant of a test clock: expired, their pages closed at the gateway, their invoices
 * voided, by their workflows on a worker process of its own. It has no reference: sessions a second are printed beside the goal, and how long
 * the API takes meanwhile beside a quiet system. How long the opening took is printed too, and is not what is measured. Fails unless every
 * session is expired and every invariant holds. `BENCH_SESSIONS` chooses the number.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const worker = await startWorkerProcess(platform);
    try {
      const { api } = platform;
      const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: openedAt });
      await makeSubscribed(platform);
      const opening = await secondsOf(() => openCrowd(platform, { count: sessions, clockId, orderedAt, at: openedAt }));
      const quiet = await latencies(platform, () => delay(idleMs));
      let seconds = 0;
      const cpuMs = () => ({
        worker: programCpuMs(worker.program),
        temporal: programCpuMs(platform.temporalServer.program),
        postgres: programCpuMs(platform.postgres.program),
        api: ownCpuMs(),
      });
      const before = cpuMs();
      const busy = await latencies(platform, async () => {
        seconds = await secondsOf(() => advanceClock(api, clockId, expiredAt, limitMs));
      });
      const cpuMsEach = spentEach(before, cpuMs());
      await checkExpired(platform);
      const expiriesPerSecond = Math.round(sessions / seconds);
      const openingSeconds = Math.round(opening);
      const figures = { sessions, openingSeconds, seconds: Math.round(seconds), expiriesPerSecond, goalPerSecond };
      console.log(
        JSON.stringify({
          bench: 'checkout-expiry',
          ...figures,
          cpuMsEach,
          api: { quiet: inMs(quiet), busy: inMs(busy) },
        }),
      );
    } finally {
      await worker.stop();
    }
    await platform.checkInvariants();
  });
}

/** A subscription for the steady client to read. */
async function makeSubscribed({ api }: BenchPlatform): Promise<void> {
  const { planId } = await makePlan(api, { fee: '30', perCall: '0.10', eventName: 'call' });
  const customerId = await makeCustomer(api, { externalId: 'reader' });
  await makeSubscription(api, { customer_id: customerId, plan_id: planId });
}

/** Processor time of each program for one session, in milliseconds, rounded to tenths. */
function spentEach<Spent extends Record<string, number>>(before: Spent, after: Spent): Record<string, number> {
  const each = (name: string) => Math.round((after[name]! - before[name]!) / (sessions / 10)) / 10;
  return Object.fromEntries(Object.keys(before).map((name) => [name, each(name)]));
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

async function checkExpired({ api }: BenchPlatform): Promise<void> {
  type Page = { pagination: { total: number } };
  const { pagination } = await api<Page>('GET', '/checkout/sessions?checkout_status=expired&limit=1');
  if (pagination.total !== sessions) throw new Error(`${pagination.total} of ${sessions} sessions are expired`);
}
