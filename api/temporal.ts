import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { callInterceptors } from '../temporal-connection.ts';

/** Attempts of one call while Temporal does not answer: under a second together, then the caller gets 503 and may retry. */
const maxAttempts = 4;

/**
 * The API's way to Temporal. It connects when it is first needed: an API without Temporal still answers what needs no
 * workflow. The caller closes it.
 */
export function connectTemporal({ namespace, ...options }: ConnectionOptions & { namespace: string }): {
  client: Client;
  close(): Promise<void>;
} {
  const connection = Connection.lazy({
    ...options,
    connectTimeout: '2s',
    interceptors: callInterceptors(maxAttempts),
  });
  return { client: new Client({ connection, namespace }), close: () => connection.close() };
}
