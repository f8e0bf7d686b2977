import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRunning } from '../dev/home.ts';
import { freePort } from '../dev/ports.ts';
import { removeDirectory } from '../dev/postgres-account.ts';
import { poll } from '../dev/processes.ts';
import { advanceClock, makeCustomer, makePlan, makeSubscription, sendCalls } from './account.ts';
import type { BenchPlatform } from './platform.ts';

const starts = Number(process.env.BENCH_STARTS || 5);
const limitMs = 120_000;

/**
 * Seconds from `npm start` on an empty directory to the first finalized usage invoice, asked for through the HTTP API. The
 * binaries are there; PostgreSQL's data, the schema, Temporal's store and the tenant are made.
 */
export async function run(): Promise<void> {
  const seconds: number[] = [];
  for (let start = 1; start <= starts; start += 1) {
    const took = await coldStart();
    seconds.push(took.seconds);
    console.log(JSON.stringify({ bench: 'cold-start', start, ...took }));
  }
  const sorted = seconds.toSorted((a, b) => a - b);
  const ratio = sorted[Math.floor(starts / 2)] ?? 0;
  const [min, max] = [sorted[0], sorted.at(-1)];
  console.log(JSON.stringify({ bench: 'cold-start', ratio, min, max, reference: 1, product: ratio }));
}

async function coldStart(): Promise<{ seconds: number; ready: number; total: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-cold-'));
  // PostgreSQL started by root runs under another account, which must get into the directory.
  chmodSync(directory, 0o711);
  const home = join(directory, 'home');
  const logFile = join(directory, 'start.log');
  const began = performance.now();
  const since = () => Number(((performance.now() - began) / 1000).toFixed(2));
  const log = openSync(logFile, 'w');
  const launcher = spawn('npm', ['start', '--silent'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', log, log],
    env: { ...process.env, PERENNIAL_HOME: home, PORT: String(await freePort()) },
  });
  const ended = once(launcher, 'exit');
  try {
    const running = await poll(() => readRunning(home), limitMs);
    if (!running) throw new Error(`npm start did not get ready: ${readFileSync(logFile, 'utf8').slice(-500)}`);
    const ready = since();
    const total = await firstUsageInvoice(overHttp(running.apiUrl, running.apiKey));
    return { seconds: since(), ready, total };
  } finally {
    launcher.kill('SIGINT');
    await ended;
    removeDirectory(home);
    removeDirectory(directory);
  }
}

/** A plan, a customer on a test clock, a subscription, twelve calls, a month: 30 for the next one and 1.20 for the calls. */
async function firstUsageInvoice(api: BenchPlatform['api']): Promise<string> {
  const { planId } = await makePlan(api, { fee: '30', perCall: '0.10', eventName: 'call' });
  const clock = await api('POST', '/test-clocks', { frozen_time: '2026-01-15T00:00:00Z' });
  const customerId = await makeCustomer(api, { externalId: 'acme', clockId: clock.id });
  const { id } = await makeSubscription(api, { customer_id: customerId, plan_id: planId });
  await sendCalls(api, { eventName: 'call', externalId: 'acme', count: 12, timestamp: '2026-02-01T00:00:00Z' });
  await advanceClock(api, clock.id, '2026-02-15T03:00:00Z', limitMs);
  const search = { subscription_id: id, limit: 10 };
  const { items } = await api<{ items: Found[] }>('POST', '/invoices/search', search);
  const usage = items.find((invoice) => invoice.billing_reason === 'SUBSCRIPTION_CYCLE');
  if (usage?.invoice_status !== 'FINALIZED' || usage.total !== '31.2') {
    throw new Error(`not the invoice that was expected: ${JSON.stringify(usage ?? null)}`);
  }
  return usage.total;
}

interface Found {
  billing_reason: string;
  invoice_status: string;
  total: string;
}

function overHttp(apiUrl: string, apiKey: string): BenchPlatform['api'] {
  return async <Body>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`${apiUrl}/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as Body;
  };
}
