import { Connection } from '@temporalio/client';
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
export async function prepareNamespace(address: string, namespace: string, limitMs = 30_000): Promise<void> {
  const connection = await connectWithin(address, limitMs);
  try {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: retentionSeconds as never } })
      .catch(unlessItExists);
    // A namespace just registered is known to all parts of the server a moment later.
    const registered = await poll(() => addSearchAttributes(connection, namespace), limitMs, 250);
    if (!registered) throw new Error(`search attributes could not be registered in ${limitMs / 1000} s`);
  } catch (error) {
    throw new StartupProblem(
      `The Temporal server at ${address} did not accept the namespace ${namespace} and its search attributes (${messageOf(error)}): ` +
        'give Perennial a namespace it may administer.',
    );
  } finally {
    await connection.close();
  }
}

/** Whether a worker process polls a task queue for workflows; a worker's identity begins with its process id. */
export async function hasWorker(address: string, namespace: string, taskQueue: string, pid: number): Promise<boolean> {
  const connection = await Connection.connect({ address });
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

async function connectWithin(address: string, limitMs: number): Promise<Connection> {
  const [host = '127.0.0.1', port = '7233'] = address.split(':');
  // A refused first connect costs gRPC a back-off of a second, so the port is tried first.
  await poll(async () => ((await accepts(Number(port), host)) ? true : undefined), limitMs);
  const connection = await poll(
    () => Connection.connect({ address, connectTimeout: '3s' }).catch(() => undefined),
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

function unlessItExists(error: unknown): void {
  if ((error as { code?: number }).code !== alreadyExists) throw error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
