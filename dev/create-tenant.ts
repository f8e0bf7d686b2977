import { readConfigOrExit } from '../config.ts';
import { makeTenant } from './sandbox.ts';

/** `node dev/create-tenant.ts "My company"`: the first tenant of an installation; prints its API key, once. */
const [tenantName] = process.argv.slice(2);
if (!tenantName) {
  console.error('Give the name of the tenant: node dev/create-tenant.ts "My company".');
  process.exit(2);
}
const { tenantId, environmentId, apiKey } = await makeTenant(readConfigOrExit().databaseUrl, tenantName);
console.log(`tenant       ${tenantId}\nenvironment  ${environmentId}\nAPI key      ${apiKey}   (shown only now)`);
