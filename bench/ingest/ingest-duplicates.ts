import pg from 'pg';
import { compare } from '../measure.ts';
import { startBenchServer } from '../server.ts';
import { checkInvariants, makeEvents, makeMeters, postRows, rows } from './ingest-bulk.ts';

/**
 * Four writers whose rows are half of them repeats of ids that come at the same time, against four without repeats.
 * Afterwards every id is stored once and roll-ups = recomputation, else it fails; so does a deadlock that reaches a caller.
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  try {
    await makeMeters(server);
    let stored = 0;
    await compare({
      bench: 'ingest-duplicates',
      reference: async () => {
        stored += rows;
        return postRows(server, makeEvents());
      },
      product: async () => {
        const fresh = makeEvents().slice(0, rows / 2);
        stored += fresh.length;
        // Each repeat is a bulk away from its first, so that writers meet on the same ids.
        const events = Array.from(
          { length: rows },
          (_, index) => fresh[Math.floor(index / 2_000) * 1_000 + (index % 1_000)]!,
        );
        return postRows(server, events);
      },
    });
    await checkInvariants(server, owner, stored);
  } finally {
    await owner.end();
    await server.stop();
  }
}
