import pg from 'pg';
import { runImport } from '../../activities/usage/import-events.ts';
import { newId } from '../../db/id.ts';
import { inTransaction } from '../../db/transaction.ts';
import { createTask } from '../../services/platform/task.ts';
import { importWorkflowId } from '../../workflows/platform/task.messages.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchServer, startBenchServer } from '../server.ts';
import { type FileServer, fileServerHost, serveFiles } from './file-server.ts';
import { checkInvariants, makeEvents, makeMeters, postRows, rows } from './ingest-bulk.ts';

/**
 * A file of events, an object a line, from its fetching to the end of its task, against the bulk API with the same events:
 * both with two meters, into the same tables. Afterwards keys = events and roll-ups = recomputation, else it fails.
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const files = await serveFiles();
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  try {
    await makeMeters(server);
    let stored = 0;
    await compare({
      bench: 'import',
      reference: async () => {
        stored += rows;
        return postRows(server, makeEvents());
      },
      product: async () => {
        stored += rows;
        return importRows(server, files);
      },
    });
    await checkInvariants(server, owner, stored);
  } finally {
    await owner.end();
    files.close();
    await server.stop();
  }
}

export async function importRows(server: BenchServer, files: FileServer): Promise<number> {
  const lines = makeEvents().map((event) => JSON.stringify(event));
  const scope = { ...server.sandbox, actor: 'bench', requestId: 'bench' };
  const id = newId('task');
  const fileUrl = files.put(`${id}.ndjson`, lines.join('\n'));
  const file = { fileUrl, fileName: null, fileType: 'JSON', metadata: null };
  const task = { ...file, id, taskType: 'IMPORT', entityType: 'EVENTS', workflowId: importWorkflowId(id) };
  await inTransaction(server.database, scope, (tx) => createTask(tx, task));
  const outgoing = { allowedHosts: [fileServerHost] };
  const run = { taskId: id, runId: 'bench', signal: new AbortController().signal, onProgress: () => undefined };
  return rateOf(rows, async () => {
    await runImport({ database: server.database, metering: server.store, outgoing }, scope, run);
  });
}
