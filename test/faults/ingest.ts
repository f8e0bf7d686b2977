import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { faultClient } from './client.ts';
import { runStorm, type Storm, stormMeters } from './ingest-storm.ts';
import { type Installation, startInstallation } from './installation.ts';
import { type PartName, waitUntil } from './part.ts';
import { seededRandom } from './random.ts';
import { brokenInvariants } from './verdict.ts';

/**
 * `node test/faults/ingest.ts [--kills 40 --seed 1]`: 32 connections send events, a third of them repeats, while PostgreSQL and
 * the API are killed in mid-batch and answers are lost; afterwards every acknowledged event is stored exactly once and the sum of
 * the roll-ups is the sum of the events. design: quality.md Faults
 */
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '40' }, seed: { type: 'string', default: '1' } },
});
const [killsWanted, seed] = [Number(values.kills), Number(values.seed)];
const startedMs = performance.now();
const directory = mkdtempSync(join(tmpdir(), 'perennial-storm-'));
const random = seededRandom(seed);
const victims: readonly PartName[] = ['PostgreSQL', 'PostgreSQL', 'API'];
const betweenKillsMs = 1_500;
const comeBackMs = 90_000;
const storm: Storm = { acknowledged: new Set(), requests: 0, sum: 0, retries: new Map() };
const problems: string[] = [];
let kills = 0;
let isGivenUp = false;

function say(line: string): void {
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

/** Kills in seeded order, each after something was acknowledged since the one before. */
async function killInStorm({ parts }: Installation): Promise<void> {
  while (kills < killsWanted && !isGivenUp) {
    const before = storm.requests;
    await waitUntil('an acknowledgement', comeBackMs, () => isGivenUp || storm.requests > before);
    await delay(random.whole(betweenKillsMs));
    const name = random.oneOf(victims);
    await waitUntil(`${name} is back`, comeBackMs, () => isGivenUp || parts[name].isReady);
    if (!isGivenUp && parts[name].kill()) {
      kills += 1;
      say(`killed ${name} (${kills}); ${storm.acknowledged.size} events acknowledged`);
    }
  }
}

interface Stored {
  events: number;
  keys: number;
  twice: number;
  rolled: string;
  summed: string;
  same: string;
  [column: string]: unknown;
}

const storedText = `
with number_of as (select e.event_name, usage.quantity(e.props -> 'n') as q from usage.event e), named as (
  select n.name, number_of.q from number_of join usage.event_name n on n.number = number_of.event_name)
select (select count(*)::int from usage.event) as events, (select count(*)::int from usage.event_key) as keys,
  (select count(*)::int from (select from usage.event group by env, key having count(*) > 1) more) as twice,
  (select trim_scale(sum(r.s))::text from usage.rollup r join meter m on m.number = r.meter where m.aggregation ->> 'type' = 'SUM') as rolled,
  (select trim_scale(sum(q))::text from named) as summed, (select trim_scale(sum(q))::text from named where name = 'storm.same') as same`;

/** What of the storm was lost, doubled or counted wrong. */
async function verdict(installation: Installation): Promise<string[]> {
  const client = new pg.Client({ connectionString: installation.ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Stored>(storedText);
    const { rows: missing } = await client.query<{ id: string }>(
      'select id from unnest($1::text[]) as t(id) where not exists (select from usage.event e where e.key = id::uuid)',
      [[...storm.acknowledged]],
    );
    const stored = rows[0]!;
    say(JSON.stringify({ acknowledged: storm.acknowledged.size, ...stored }));
    const checks: [boolean, string][] = [
      [missing.length === 0, `${missing.length} acknowledged events are not stored`],
      [stored.twice === 0, `${stored.twice} events are stored more than once`],
      [stored.events === storm.acknowledged.size, `${stored.events} events are stored`],
      [stored.keys === stored.events, `${stored.keys} keys, ${stored.events} events`],
      [stored.rolled === stored.summed, `roll-ups ${stored.rolled}, events ${stored.summed}`],
      [stored.same === String(storm.sum), `${stored.same} of what was sent as ${storm.sum}`],
    ];
    return [
      ...checks.flatMap(([holds, problem]) => (holds ? [] : [problem])),
      ...(await brokenInvariants(installation)).slice(0, 3),
    ];
  } finally {
    await client.end();
  }
}

async function run(installation: Installation): Promise<void> {
  const { apiUrl, apiKey, parts } = installation;
  const api = faultClient(apiUrl, apiKey, seededRandom(seed));
  for (const { eventName, type } of stormMeters) {
    const aggregation = { type, field: 'n' };
    const meter = { name: `${eventName} ${type}`, event_name: eventName, aggregation, reset_usage: 'BILLING_PERIOD' };
    await api.send('POST', '/meters', meter);
  }
  say(`everything runs; seed ${seed}, ${killsWanted} kills`);
  const killing = killInStorm(installation);
  try {
    await Promise.all([killing, runStorm({ apiUrl, apiKey, seed }, storm, () => kills < killsWanted && !isGivenUp)]);
  } finally {
    isGivenUp = true;
    await killing.catch(() => undefined);
  }
  for (const [reason, count] of storm.retries) say(`${count} tries ended with ${reason}`);
  await waitUntil('every part is back', comeBackMs, () => parts.PostgreSQL.isReady && parts.API.isReady);
  problems.push(...(await verdict(installation)));
}

// PostgreSQL started by root runs under another account, which must get into the directory.
chmodSync(directory, 0o711);
const nothing = () => undefined;
const installation = await startInstallation({
  directory,
  armedPoints: () => '',
  onSurprise: (problem) => problems.push(problem),
  onGivingUp: (problem) => problems.push(problem),
  onWorkerEnd: nothing,
  say,
});
try {
  await run(installation);
} catch (error) {
  problems.push((error as Error).stack ?? String(error));
} finally {
  await installation.stop();
}
for (const problem of problems) say(`FAILED (seed ${seed}): ${problem}`);
if (problems.length === 0) {
  say(`passed: ${kills} kills lost and doubled nothing of ${storm.acknowledged.size} events`);
  removeDirectory(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
}
process.exit(problems.length === 0 ? 0 : 1);
