import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { healthRoutes } from '../../../api/platform/health.route.ts';
import { connectTemporal } from '../../../api/temporal.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function portOf(server: Server | Http2Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The health routes of an API whose database is well and whose Temporal is on a port. */
function apiWithTemporal(port: number): FastifyInstance {
  const temporal = connectTemporal({ address: `127.0.0.1:${port}`, namespace: 'default' });
  const app = Fastify();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const database = { orm: { checkConnection: async () => ({ ok: true }) } };
  app.decorate('dependencies', { temporal: temporal.client, database } as unknown as FastifyInstance['dependencies']);
  void app.register(healthRoutes);
  closing.push(() => temporal.close());
  return app;
}

async function readiness(app: FastifyInstance) {
  const began = performance.now();
  const answer = await app.inject('/ready');
  return { status: answer.statusCode, ...answer.json(), inTime: performance.now() - began < 2_500 };
}

const unavailable = { status: 'unavailable', database: 'ok', workflow_engine: 'unavailable', inTime: true };

test('/ready says so when Temporal stops answering on a connection that is open', async () => {
  let hangs = false;
  const temporal = createServer();
  temporal.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    if (hangs) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // One empty message: no compression, no bytes.
    stream.end(Buffer.alloc(5));
  });
  const app = apiWithTemporal(await portOf(temporal));
  expect(await readiness(app)).toMatchObject({ status: 'ok', workflow_engine: 'ok' });
  hangs = true;
  expect(await readiness(app)).toMatchObject(unavailable);
  hangs = false;
  expect(await readiness(app)).toMatchObject({ status: 'ok', workflow_engine: 'ok' });
}, 10_000);

test('/ready says so when something else accepts the connection and never answers', async () => {
  const sockets: Socket[] = [];
  const silent = createTcpServer((socket) => sockets.push(socket));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  expect(await readiness(apiWithTemporal(await portOf(silent)))).toMatchObject(unavailable);
}, 10_000);
