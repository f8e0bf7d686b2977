import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { connectTemporal } from '../../../api/temporal.ts';

test('A call that waits for its next attempt ends when the connection is closed', async () => {
  let status = '0';
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
    if (status === '0') stream.end(Buffer.alloc(5));
    else stream.end(() => server.emit('refused'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { client, close } = connectTemporal({
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    namespace: 'default',
  });
  await client.workflowService.getSystemInfo({});

  status = '14';
  const refused = once(server, 'refused');
  const call = client.workflowService.getSystemInfo({}).catch((error: Error) => error.message);
  await refused;
  await close();
  expect(await call).toBe('1 CANCELLED: the connection to Temporal is closed');
  server.close();
});
