import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { prepareEvent } from '../../metering/event.ts';
import { buildMeterRollups } from '../../metering/postgres/build-rollups.ts';
import { createMeter } from '../../services/catalogue/meter.ts';
import { createCustomer } from '../../services/customer/customer.ts';
import { createSandbox } from '../../services/platform/tenant.ts';
import { autoTopUpWorkflowId } from '../../workflows/wallet/auto-top-up.messages.ts';
import { compare, percentile } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';
import { startWorkerProcess } from '../worker-process.ts';

const wallets = 2_000;
const offeredASecond = 5_000;
const batchEvents = 500;
const seconds = 10;
const crossingsARun = 30;
const eventName = 'tokens';

/** A wallet that is to cross its threshold, and when the event that does it was acknowledged. */
interface Crossing {
  walletId: string;
  atMs: number;
}

/**
 * 5 000 events a second offered to an environment of 2 000 wallets that fill themselves, each with usage in nearly every batch, while some
 * cross their threshold; against the same events in an environment that nobody watches. The compared figures are events a second, from the
 * first batch to the last commit. Tells besides how long after the commit of its event an attempt is opened, and how many signals a
 * crossing costs. Fails unless each crossing is one attempt and one signal, and every invariant holds.
 */
export function run(): Promise<void> {
  return withBenchPlatform(async (platform) => {
    const worker = await startWorkerProcess(platform);
    try {
      const walletIds = await armWallets(platform);
      const unwatched = await unwatchedScope(platform);
      const crossings: Crossing[] = [];
      await compare({
        bench: 'top-up-watch',
        reference: () => ingest(platform, unwatched, null),
        product: () => ingest(platform, platform.scope, { walletIds, crossings }),
      });
      await report(platform, crossings);
      await platform.checkInvariants();
    } finally {
      await worker.stop();
    }
  });
}

/** Customers in real time with a subscription of 1 a token, a card, and a wallet of 100 credits that fills itself at 20. */
async function armWallets(platform: BenchPlatform): Promise<string[]> {
  const { api } = platform;
  const { id: planId } = await api('POST', '/plans', { name: 'Tokens' });
  const meter = { ...meterTerms, name: 'Tokens', event_name: eventName, reset_usage: 'BILLING_PERIOD' };
  const { id: meterId } = await api('POST', '/meters', meter);
  await api('POST', '/prices', {
    plan_id: planId,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    amount: '1',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    meter_id: meterId,
    start_date: '2020-01-01T00:00:00Z',
  });
  const start = new Date().toISOString();
  const customers = await subscribeDirectly(platform, { count: wallets, planId, start });
  const walletIds: string[] = [];
  for (const { customerId } of customers) {
    const card = { card_number: sandboxCardNumber('succeeds'), set_default: true };
    await api('POST', `/customers/${customerId}/payment-methods`, card);
    const auto_topup = { enabled: true, threshold: 20, amount: 100, invoicing: true };
    const body = { customer_id: customerId, currency: 'usd', initial_credits_to_load: '100', auto_topup };
    walletIds.push((await api('POST', '/wallets', body)).id);
  }
  await untilLookedAt(platform);
  return walletIds;
}

/**
 * Waits until every wallet was looked at since it was armed: nothing of the arming is left to do while the bench measures. Throws after ten
 * minutes, when the machine has too much else to do for a measurement.
 */
async function untilLookedAt({ database, scope }: BenchPlatform): Promise<void> {
  const end = performance.now() + 600_000;
  for (;;) {
    const [left] = await inSqlTransaction(database, scope, (tx) =>
      tx.rows<{ count: number }>(
        `select (select count(*) from wallet_auto_topup where state <> 'armed' or evaluate_at is not null)::int
           + (select count(*) from usage.mark where due_at <= now())::int as count`,
        [],
      ),
    );
    if (left?.count === 0) return;
    if (performance.now() > end) throw new Error(`${left?.count} wallets and marks were not looked at in ten minutes`);
    await delay(500);
  }
}

const meterTerms = { aggregation: { type: 'SUM', field: 'n' } };

/** Another environment with as many customers and the same meter, which nobody watches. */
async function unwatchedScope({ database }: BenchPlatform): Promise<Scope> {
  const scope = {
    ...(await createSandbox(database, { tenantName: 'Unwatched' })),
    actor: 'system',
    requestId: 'bench',
  };
  const none = { expression: null, multiplier: null, bucket_size: null, group_by: null };
  const aggregation = { ...none, ...meterTerms.aggregation };
  const meter = { name: 'Tokens', eventName, aggregation, filters: [], resetUsage: 'BILLING_PERIOD' };
  await inTransaction(database, scope, async (tx) => {
    for (let index = 0; index < wallets; index += 1) {
      await createCustomer(tx, { externalId: `customer-${index}`, name: `customer-${index}` });
    }
    await buildMeterRollups(tx, await createMeter(tx, meter));
  });
  return scope;
}

/** Offers events at their pace for some seconds, two batches at once; answers how many a second were stored. */
async function ingest(
  { metering }: BenchPlatform,
  scope: Scope,
  watched: { walletIds: readonly string[]; crossings: Crossing[] } | null,
): Promise<number> {
  const batches = (seconds * offeredASecond) / batchEvents;
  const began = performance.now();
  const places = Array.from({ length: batches }, (_, index) => index).values();
  const writer = async () => {
    for (const index of places) {
      const dueMs = began + (index * batchEvents * 1_000) / offeredASecond - performance.now();
      if (dueMs > 0) await delay(dueMs);
      const crossing = watched && index % Math.floor(batches / crossingsARun) === 0 ? watched.crossings.length : -1;
      const walletId = watched?.walletIds[crossing];
      const taken = walletId === undefined ? null : { walletId, atMs: 0 };
      if (taken) watched?.crossings.push(taken);
      await metering.append(scope, eventsOf(index, taken ? crossing : null));
      if (taken) taken.atMs = Date.now();
    }
  };
  await Promise.all([writer(), writer()]);
  return (batches * batchEvents * 1_000) / (performance.now() - began);
}

/** A batch of tiny uses of most customers; one of them, where it is told, uses up what it has. */
function eventsOf(batch: number, crossing: number | null) {
  const event = (customer: number, n: string) =>
    prepareEvent({
      event_name: eventName,
      external_customer_id: `customer-${customer}`,
      event_id: randomUUID(),
      properties: { n },
    });
  const tiny = Array.from({ length: batchEvents - 1 }, (_, index) =>
    event((batch * batchEvents + index * 7) % wallets, '0.0001'),
  );
  return [...tiny, event(crossing ?? batch % wallets, crossing === null ? '0.0001' : '90')];
}

async function report(platform: BenchPlatform, crossings: readonly Crossing[]): Promise<void> {
  const openedAt = await attemptsOf(platform, crossings);
  const told: number[] = [];
  for (const { walletId, atMs } of crossings) {
    for (const signalledMs of await signalsOf(platform, walletId)) told.push(signalledMs - atMs);
  }
  const signals = told.length;
  const opened = crossings.map(({ walletId, atMs }) => openedAt.get(walletId)! - atMs);
  for (const [what, waits] of Object.entries({ signal: told, attempt: opened })) {
    const figures = { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) };
    console.log(JSON.stringify({ bench: `top-up-watch: crossing to ${what}, ms`, ...figures }));
  }
  console.log(JSON.stringify({ bench: 'top-up-watch: signals a crossing', crossings: crossings.length, signals }));
  if (signals !== crossings.length) throw new Error(`${signals} signals for ${crossings.length} crossings`);
}

/** Real instants at which the wallets' attempts were opened, one each, in milliseconds. */
async function attemptsOf(
  { database, scope }: BenchPlatform,
  crossings: readonly Crossing[],
): Promise<Map<string, number>> {
  const ids = crossings.map(({ walletId }) => walletId);
  const read = () =>
    inSqlTransaction(database, scope, (tx) =>
      tx.rows<{ wallet_id: string; at: string }>(
        `select wallet_id, (extract(epoch from created_at) * 1000)::text as at from auto_topup_attempt where wallet_id = any($1)`,
        [ids],
      ),
    );
  const end = performance.now() + 120_000;
  for (;;) {
    const rows = await read();
    if (new Set(rows.map((row) => row.wallet_id)).size === ids.length || performance.now() > end) {
      if (rows.length !== ids.length) throw new Error(`${rows.length} attempts for ${ids.length} crossings`);
      return new Map(rows.map((row) => [row.wallet_id, Number(row.at)]));
    }
    await delay(500);
  }
}

/** Real instants at which the workflow of a wallet was told that its balance fell, over all of its runs, in milliseconds. */
async function signalsOf({ temporal }: BenchPlatform, walletId: string): Promise<number[]> {
  const instants: number[] = [];
  for (let runId: string | undefined; ; ) {
    const { events } = await temporal.workflow.getHandle(autoTopUpWorkflowId(walletId), runId).fetchHistory();
    for (const event of events ?? []) {
      if (event.workflowExecutionSignaledEventAttributes?.signalName !== 'balanceDropped') continue;
      instants.push(Number(event.eventTime?.seconds) * 1_000 + Number(event.eventTime?.nanos) / 1e6);
    }
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    if (!runId) return instants;
  }
}
