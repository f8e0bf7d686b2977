import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { poll } from '../../dev/processes.ts';
import { createSandbox } from '../../services/platform/tenant.ts';
import { ownCpuMs, ownMemoryMiB, programCpuMs } from '../cpu.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { register, startSending } from './webhook-bench.ts';

const environments = 250;
const endpointsOfEach = 20;
const endpoints = environments * endpointsOfEach;
const measuredMs = 60_000;
const patienceMs = 120_000;
/** Timers that endpoints may bring altogether: none of their own. */
const mostTimers = 50;

/**
 * Cost of endpoints that get nothing, 5 000 of them over 250 environments, beside the same workers without one: processor seconds a minute of
 * workers and of PostgreSQL, statements a second, timers, and memory. Fails where endpoints have timers of their own.
 * design: people-and-events §A 5, B 28
 */
export async function run(): Promise<void> {
  const statements = countStatements();
  await withBenchPlatform(async (platform) => {
    await startSending(platform);
    const none = await idleCost(platform, statements);
    say(0, none);
    await makeEndpoints(platform);
    const all = await idleCost(platform, statements);
    say(endpoints, all);
    if (all.timers - none.timers > mostTimers) {
      throw new Error(`${endpoints} endpoints that get nothing have ${all.timers - none.timers} timers`);
    }
  });
}

type Cost = Awaited<ReturnType<typeof idleCost>>;

function say(count: number, cost: Cost): void {
  const rounded = Object.fromEntries(Object.entries(cost).map(([name, value]) => [name, Number(value.toPrecision(3))]));
  console.log(JSON.stringify({ bench: 'webhook-idle', endpoints: count, ...rounded }));
}

/** Cost of a minute in which nothing happens, once what came before has settled. */
async function idleCost({ postgres }: BenchPlatform, statements: () => number) {
  await delay(measuredMs / 4);
  const [cpuMs, postgresCpuMs, sent] = [ownCpuMs(), programCpuMs(postgres.program), statements()];
  const timers: number[] = [];
  const beganAt = performance.now();
  while (performance.now() - beganAt < measuredMs) {
    await delay(measuredMs / 60);
    timers.push(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length);
  }
  const seconds = (performance.now() - beganAt) / 1000;
  const aMinute = (ms: number) => (ms / 1000 / seconds) * 60;
  return {
    workerCpuSecondsPerMinute: aMinute(ownCpuMs() - cpuMs),
    postgresCpuSecondsPerMinute: aMinute(programCpuMs(postgres.program) - postgresCpuMs),
    statementsPerSecond: (statements() - sent) / seconds,
    timers: Math.max(...timers),
    memoryMiB: ownMemoryMiB(),
  };
}

async function makeEndpoints(platform: BenchPlatform): Promise<void> {
  for (let n = 0; n < environments; n += 1) {
    const { tenantId, environmentId } = await createSandbox(platform.database, { tenantName: `Tenant ${n}` });
    const scope = { ...platform.scope, tenantId, environmentId };
    for (let k = 0; k < endpointsOfEach; k += 1) {
      await register({ ...platform, scope }, `http://127.0.0.1:9/hook-${n}-${k}`);
    }
  }
  const served = async () => {
    const [row] = await inSqlTransaction(platform.database, systemScope, (tx) =>
      tx.rows<{ count: number }>('select count(*)::int as count from webhook_cursor where owner is not null'),
    );
    return row?.count === endpoints ? true : undefined;
  };
  if (!(await poll(served, patienceMs, 500))) throw new Error(`${endpoints} endpoints are not all served`);
}

/** Counts what this process sends to PostgreSQL from now on. */
function countStatements(): () => number {
  let count = 0;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...args: Parameters<typeof query>) {
    count += 1;
    return query.apply(this, args);
  } as typeof query;
  return () => count;
}
