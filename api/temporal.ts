import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/** Attempts of one call while Temporal does not answer: under a second together, then the caller gets 503 and may retry. */
const maxAttempts = 4;

/**
 * The API's way to Temporal. It connects when it is first needed: an API without Temporal still answers what needs no
 * workflow. The caller closes it.
 */
export function connectTemporal(options: { address: string; namespace: string }): {
  client: Client;
  close(): Promise<void>;
} {
  const connection = Connection.lazy({
    address: options.address,
    connectTimeout: '2s',
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts }))],
  });
  return { client: new Client({ connection, namespace: options.namespace }), close: () => connection.close() };
}
