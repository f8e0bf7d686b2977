import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { removeDirectory } from '../dev/postgres-account.ts';
import { newEventId } from '../metering/event.ts';
import { faultClient } from '../test/faults/client.ts';
import { type Installation, startInstallation } from '../test/faults/installation.ts';
import { seededRandom } from '../test/faults/random.ts';
import { brokenInvariants } from '../test/faults/verdict.ts';
import { serveFiles } from './ingest/file-server.ts';

const { values } = parseArgs({ args: process.argv.slice(3), options: { minutes: { type: 'string', default: '10' } } });
const durationMs = Number(values.minutes) * 60_000;
const connections = 8;
const batchRows = 100;
const importRows = 20_000;
const sampleMs = 1_000;
const watched = ['API', 'worker'] as const;

/**
 * Resident memory of API and worker in the last third of `--minutes` (10) of load against the second one: bulks from eight
 * connections, and one import after the other. Flat is 1; the first third is warm-up. Fails when an invariant does not hold.
 */
export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-soak-'));
  chmodSync(directory, 0o711);
  const complain = (problem: string) => {
    throw new Error(problem);
  };
  const installation = await startInstallation({
    directory,
    armedPoints: () => '',
    onSurprise: complain,
    onGivingUp: complain,
    onWorkerEnd: () => undefined,
    say: (line) => console.error(line),
  });
  try {
    const samples = await load(installation);
    for (const name of watched) report(name, samples[name]);
    const broken = await brokenInvariants(installation);
    if (broken.length > 0) throw new Error(`invariants do not hold: ${broken.slice(0, 5).join('; ')}`);
  } finally {
    await installation.stop();
    removeDirectory(directory);
  }
}

async function load(installation: Installation): Promise<Record<(typeof watched)[number], number[]>> {
  const api = faultClient(installation.apiUrl, installation.apiKey, seededRandom(1));
  const files = await serveFiles();
  const end = performance.now() + durationMs;
  const isOver = () => performance.now() >= end;
  const aggregation = { type: 'SUM', field: 'units' };
  await api.send('POST', '/meters', { name: 'Calls', event_name: 'api_call', aggregation, reset_usage: 'NEVER' });
  const posting = Array.from({ length: connections }, async () => {
    while (!isOver()) await api.send('POST', '/events/bulk', { events: events(batchRows) });
  });
  const importing = (async () => {
    while (!isOver()) {
      const lines = events(importRows).map((event) => JSON.stringify(event));
      const file_url = files.put('soak.ndjson', lines.join('\n'));
      const task = { task_type: 'IMPORT', entity_type: 'EVENTS', file_type: 'JSON', file_url };
      const { id } = await api.send<{ id: string }>('POST', '/tasks', task);
      while ((await api.send<{ task_status: string }>('GET', `/tasks/${id}`)).task_status !== 'COMPLETED') {
        await delay(sampleMs);
      }
    }
  })();
  const samples = { API: [] as number[], worker: [] as number[] };
  const sampling = (async () => {
    while (!isOver()) {
      for (const name of watched) samples[name].push(installation.parts[name].residentBytes());
      await delay(sampleMs);
    }
  })();
  try {
    await Promise.all([...posting, importing, sampling]);
  } finally {
    files.close();
  }
  return samples;
}

function events(count: number) {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    event_id: newEventId(now),
    event_name: 'api_call',
    external_customer_id: `customer-${index % 500}`,
    timestamp: new Date(now).toISOString(),
    properties: { units: `${index % 1000}.25`, path: '/v1/things' },
  }));
}

function report(name: string, samples: readonly number[]): void {
  const third = Math.floor(samples.length / 3);
  const mean = (part: readonly number[]) => part.reduce((sum, size) => sum + size, 0) / Math.max(1, part.length);
  const reference = mean(samples.slice(third, 2 * third));
  const product = mean(samples.slice(-third));
  const ratio = Number((product / reference).toPrecision(4));
  const mib = (size: number) => Math.round(size / 1024 / 1024);
  const figures = { ratio, min: ratio, max: ratio, reference: mib(reference), product: mib(product) };
  console.log(JSON.stringify({ bench: `soak-${name.toLowerCase()}`, ...figures }));
}
