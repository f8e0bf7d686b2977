import { parseArgs } from 'node:util';
import pg from 'pg';
import { newEventId, prepareEvent } from '../metering/event.ts';
import { checkInvariants, makeEvents, makeMeters, postRows, rows } from './ingest/ingest-bulk.ts';
import { compare } from './measure.ts';
import { type BenchServer, startBenchServer } from './server.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rows: { type: 'string', default: '20000000' } },
});
const storedRows = Number(values.rows);
const batchRows = 20_000;
const dayMs = 86_400_000;
const customers = 20_000;

/**
 * Bulks over HTTP into an installation that has `--rows` events (20 M), of 20 000 customers over a month, against an empty one.
 * Afterwards keys = acknowledged events and roll-ups = recomputation in the empty one, and keys = events in the other.
 */
export async function run(): Promise<void> {
  const empty = await startBenchServer();
  const grown = await startBenchServer();
  try {
    await makeMeters(empty);
    await makeMeters(grown);
    await fill(grown, storedRows);
    let [intoEmpty, intoGrown] = [0, storedRows];
    await compare({
      bench: 'growth',
      reference: () => {
        intoEmpty += rows;
        return postRows(empty, makeEvents());
      },
      product: () => {
        intoGrown += rows;
        return postRows(grown, makeEvents());
      },
    });
    await withOwner(empty, (owner) => checkInvariants(empty, owner, intoEmpty));
    const { keys, events } = await withOwner(grown, async (owner) => (await owner.query(countText)).rows[0]);
    if (keys !== intoGrown || events !== intoGrown) {
      throw new Error(`invariants broken: ${JSON.stringify({ acknowledged: intoGrown, keys, events })}`);
    }
  } finally {
    await grown.stop();
    await empty.stop();
  }
}

const countText =
  'select (select count(*)::int from usage.event_key) as keys, (select count(*)::int from usage.event) as events';

/** Two lanes of disjoint customers: the numbers of an event and of its customer are even or odd together. */
async function fill(server: BenchServer, count: number): Promise<void> {
  await Promise.all([0, 1].map((lane) => fillLane(server, count, lane)));
}

async function fillLane(server: BenchServer, count: number, lane: number): Promise<void> {
  const scope = { ...server.sandbox, actor: 'bench', requestId: 'bench' };
  const began = Date.now() - 30 * dayMs;
  for (let from = 0; from < count; from += 2 * batchRows) {
    const numbers = Array.from({ length: batchRows }, (_, index) => from + 2 * index + lane);
    const events = numbers
      .filter((number) => number < count)
      .map((number) => {
        const atMs = began + Math.floor((number / count) * 30 * dayMs);
        return prepareEvent({
          event_id: newEventId(atMs),
          event_name: 'api_call',
          external_customer_id: `customer-${(number * 7919) % customers}`,
          timestamp: new Date(atMs).toISOString(),
          source: 'bench',
          properties: { region: number % 3 === 0 ? 'eu' : 'us', units: `${number % 1000}.25`, path: '/v1/things' },
        });
      });
    if (events.length > 0) await server.store.load(scope, events, async () => undefined);
    if (lane === 0 && from % 1_000_000 === 0) console.error(`${from} of ${count} events stored`);
  }
}

async function withOwner<T>(server: BenchServer, work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}
