import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, inject } from 'vitest';
import { prepareNamespace } from '../../dev/temporal-namespace.ts';

/** Temporal for one test file: the run's server with a namespace of the file's own, so that files never share a queue. */
export interface TestTemporal {
  client: Client;
  address: string;
  namespace: string;
}

/** Call it at the top of a test file; the first file that does so starts the server. */
export async function testTemporal(): Promise<TestTemporal> {
  const address = await ask('/temporal');
  const namespace = `test-${randomUUID()}`;
  await prepareNamespace(address, namespace);
  const connection = await Connection.connect({ address });
  afterAll(() => connection.close());
  return { client: new Client({ connection, namespace }), address, namespace };
}

/** The file of the workflow bundle, which is built once a run. */
export function workflowBundle(): Promise<string> {
  return ask('/workflows');
}

async function ask(path: string): Promise<string> {
  const response = await fetch(`${inject('servers').controlUrl}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`the test run could not make ${path}: ${text}`);
  return text;
}
