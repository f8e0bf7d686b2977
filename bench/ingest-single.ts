import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod';
import Fastify from 'fastify';
import { eventAccepted, ingestEventBody } from '../api/schemas/event.ts';
import { makeEvents, makeMeters, post } from './ingest-bulk.ts';
import { compare, rateOf } from './measure.ts';
import { startBenchServer } from './server.ts';

const posts = 5_000;
const connections = 64;

/** One event a request over 64 connections, to the commit, against a bare Fastify that checks the same schema and answers. */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const bare = Fastify().withTypeProvider<ZodTypeProvider>();
  bare.setValidatorCompiler(validatorCompiler);
  bare.setSerializerCompiler(serializerCompiler);
  const schema = { body: ingestEventBody, response: { 202: eventAccepted } };
  bare.post('/v1/events', { schema }, async (request, reply) => {
    void reply.code(202);
    return { message: 'Event accepted for processing', event_id: request.body.event_id ?? '' };
  });
  await bare.listen({ host: '127.0.0.1', port: 0 });
  try {
    await makeMeters(server);
    const barePort = (bare.server.address() as AddressInfo).port;
    await compare({
      bench: 'ingest-single',
      reference: () => postSingly({ ...server, port: barePort }),
      product: () => postSingly(server),
    });
  } finally {
    await bare.close();
    await server.stop();
  }
}

async function postSingly(server: Parameters<typeof post>[0]): Promise<number> {
  const waiting = makeEvents()
    .slice(0, posts)
    .map((event) => Buffer.from(JSON.stringify(event)))
    .values();
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const lane = async () => {
    for (const body of waiting) await post(server, agent, body, '/v1/events');
  };
  try {
    return await rateOf(posts, async () => {
      await Promise.all(Array.from({ length: connections }, lane));
    });
  } finally {
    agent.destroy();
  }
}
