import type { TestProject } from 'vitest/node';
import { type ServersOfRun, startServers } from './servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    servers: { postgresUrl: string; controlUrl: string };
  }
}

/** Projects set up one after another in one process but load this file each for itself: the servers hang on the process. */
const shared = globalThis as unknown as { perennialServers?: { running: Promise<ServersOfRun>; users: number } };

/** Starts the servers with the first project that needs them and stops them with the last. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  shared.perennialServers ??= { running: startServers(), users: 0 };
  const servers = shared.perennialServers;
  servers.users += 1;
  const { postgresUrl, controlUrl } = await servers.running;
  project.provide('servers', { postgresUrl, controlUrl });
  return async () => {
    servers.users -= 1;
    if (servers.users > 0) return;
    delete shared.perennialServers;
    await (await servers.running).stop();
  };
}
