import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod';
import Fastify from 'fastify';
import { eventAccepted, ingestEventBody } from '../../api/usage/event.schema.ts';
import { compare, percentile, rateOf } from '../measure.ts';
import { startBenchServer } from '../server.ts';
import { makeEvents, makeMeters, post } from './ingest-bulk.ts';

const posts = 5_000;
const connections = 64;
const halfLoadSeconds = 5;
const tickMs = 2;

/**
 * One event a request over 64 connections, to the commit, against a bare Fastify that checks the same schema and answers; then how
 * long a request takes when half as many are sent as it can take, which client and server share two cores for.
 */
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
    const { product } = await compare({
      bench: 'ingest-single',
      reference: () => postSingly({ ...server, port: barePort }),
      product: () => postSingly(server),
    });
    const perSecond = Math.round(product / 2);
    const taken = await postSteadily(server, perSecond);
    const at = (share: number) => Number(percentile(taken, share).toPrecision(3));
    console.log(JSON.stringify({ bench: 'ingest-single at half load', perSecond, p50Ms: at(0.5), p99Ms: at(0.99) }));
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

/** Sends so many a second, each at its time whatever became of those before it, and answers how long each took. */
async function postSteadily(server: Parameters<typeof post>[0], perSecond: number): Promise<number[]> {
  const bodies = makeEvents().map((event) => Buffer.from(JSON.stringify(event)));
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const sent: Promise<number>[] = [];
  const postOne = async (body: Buffer) => {
    const began = performance.now();
    await post(server, agent, body, '/v1/events');
    return performance.now() - began;
  };
  const began = performance.now();
  const count = perSecond * halfLoadSeconds;
  while (sent.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * perSecond));
    while (sent.length < due) sent.push(postOne(bodies[sent.length % bodies.length] as Buffer));
    await delay(tickMs);
  }
  try {
    return await Promise.all(sent);
  } finally {
    agent.destroy();
  }
}
