import { Client, Connection } from '@temporalio/client';
import { reconcile } from '../activities/check/reconcile.ts';
import { openDatabase } from '../db/orm.ts';
import { temporalSettings } from '../temporal-connection.ts';
import { exitCodeOf } from './exit-code.ts';
import { homeDirectory, readRunning } from './home.ts';

/**
 * `npm run reconcile`: starts the workflow of every live object that has none and says how many there were; with `-- --restart`,
 * after PostgreSQL was restored from a backup, it begins those of subscriptions and invoices that run anew. DATABASE_URL and
 * TEMPORAL_ADDRESS name the installation, else it is the one `npm start` runs here.
 */
async function main(): Promise<number> {
  const running = process.env.DATABASE_URL ? undefined : readRunning(homeDirectory());
  const databaseUrl = process.env.DATABASE_URL || running?.databaseUrl;
  if (!databaseUrl) {
    console.error('There is nothing to reconcile: start Perennial with npm start, or set DATABASE_URL.');
    return 1;
  }
  const { connection: options, namespace } = temporalSettings({
    ...process.env,
    TEMPORAL_ADDRESS: process.env.TEMPORAL_ADDRESS || running?.temporalAddress,
  });
  const { address } = options;
  const connection = await Connection.connect({ ...options, connectTimeout: '3s' }).catch(() => null);
  if (!connection) {
    console.error(`Temporal does not answer on ${address}: start it, or set TEMPORAL_ADDRESS.`);
    return 1;
  }
  const database = await openDatabase({ url: databaseUrl, poolSize: 4 });
  try {
    const temporal = new Client({ connection, namespace });
    const { live, started } = await reconcile({ database, temporal, restarts: process.argv.includes('--restart') });
    console.log(`${live} live objects, ${started} workflows started`);
    return 0;
  } finally {
    await connection.close();
    await database.close();
  }
}

process.exitCode = await exitCodeOf(main);
