import { advanceClock, checkCycleInvoices, subscribeMany } from '../account.ts';
import { withBenchPlatform } from '../platform.ts';

const subscriptions = 100;
const months = 12;
const goalSeconds = 60;

/**
 * One advance of a test clock over a year of monthly periods of 100 subscriptions: every notice, close, charge and payment of it.
 * It has no reference; what is printed are the seconds and the CPU seconds of this process beside the goal. Fails unless each
 * subscription has its twelve further invoices, all paid, and every invariant holds.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const clock = await platform.api('POST', '/test-clocks', { frozen_time: '2026-01-15T00:00:00.000Z' });
    await subscribeMany(platform.api, clock.id, subscriptions);
    const cpu = process.cpuUsage();
    const began = performance.now();
    await advanceClock(platform.api, clock.id, '2027-01-15T03:00:00.000Z', 600_000);
    const seconds = round((performance.now() - began) / 1_000);
    const { user, system } = process.cpuUsage(cpu);
    await checkCycleInvoices(platform, subscriptions * months);
    await platform.checkInvariants();
    const periods = subscriptions * months;
    const shown = {
      seconds,
      cpuSeconds: round((user + system) / 1e6),
      periods,
      periodsPerSecond: round(periods / seconds),
    };
    console.log(JSON.stringify({ bench: 'clock-year', ...shown, goalSeconds }));
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
