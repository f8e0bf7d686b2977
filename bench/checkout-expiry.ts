import { setTimeout as delay } from 'node:timers/promises';
import { advanceClock, makeCustomer, makePlan, makeSubscription } from './account.ts';
import { inMs, latencies } from './latency.ts';
import { type BenchPlatform, withBenchPlatform } from './platform.ts';
import { startWorkerProcess } from './worker-process.ts';

const sessions = Number(process.env.BENCH_SESSIONS || 10_000);
const goalPerSecond = 50;
const start = '2026-01-15T00:00:00.000Z';
const afterExpiry = '2026-01-17T00:00:00.000Z';
const limitMs = 1_800_000;
const idleMs = 3_000;
const lanes = 16;

/**
 * 10 000 sessions of one-off invoices that expire at one instant of a test clock: expired, their pages closed at the gateway, their invoices
 * voided, by a worker process of its own. It has no reference: sessions a second are printed beside the goal, and how long the API takes
 * meanwhile beside a quiet system. Fails unless every session is expired and every invariant holds. `BENCH_SESSIONS` chooses the number.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const worker = await startWorkerProcess(platform);
    try {
      const { api } = platform;
      const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
      await makeSubscribed(platform);
      const waiting = Array.from({ length: sessions }, (_, index) => `payer-${index}`).values();
      const openOne = async () => {
        for (const externalId of waiting) await openSession(platform, await makeCustomer(api, { externalId, clockId }));
      };
      await Promise.all(Array.from({ length: lanes }, openOne));
      const quiet = await latencies(platform, () => delay(idleMs));
      let seconds = 0;
      const busy = await latencies(platform, async () => {
        const began = performance.now();
        await advanceClock(api, clockId, afterExpiry, limitMs);
        seconds = (performance.now() - began) / 1_000;
      });
      await checkExpired(platform);
      const expiriesPerSecond = Math.round(sessions / seconds);
      const figures = { sessions, seconds: Math.round(seconds), expiriesPerSecond, goalPerSecond };
      console.log(
        JSON.stringify({ bench: 'checkout-expiry', ...figures, api: { quiet: inMs(quiet), busy: inMs(busy) } }),
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

async function openSession({ api }: BenchPlatform, customer_id: string): Promise<void> {
  const checkout = { payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' };
  const totals = { subtotal: '25', total: '25', amount_due: '25' };
  const line_items = [{ display_name: 'Onboarding', quantity: '1', amount: '25' }];
  await api('POST', '/invoices', { customer_id, currency: 'usd', ...totals, line_items, checkout });
}

async function checkExpired({ api }: BenchPlatform): Promise<void> {
  type Page = { pagination: { total: number } };
  const { pagination } = await api<Page>('GET', '/checkout/sessions?checkout_status=expired&limit=1');
  if (pagination.total !== sessions) throw new Error(`${pagination.total} of ${sessions} sessions are expired`);
}
