import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { serveFiles } from '../../bench/ingest/file-server.ts';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { startStripeFake } from '../../dev/provider-fakes/stripe/server.ts';
import { faultClient } from './client.ts';
import { miscopied } from './copies.ts';
import { crashPointsOfActivities, reachedCrashPoints } from './crash-points.ts';
import { type Installation, startInstallation } from './installation.ts';
import { killInTurn } from './killer.ts';
import { connectNotifying, lostNotifications, notifyInTurn } from './notifications.ts';
import { type PartName, partNames, waitUntil } from './part.ts';
import { seededRandom } from './random.ts';
import { standingWorkflows } from './standing.ts';
import { brokenInvariants, differencesFromOracle, waitForQuiet } from './verdict.ts';
import { runWave, type Wave } from './wave.ts';
import { startWebhookReceiver } from './webhooks.ts';

/**
 * `npm run test:faults [-- --kills N --seed 1 --airports 5]`: the demo's main job, once whole and then with fewer airports, on an installation
 * of real processes that are killed and paused in seeded order and at every named crash point; afterwards all invariants
 * hold and every invoice is the oracle's to the cent, once, paid once. design: quality.md Faults
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string', default: '1' },
    airports: { type: 'string', default: '5' },
    points: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [seed, airports] = [Number(values.seed), Number(values.airports)];
/** Kills of whatever part, at whatever moment, beside those at crash points. */
const killsBetween = 12;
const demoAirports = 40;
/** Waves under way at a time: each stands still for some seconds when a step of it dies, until the worker is taken for dead. */
const lanes = 2;
const startedMs = performance.now();
const directory = mkdtempSync(join(tmpdir(), 'perennial-faults-'));
const random = seededRandom(seed);
const points = crashPointsOfActivities();
const killsWanted = Number(values.kills ?? points.length + killsBetween);
const stripe = await startStripeFake();
const receiver = await startWebhookReceiver(seededRandom(seed + 2));
const unreached = new Set(values.points ? points : []);
const results: { name: string; problem: string }[] = [];
const surprises: string[] = [];
const kills: Record<PartName, number> = { worker: 0, API: 0, PostgreSQL: 0, Temporal: 0 };
const pauses: Record<PartName, number> = { worker: 0, API: 0, PostgreSQL: 0, Temporal: 0 };
let crashes = 0;
let failure: Error | undefined;
let installation: Installation | undefined;
let isHealing = false;

const killsSoFar = () => crashes + partNames.reduce((sum, name) => sum + kills[name], 0);
const isWanted = () => failure === undefined && (killsSoFar() < killsWanted || unreached.size > 0);

function say(line: string): void {
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

function record(name: string, problem: string): void {
  results.push({ name, problem });
  say(problem === '' ? `passed: ${name}` : `FAILED (seed ${seed}): ${name}: ${problem}`);
}

function fail(problem: string): void {
  failure ??= new Error(problem);
}

/**
 * All points not reached yet, since the next meeting of one may be a wave away. When each had its turn, any of them, at one of the next
 * times it is reached.
 */
function armedPoints(): string {
  if (isHealing || !values.points || !isWanted()) return '';
  if (unreached.size === 0) return `${random.oneOf(points)}:${1 + random.whole(5)}`;
  return [...unreached].join(',');
}

function noteCrashes(): void {
  const reached = reachedCrashPoints(join(directory, 'worker.log'));
  for (const point of reached.slice(crashes)) {
    unreached.delete(point);
    say(`the worker died at ${point}`);
  }
  crashes = reached.length;
}

async function progressOf(pool: pg.Pool): Promise<number | undefined> {
  try {
    const { rows } = await pool.query<{ changes: number }>('select count(*)::int as changes from audit_entry');
    return rows[0]?.changes;
  } catch {
    return undefined;
  }
}

/** Lanes of waves of the main job until enough was killed; the last ones are finished in peace. */
async function billThroughFaults(running: Installation): Promise<{ waves: Wave[]; notified: string[] }> {
  const api = faultClient(running.apiUrl, running.apiKey, seededRandom(seed + 1));
  const pool = new pg.Pool({ connectionString: running.ownerUrl, max: 1 });
  pool.on('error', () => undefined);
  const files = await serveFiles();
  const waves: Wave[] = [];
  let notified: string[] = [];
  let begun = 0;
  const billInTurn = async () => {
    do {
      // The first is the whole demo.
      begun += 1;
      waves.push(await runWave(api, files, begun === 1 ? demoAirports : airports));
      say(`wave ${waves.length} is billed; ${killsSoFar()} kills`);
    } while (isWanted());
  };
  const killing = killInTurn({
    installation: running,
    random,
    progress: () => progressOf(pool),
    isWanted,
    // The last kills are those of the crash points.
    mayKill: () => killsSoFar() + unreached.size < killsWanted,
    onKill(name) {
      kills[name] += 1;
      say(`killed ${name} (${killsSoFar()})`);
    },
    onPause(name) {
      pauses[name] += 1;
      say(`paused ${name}`);
    },
  }).catch((error: Error) => fail(error.message));
  try {
    // While what one wave waits for is away the other goes on.
    await connectNotifying(api);
    [notified] = await Promise.all([notifyInTurn(running, isWanted), ...Array.from({ length: lanes }, billInTurn)]);
  } catch (error) {
    failure ??= error as Error;
  } finally {
    await killing;
    await pool.end();
    files.close();
    const { retries, requests, repeated } = api.counts;
    for (const [reason, count] of retries) say(`${count} tries ended with ${reason}`);
    say(`${requests} requests, ${repeated} of them repeated after their answer`);
    const wrong = [...retries].filter(([reason]) => reason.startsWith('500'));
    record(
      'what cannot be answered for an outage is answered 503',
      wrong.map(([reason, count]) => `${count} times ${reason}`).join(),
    );
  }
  return { waves, notified };
}

async function heal({ parts }: Installation): Promise<void> {
  isHealing = true;
  // A worker that is still armed makes place for one that is not.
  parts.worker.kill();
  const starts = parts.worker.starts;
  await waitUntil(
    'every part is back',
    90_000,
    () => partNames.every((name) => parts[name].isReady) && parts.worker.starts > starts,
  );
}

async function run(): Promise<void> {
  say(
    `seed ${seed}, ${killsWanted} kills, ${unreached.size} crash points, a wave of ${demoAirports} airports, then of ${airports}; logs in ${directory}`,
  );
  installation = await startInstallation({
    directory,
    stripeUrl: stripe.url,
    receiverHost: receiver.host,
    armedPoints,
    onSurprise: (problem) => {
      surprises.push(problem);
      say(problem);
    },
    onGivingUp: fail,
    onWorkerEnd: noteCrashes,
    say,
  });
  await receiver.connect(installation);
  say('everything runs');
  const { waves, notified } = await billThroughFaults(installation);
  if (failure) throw failure;
  record(
    `${killsSoFar()} kills, every crash point among them`,
    unreached.size === 0 ? '' : `never reached: ${[...unreached]}`,
  );
  await heal(installation);
  await waitForQuiet(installation.ownerUrl);
  record('the installation becomes quiet', '');
  const broken = await brokenInvariants(installation, { stripe });
  record('all invariants hold', broken.slice(0, 3).join('; '));
  const lost = await lostNotifications(installation.ownerUrl, notified);
  record(`${notified.length} notifications are kept once and through`, lost.slice(0, 3).join('; '));
  const gaps = await receiver.problems(installation.ownerUrl);
  record(`${receiver.count} webhooks are received, in order per object and without a gap`, gaps.slice(0, 3).join('; '));
  const api = faultClient(installation.apiUrl, installation.apiKey, seededRandom(seed));
  const { invoices, problems } = await differencesFromOracle(api, waves);
  record(
    `${invoices} invoices of ${waves.length} waves are billed as the oracle says and paid once`,
    problems.slice(0, 3).join('; '),
  );
  const copies = await miscopied(api, installation.ownerUrl);
  record('every feature and plan is in the other environment once', copies.slice(0, 3).join('; '));
  record('no part ended by itself', surprises[0] ?? '');
}

async function end(code: number): Promise<never> {
  await installation?.stop();
  await stripe.close();
  receiver.close();
  if (code === 0) {
    removeDirectory(join(directory, 'postgres'));
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130));
// PostgreSQL started by root runs under another account, which must get into the directory.
chmodSync(directory, 0o711);
try {
  await run();
} catch (error) {
  record('the main job goes on through all faults', (failure ?? (error as Error)).stack ?? String(error));
  if (installation) for (const line of await standingWorkflows(installation)) say(line);
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
const byKind = partNames.map((name) => `${name} ${kills[name]}`).join(', ');
const paused = partNames.map((name) => `${name} ${pauses[name]}`).join(', ');
console.log(
  `seed ${seed}: ${killsSoFar()} kills (${byKind}, worker at crash points ${crashes}), pauses (${paused}), ${seconds} s`,
);
const failed = results.filter(({ problem }) => problem !== '').length;
console.log(`${results.length - failed} passed, ${failed} failed`);
await end(failed === 0 ? 0 : 1);
