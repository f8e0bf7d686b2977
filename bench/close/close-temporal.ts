import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { WorkflowThread } from '../../activities/workflow-worker/workflow-thread.ts';
import { createWorkflowWorker } from '../../activities/workflow-worker/workflow-worker.ts';
import { prepareNamespace } from '../../dev/temporal-namespace.ts';
import { type LifecycleStart, settle } from '../../workflows/lifecycle.messages.ts';
import { lifecycleStartOptions } from '../../workflows/start.messages.ts';
import {
  type SubscriptionSnapshot,
  subscriptionWorkflowType,
} from '../../workflows/subscription/subscription.messages.ts';
import { advanceClock, checkCycleInvoices, subscribeMany } from '../account.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';

const subscriptions = Number(process.env.BENCH_SUBSCRIPTIONS || 100);
const pairs = 5;
const warmUps = 1;
const atOnce = 48;
const firstStart = '2026-01-15T00:00:00.000Z';
const emptyNamespace = 'empty';

/**
 * Closes a second through subscription workflows on a test clock, against the same workflows with activities that only
 * count. Both are told by Updates, 48 at a time; the product's half of that, its clock and its rows included, is what the
 * ratio shows. Afterwards every subscription has one cycle invoice a month.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const clock = await platform.api('POST', '/test-clocks', { frozen_time: firstStart });
    await subscribeMany(platform.api, clock.id, subscriptions);
    const empty = await startEmpty(platform);
    try {
      let month = 0;
      await compare({
        bench: 'close-temporal',
        pairs,
        warmUps,
        reference: empty.closeMonth,
        product: async () => {
          month += 1;
          return closeMonth(platform, clock.id, boundaryAfter(month));
        },
      });
    } finally {
      await empty.stop();
    }
    const created = await checkCycleInvoices(platform, subscriptions * (pairs + warmUps));
    console.log(JSON.stringify({ bench: 'close-temporal', created }));
    await platform.checkInvariants();
  });
}

/** The renewal notice before and finalization and payment after the boundary are not measured. */
async function closeMonth({ api }: BenchPlatform, clockId: string, boundary: string): Promise<number> {
  await advanceClock(api, clockId, hoursFrom(boundary, -1));
  const rate = await rateOf(subscriptions, () => advanceClock(api, clockId, boundary));
  await advanceClock(api, clockId, hoursFrom(boundary, 3));
  return rate;
}

/** Workers in a namespace of their own whose activities do nothing, and as many workflows. */
async function startEmpty(platform: BenchPlatform) {
  await prepareNamespace(platform.temporalServer.address, emptyNamespace);
  const activities = emptyActivities();
  const worker = await createWorkflowWorker({
    connection: platform.connection,
    namespace: emptyNamespace,
    taskQueue: 'lifecycle',
    workflowBundle: platform.bundle,
    workflowThread: new WorkflowThread(Object.keys(activities)),
    activities,
    maxCachedWorkflows: 2_000,
    maxConcurrentLocalActivityExecutions: 200,
  });
  const running = worker.run();
  const client = new (platform.temporal.constructor as typeof Client)({
    connection: platform.temporal.connection,
    namespace: emptyNamespace,
  });
  let month = 0;
  return {
    async closeMonth(): Promise<number> {
      await settleAll(client, hoursFrom(boundaryAfter(month + 1), -1));
      month += 1;
      return rateOf(subscriptions, () => settleAll(client, boundaryAfter(month)));
    },
    async stop() {
      worker.shutdown();
      await running;
    },
  };
}

/** Answers as the real ones do, from the request alone. */
function emptyActivities() {
  const until = (end: string): SubscriptionSnapshot => ({
    version: 1,
    status: 'active',
    agenda: [{ at: end, kind: 'closePeriod', ref: '' }],
    ended: false,
    details: `active · period ${firstStart} to ${end}`,
    spreadMs: 0,
    blockedOn: null,
    currentPeriodStart: firstStart,
    currentPeriodEnd: end,
  });
  const next = (at: string) => {
    const date = new Date(at);
    date.setUTCMonth(date.getUTCMonth() + 1);
    return date.toISOString();
  };
  const ends = new Map<string, string>();
  return {
    loadSubscription: async (self: { subscriptionId: string }) =>
      until(ends.get(self.subscriptionId) ?? boundaryAfter(1)),
    closePeriod: async ({ subscriptionId, at }: { subscriptionId: string; at: string }) => {
      ends.set(subscriptionId, next(at));
      return until(next(at));
    },
  };
}

async function settleAll(client: Client, to: string): Promise<void> {
  const waiting = Array.from({ length: subscriptions }, (_, index) => `empty-${index}`).values();
  const worker = async () => {
    for (const objectId of waiting) await settleOne(client, objectId, to);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function settleOne(client: Client, objectId: string, to: string): Promise<void> {
  const start: LifecycleStart = {
    tenantId: 'tenant',
    environmentId: 'env',
    objectId,
    customerId: 'cust',
    testClockId: 'clock',
    clockTime: firstStart,
    creating: false,
  };
  for (let again = true; again; ) {
    const startWorkflowOperation = new WithStartWorkflowOperation(
      subscriptionWorkflowType,
      lifecycleStartOptions('subscription', start, 'lifecycle'),
    );
    ({ again } = await client.workflow.executeUpdateWithStart(settle, { startWorkflowOperation, args: [{ to }] }));
  }
}

function boundaryAfter(months: number): string {
  const date = new Date(firstStart);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString();
}

function hoursFrom(instant: string, hours: number): string {
  return new Date(Date.parse(instant) + hours * 3_600_000).toISOString();
}
