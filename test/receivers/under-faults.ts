import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inParallel } from '../../dev/demo/client.ts';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { poll } from '../../dev/processes.ts';
import { faultClient } from '../faults/client.ts';
import { crashPointsOfActivities, reachedCrashPoints } from '../faults/crash-points.ts';
import { type Installation, startInstallation } from '../faults/installation.ts';
import { killInTurn } from '../faults/killer.ts';
import { type PartName, partNames, waitUntil } from '../faults/part.ts';
import { type Random, seededRandom } from '../faults/random.ts';
import type { StepResult } from './conversation.ts';
import type { Language } from './page.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Receivers that no part of the product wrote, in languages that are not its own. */
const foreign: readonly Language[] = ['python', 'go'];
const eventTypes = ['customer.created', 'customer.updated'];
const eventsPerObject = 50;
const lanes = 8;
/** Deliveries for each of which one kill is made. */
const deliveriesPerKill = 250;
const catchUpLimitMs = 180_000;
const lookEveryMs = 500;

export interface FaultOptions {
  /** Events that each receiver is to get. */
  deliveries: number;
  seed: number;
  say(line: string): void;
}

/**
 * Sends so many events to the receivers in Python and Go while workers, API, PostgreSQL and Temporal are killed in seeded order, workers also
 * at the crash points of delivery. Afterwards each receiver has to have verified every event, and to have seen no gap.
 * design: people-and-events §A 4, 6 (I10)
 */
export async function receiveThroughFaults(options: FaultOptions): Promise<StepResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-receivers-'));
  // PostgreSQL started by root runs under another account, which must get into the directory.
  chmodSync(directory, 0o711);
  const receivers: Receiver[] = [];
  let installation: Installation | undefined;
  const end = async () => {
    for (const receiver of receivers) await receiver.stop();
    await installation?.stop();
    removeDirectory(join(directory, 'postgres'));
    rmSync(directory, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end().then(() => process.exit(130)));
  try {
    for (const language of foreign) receivers.push(await startReceiver(language, join(directory, language)));
    const faults = new Faults(options, directory);
    installation = await faults.install(receivers.map(({ host }) => host));
    for (const receiver of receivers) await connect(installation, receiver);
    options.say(`${options.deliveries} events are sent to each of ${foreign.length} receivers, seed ${options.seed}`);
    await faults.during(installation, () => writeEvents(installation as Installation, options));
    await faults.heal(installation);
    const results = [];
    for (const receiver of receivers) results.push(await resultOf(receiver, installation.ownerUrl, faults.summary));
    return results;
  } finally {
    await end();
  }
}

/** Kills of one run. */
class Faults {
  readonly #options: FaultOptions;
  readonly #directory: string;
  readonly #random: Random;
  readonly #points = crashPointsOfActivities().filter((point) => point.startsWith('webhook.'));
  readonly #kills: Record<PartName, number> = { worker: 0, API: 0, PostgreSQL: 0, Temporal: 0 };
  #isOver = false;
  #failure: Error | undefined;

  constructor(options: FaultOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.#random = seededRandom(options.seed);
  }

  get #count(): number {
    return partNames.reduce((sum, name) => sum + this.#kills[name], 0);
  }

  get #crashes(): number {
    return reachedCrashPoints(join(this.#directory, 'worker.log')).length;
  }

  /** Numbers of kills, in words. */
  get summary(): string {
    const byPart = partNames.map((name) => `${name} ${this.#kills[name]}`).join(', ');
    return `${byPart}, worker at crash points ${this.#crashes}`;
  }

  /** An installation whose workers die at a crash point of delivery, each time at another one. */
  install(hosts: readonly string[]): Promise<Installation> {
    const fail = (problem: string) => {
      this.#failure ??= new Error(problem);
    };
    return startInstallation({
      directory: this.#directory,
      receiverHost: hosts.join(','),
      armedPoints: () =>
        this.#isOver ? '' : `${this.#random.oneOf(this.#points)}:${1 + this.#random.whole(deliveriesPerKill * 4)}`,
      onSurprise: fail,
      onGivingUp: fail,
      onWorkerEnd: () => undefined,
      say: this.#options.say,
    });
  }

  /** Kills while `work` goes on, in step with it. Throws when a part ended by itself or did not come back. */
  async during(installation: Installation, work: () => Promise<void>): Promise<void> {
    const pool = new pg.Pool({ connectionString: installation.ownerUrl, max: 1 });
    pool.on('error', () => undefined);
    let written = 0;
    const progress = async () => {
      written = (await countOf(pool)) ?? written;
      return written;
    };
    const killing = killInTurn({
      installation,
      random: this.#random,
      progress,
      isWanted: () => !this.#isOver && this.#failure === undefined,
      mayKill: () => this.#count * deliveriesPerKill < written,
      onKill: (name) => {
        this.#kills[name] += 1;
        this.#options.say(`killed ${name} after ${written} events`);
      },
      onPause: () => undefined,
    });
    try {
      await work();
    } finally {
      this.#isOver = true;
      await killing.finally(() => pool.end());
    }
    if (this.#failure) throw this.#failure;
  }

  /** Has every part run, none of them armed. */
  async heal({ parts }: Installation): Promise<void> {
    const { starts } = parts.worker;
    parts.worker.kill();
    const isBack = () => partNames.every((name) => parts[name].isReady) && parts.worker.starts > starts;
    await waitUntil('every part is back', 90_000, isBack);
  }
}

async function countOf(pool: pg.Pool): Promise<number | undefined> {
  try {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::int as count from outbox_event where event_name = any($1)',
      [eventTypes],
    );
    return rows[0]?.count;
  } catch {
    return undefined;
  }
}

async function connect({ apiUrl, apiKey }: Installation, { url, secret }: Receiver): Promise<void> {
  const answer = await fetch(`${apiUrl}/v1/webhooks/endpoints`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url, secret, event_types: eventTypes }),
  });
  if (answer.status !== 201) throw new Error(`a receiver was not registered: ${await answer.text()}`);
}

/** Makes customers and changes each of them until there are enough events, through the API alone. */
async function writeEvents({ apiUrl, apiKey }: Installation, { deliveries, seed }: FaultOptions): Promise<void> {
  const api = faultClient(apiUrl, apiKey, seededRandom(seed + 1));
  const objects = Math.ceil(deliveries / eventsPerObject);
  const counts = Array.from({ length: objects }, (_, n) => Math.min(eventsPerObject, deliveries - n * eventsPerObject));
  await inParallel([...counts.entries()], lanes, async ([n, count]) => {
    const { id } = await api.send<{ id: string }>('POST', '/customers', { external_id: `rec-${n}`, name: 'Number 1' });
    for (let k = 2; k <= count; k += 1) await api.send('PUT', `/customers/${id}`, { name: `Number ${k}` });
  });
}

/** Comparison of what a receiver wrote with what was committed, once it has everything or some minutes have passed. */
async function resultOf(receiver: Receiver, ownerUrl: string, kills: string): Promise<StepResult> {
  const committed = await committedEvents(ownerUrl);
  const received = () => new Set(receiver.lines().flatMap((line) => /^received (\S+ \d+)/.exec(line)?.[1] ?? []));
  const missing = () => {
    const known = received();
    return committed.filter((event) => !known.has(event));
  };
  await poll(() => (missing().length === 0 ? true : undefined), catchUpLimitMs, lookEveryMs);
  const gaps = receiver.lines().filter((line) => line.startsWith('gap:'));
  const left = missing();
  const problems = [
    ...(left.length === 0 ? [] : [`${left.length} events were not received, the first ${left[0]}`]),
    ...(gaps.length === 0 ? [] : [`it saw ${gaps.length} gaps, the first "${gaps[0]}"`]),
  ];
  const name = `${receiver.language}: ${received().size} deliveries of ${committed.length} events verified, ${gaps.length} gaps; kills: ${kills}`;
  return { name, problem: problems.join('; ') };
}

async function committedEvents(ownerUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ event: string }>(
      `select entity_id || ' ' || sequence as event from outbox_event where event_name = any($1)`,
      [eventTypes],
    );
    return rows.map(({ event }) => event);
  } finally {
    await client.end();
  }
}
