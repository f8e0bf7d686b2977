import { Connection } from '@temporalio/client';
import type { TemporalConnectionOptions } from '../temporal-connection.ts';
import { accepts } from './ports.ts';
import { poll, StartupProblem } from './processes.ts';
import { searchAttributes } from './temporal-server.ts';

const alreadyExists = 6;
/** Temporal's numbers of indexed value types. */
const indexedValueTypes: Record<string, number> = { Keyword: 2, Datetime: 6 };
const retentionSeconds = 30 * 24 * 60 * 60;

/**
 * Waits for a Temporal server, then registers the namespace and our search attributes where they are missing. Running it
 * again changes nothing. Throws a StartupProblem when the server does not answer or refuses.
 */
export async function prepareNamespace(
  server: string | TemporalConnectionOptions,
  namespace: string,
  limitMs = 30_000,
): Promise<void> {
  const options = typeof server === 'string' ? { address: server } : server;
  const connection = await connectWithin(options, limitMs);
  try {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: retentionSeconds as never } })
      .catch((error: unknown) => unlessItExists(error, connection, namespace));
    // A namespace just registered is known to all parts of the server a moment later.
    const registered = await poll(() => addSearchAttributes(connection, namespace), limitMs, 250);
    if (!registered) throw new Error(`search attributes could not be registered in ${limitMs / 1000} s`);
  } catch (error) {
    throw new StartupProblem(
      `The Temporal server at ${options.address} did not accept the namespace ${namespace} and its search attributes (${messageOf(error)}): ` +
        `give Perennial a namespace it may administer, or make both there, as in Temporal Cloud: ${searchAttributes
          .map(({ name, type }) => `${name} (${type})`)
          .join(', ')}.`,
    );
  } finally {
    await connection.close();
  }
}

/** Whether a worker process polls a task queue for workflows; a worker's identity begins with its process id. */
export async function hasWorker(
  server: string | TemporalConnectionOptions,
  namespace: string,
  taskQueue: string,
  pid: number,
): Promise<boolean> {
  const connection = await Connection.connect(typeof server === 'string' ? { address: server } : server);
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1,
    });
    return (pollers ?? []).some(({ identity }) => identity?.startsWith(`${pid}@`));
  } finally {
    await connection.close();
  }
}

async function connectWithin(options: TemporalConnectionOptions, limitMs: number): Promise<Connection> {
  const { address } = options;
  const [host = '127.0.0.1', port = '7233'] = address.split(':');
  // A refused first connect costs gRPC a back-off of a second, so the port is tried first.
  await poll(async () => ((await accepts(Number(port), host)) ? true : undefined), limitMs);
  const connection = await poll(
    () => Connection.connect({ ...options, connectTimeout: '3s' }).catch(() => undefined),
    limitMs,
    250,
  );
  if (!connection)
    throw new StartupProblem(
      `No Temporal server answers at ${address}: start it, or unset TEMPORAL_ADDRESS to use the built-in one.`,
    );
  await poll(() => isServing(connection), limitMs, 50);
  return connection;
}

async function isServing(connection: Connection): Promise<true | undefined> {
  try {
    const { status } = await connection.healthService.check({
      service: 'temporal.api.workflowservice.v1.WorkflowService',
    });
    return status === 1 ? true : undefined;
  } catch {
    return undefined;
  }
}

async function addSearchAttributes(connection: Connection, namespace: string): Promise<true | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = searchAttributes.filter(({ name }) => !(name in (customAttributes ?? {})));
    if (missing.length === 0) return true;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, indexedValueTypes[type] ?? 0])),
    });
    return true;
  } catch (error) {
    const text = messageOf(error);
    if (/permission|unauthorized|unimplemented/i.test(text)) throw error;
    return undefined;
  }
}

/** Nothing is wrong where the namespace is there, also where its owner alone may make one. */
async function unlessItExists(error: unknown, connection: Connection, namespace: string): Promise<void> {
  if ((error as { code?: number }).code === alreadyExists) return;
  await connection.workflowService.describeNamespace({ namespace }).catch(() => {
    throw error;
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
