import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, describe, expect, test } from 'vitest';
import { connectTemporal } from '../../../api/temporal.ts';
import { prepareNamespace } from '../../../dev/temporal-namespace.ts';
import { temporalSettings } from '../../../temporal-connection.ts';
import { testAuthority } from '../../support/certificates.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';

/* A real Temporal server behind mutual TLS: who shows no certificate of its CA does not reach it. */

const base = await testDatabase();
const temporal = await testTemporal();
const authority = testAuthority('CA of Temporal');
const stranger = testAuthority('CA of somebody else');
const server = authority.issue('temporal', ['localhost']);
const client = authority.issue('perennial');
const intruder = stranger.issue('intruder');

const door = createServer(
  {
    cert: readFileSync(server.certificate),
    key: readFileSync(server.key),
    ca: readFileSync(authority.file),
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ['h2'],
  },
  (incoming) => {
    const [host = '127.0.0.1', port] = temporal.address.split(':');
    const outgoing = connect(Number(port), host);
    incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  },
);
door.on('tlsClientError', () => undefined);
await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
afterAll(() => void door.close());
const { port } = door.address() as { port: number };

const variables = {
  TEMPORAL_ADDRESS: `localhost:${port}`,
  TEMPORAL_NAMESPACE: temporal.namespace,
  TEMPORAL_TLS_CLIENT_CERT_PATH: client.certificate,
  TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.file,
};

async function reach(environment: Record<string, string>): Promise<string> {
  const { connection, namespace } = temporalSettings(environment);
  const api = connectTemporal({ ...connection, namespace });
  try {
    const { namespaceInfo } = await api.client.workflowService.describeNamespace({ namespace });
    const native = await NativeConnection.connect(connection);
    await native.close();
    return namespaceInfo?.name ?? '';
  } finally {
    await api.close();
  }
}

describe('a Temporal server behind mutual TLS', () => {
  test('is reached by clients and workers with the certificates of the standard variables', async () => {
    expect(await reach(variables)).toBe(temporal.namespace);
    const named = { ...variables, TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_TLS_SERVER_NAME: 'localhost' };
    expect(await reach(named)).toBe(temporal.namespace);
  });

  test.each([
    ['without TLS', { TEMPORAL_TLS: 'false' }],
    [
      'with the certificate of another CA',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: intruder.certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: intruder.key },
    ],
    ['where another CA is trusted', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.file }],
    ['under a name that is not the server’s', { TEMPORAL_ADDRESS: `127.0.0.1:${port}` }],
  ])('is not reached %s', async (_, changed) => {
    await expect(reach({ ...variables, ...changed })).rejects.toThrow();
    const { connection } = temporalSettings({ ...variables, ...changed });
    await expect(NativeConnection.connect(connection)).rejects.toThrow();
  });

  test('is prepared for a namespace, and asked by the commands of an operator', async () => {
    const { connection } = temporalSettings(variables);
    await prepareNamespace(connection, `${temporal.namespace}-tls`);
    expect(await reach({ ...variables, TEMPORAL_NAMESPACE: `${temporal.namespace}-tls` })).toBe(
      `${temporal.namespace}-tls`,
    );
    const run = (file: string, changed = {}) =>
      promisify(execFile)(process.execPath, [file], {
        env: { PATH: process.env.PATH, DATABASE_URL: base.applicationUrl, ...variables, ...changed },
      });
    expect((await run('dev/register.ts')).stdout).toContain(`localhost:${port} knows the namespace`);
    expect((await run('dev/reconcile.ts')).stdout).toContain('live objects');
    const half = { TEMPORAL_TLS_CLIENT_KEY_PATH: '' };
    await expect(run('dev/reconcile.ts', half)).rejects.toMatchObject({
      stderr: 'the client’s certificate and key belong together: give both or neither.\n',
    });
  });
});
