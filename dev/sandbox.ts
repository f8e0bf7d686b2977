import { openDatabase } from '../db/orm.ts';
import { createSandbox, type Sandbox } from '../services/platform/tenant.ts';

/** A tenant that can be used at once. With a key, a second call finds the tenant of the first. */
export async function makeTenant(applicationUrl: string, tenantName: string, apiKey?: string): Promise<Sandbox> {
  const database = await openDatabase({ url: applicationUrl, poolSize: 1 });
  try {
    return await createSandbox(database, { tenantName, ...(apiKey === undefined ? {} : { apiKey }) });
  } finally {
    await database.close();
  }
}
