import { Client, Connection } from '@temporalio/client';
import { readConfig } from '../config.ts';
import { openDatabase } from '../db/orm.ts';
import { reconcile } from './reconcile.ts';

/** `npm run reconcile`: starts the workflow of every live object that has none and says how many there were. */
const config = readConfig(process.env);
const database = await openDatabase({ url: config.databaseUrl, poolSize: 4 });
const connection = await Connection.connect({ address: config.temporalAddress });
try {
  const temporal = new Client({ connection, namespace: config.temporalNamespace });
  const { live, started } = await reconcile({ database, temporal });
  console.log(`${live} live objects, ${started} workflows started`);
} finally {
  await connection.close();
  await database.close();
}
