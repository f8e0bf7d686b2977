import { readConfigOrExit } from '../config.ts';
import { prepareNamespace } from './temporal-namespace.ts';

/** Registers the namespace and the search attributes with the Temporal server of TEMPORAL_ADDRESS, beside dev/migrate.ts. */
const { connection, namespace } = readConfigOrExit().temporal;
try {
  await prepareNamespace(connection, namespace);
  console.log(`Temporal at ${connection.address} knows the namespace ${namespace} and its search attributes.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
