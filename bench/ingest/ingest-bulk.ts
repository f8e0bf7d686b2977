import { Agent, request } from 'node:http';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { newEventId } from '../../metering/event.ts';
import { buildMeterRollups } from '../../metering/postgres/build-rollups.ts';
import { createMeter } from '../../services/catalogue/meter.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchServer, startBenchServer } from '../server.ts';

export const batches = 100;
const batchRows = 1_000;
const customers = 200;
const connections = 4;
export const rows = batches * batchRows;

export interface BenchEvent {
  event_id: string;
  event_name: string;
  external_customer_id: string;
  timestamp: string;
  source: string;
  properties: Record<string, string>;
}

/**
 * Events over HTTP in bulks of 1 000, from authentication to commit, with two meters on them, against COPY of the same
 * rows into a table without any index. Afterwards keys = acknowledged events and roll-ups = recomputation, else it fails.
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  try {
    await owner.query(
      'create table public.bench_bare (id text, name text, customer text, ts timestamptz, source text, props json)',
    );
    await makeMeters(server);
    let acknowledged = 0;
    await compare({
      bench: 'ingest-bulk',
      pairs: 7,
      reference: () => copyRows(owner, makeEvents()),
      product: async () => {
        const rate = await postRows(server, makeEvents());
        acknowledged += rows;
        return rate;
      },
    });
    await checkInvariants(server, owner, acknowledged);
  } finally {
    await owner.end();
    await server.stop();
  }
}

/** One minute of events of 200 customers, ids that grow with time. */
export function makeEvents(): BenchEvent[] {
  const now = Date.now();
  return Array.from({ length: rows }, (_, index) => ({
    event_id: newEventId(now),
    event_name: 'api_call',
    external_customer_id: `customer-${(index * 7919) % customers}`,
    timestamp: new Date(now - (index % 60_000)).toISOString(),
    source: 'bench',
    properties: { region: index % 3 === 0 ? 'eu' : 'us', units: `${index % 1000}.25`, path: '/v1/things' },
  }));
}

export async function makeMeters(server: BenchServer): Promise<void> {
  const none = { expression: null, multiplier: null, bucket_size: null, group_by: null };
  const shared = { eventName: 'api_call', resetUsage: 'BILLING_PERIOD' };
  await inTransaction(
    server.database,
    { ...server.sandbox, actor: server.sandbox.userId, requestId: 'bench' },
    async (tx) => {
      const count = { ...shared, name: 'Calls', aggregation: { ...none, type: 'COUNT', field: null }, filters: [] };
      const sum = { ...shared, name: 'Units', aggregation: { ...none, type: 'SUM', field: 'units' } };
      for (const input of [count, { ...sum, filters: [{ key: 'region', values: ['eu'] }] }]) {
        await buildMeterRollups(tx, await createMeter(tx, input));
      }
    },
  );
}

async function copyRows(owner: pg.Client, events: readonly BenchEvent[]): Promise<number> {
  const lines = events.map(copyLine);
  const chunks = Array.from({ length: batches }, (_, batch) =>
    Buffer.from(lines.slice(batch * batchRows, (batch + 1) * batchRows).join('')),
  );
  return rateOf(rows, async () => {
    const stream = owner.query(copyFrom('copy public.bench_bare from stdin'));
    const done = new Promise((resolve, reject) => stream.on('finish', resolve).on('error', reject));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
    await done;
  });
}

function copyLine(event: BenchEvent): string {
  const members = [event.event_id, event.event_name, event.external_customer_id, event.timestamp, event.source];
  return `${members.join('\t')}\t${JSON.stringify(event.properties)}\n`;
}

export async function postRows(server: BenchServer, events: readonly BenchEvent[]): Promise<number> {
  const bodies = Array.from({ length: batches }, (_, batch) =>
    Buffer.from(JSON.stringify({ events: events.slice(batch * batchRows, (batch + 1) * batchRows) })),
  );
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  try {
    return await rateOf(rows, async () => {
      const waiting = bodies.values();
      const worker = async () => {
        for (const body of waiting) await post(server, agent, body);
      };
      await Promise.all(Array.from({ length: connections }, worker));
    });
  } finally {
    agent.destroy();
  }
}

/** Posts one body, which must be accepted. */
export function post(
  server: Pick<BenchServer, 'port' | 'sandbox'>,
  agent: Agent,
  body: Buffer,
  path = '/v1/events/bulk',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port: server.port,
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          'x-api-key': server.sandbox.apiKey,
        },
      },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode === 202 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

export async function checkInvariants(server: BenchServer, owner: pg.Client, acknowledged: number): Promise<void> {
  const scope = { ...server.sandbox, actor: 'bench', requestId: 'bench' };
  const differences = await inSqlTransaction(server.database, scope, (tx) => server.store.verify(tx, scope));
  const { rows: counted } = await owner.query<{ keys: number; events: number }>(
    'select (select count(*)::int from usage.event_key) as keys, (select count(*)::int from usage.event) as events',
  );
  const [found] = counted;
  if (found?.keys !== acknowledged || found.events !== acknowledged || differences.length > 0) {
    throw new Error(
      `invariants broken: ${JSON.stringify({ acknowledged, ...found, differences: differences.slice(0, 3) })}`,
    );
  }
}
