import { parseArgs } from 'node:util';
import pg from 'pg';
import { startBenchServer } from '../server.ts';
import { makeEvents, makeMeters, postRows, rows } from './ingest-bulk.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rows: { type: 'string', default: '1000000' } },
});

/**
 * What an event takes on disk, with its key, its indexes, and what it adds to the roll-ups of two meters, against a row of a bare
 * table with the same columns, after `--rows` events in bulks. A lower ratio is better.
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  try {
    await makeMeters(server);
    for (let stored = 0; stored < Number(values.rows); stored += rows) await postRows(server, makeEvents());
    await owner.query(bareText);
    await owner.query('vacuum usage.rollup');
    const { rows: found } = await owner.query<{ events: number; product: number; reference: number }>(sizeText);
    const { events = 0, product = 0, reference = 0 } = found[0] ?? {};
    const ratio = Number((product / reference).toPrecision(4));
    const bytesOf = (size: number) => Number((size / events).toPrecision(4));
    const figures = { ratio, min: ratio, max: ratio, reference: bytesOf(reference), product: bytesOf(product) };
    console.log(JSON.stringify({ bench: 'event-bytes', ...figures }));
  } finally {
    await owner.end();
    await server.stop();
  }
}

const bareText = `
create table public.bench_bare as
select coalesce(e.event_id, e.key::text) as id, n.name, s.external_id as customer, e.ts, e.source, e.props
from usage.event e join usage.event_name n on n.number = e.event_name join usage.subject s on s.number = e.subject`;

const sizeText = `
select (select count(*)::int from usage.event) as events, pg_total_relation_size('public.bench_bare')::float8 as reference,
  (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'usage' and c.relkind = 'r') as product`;
