import { readConfig } from '../config.ts';
import { prepareNamespace } from './temporal-namespace.ts';

/** Registers the namespace and the search attributes with the Temporal server of TEMPORAL_ADDRESS, beside db/migrate.ts. */
const { temporalAddress, temporalNamespace } = readConfig(process.env);
try {
  await prepareNamespace(temporalAddress, temporalNamespace);
  console.log(`Temporal at ${temporalAddress} knows the namespace ${temporalNamespace} and its search attributes.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
