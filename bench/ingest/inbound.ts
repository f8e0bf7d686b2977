import { createHmac, timingSafeEqual } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { signedNotification } from '../../dev/provider-fakes/stripe/notification.ts';
import { startStripeFake } from '../../dev/provider-fakes/stripe/server.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchServer, startBenchServer } from '../server.ts';

const notifications = 3_000;
const connections = 32;
const secret = 'whsec_bench';
const path = '/hook';

/**
 * Notifications of Stripe stored a second, 32 at a time, against a bare Fastify that verifies the same signature and stores the same bytes by
 * one INSERT under a unique key. Fails unless all are stored. Workflows are not there: telling them is no part of the answer.
 */
export async function run(): Promise<void> {
  const stripe = await startStripeFake();
  const server = await startBenchServer({ stripeUrl: stripe.url });
  const owner = new pg.Pool({ connectionString: server.ownerUrl, max: 10 });
  const bare = await bareServer(owner);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let sent = 0;
  const sendTo = (port: number, to: string) => () => {
    sent += notifications;
    return sendAll(port, to, agent, sent);
  };
  try {
    await connect(server, agent);
    const { tenantId, environmentId } = server.sandbox;
    const barePort = (bare.server.address() as AddressInfo).port;
    await compare({
      bench: 'inbound',
      reference: sendTo(barePort, path),
      product: sendTo(server.port, `/v1/webhooks/stripe/${tenantId}/${environmentId}`),
    });
    const { rows } = await owner.query<{ kept: number }>(
      'select ((select count(*) from inbound_event) + (select count(*) from bare_event))::int as kept',
    );
    if (rows[0]?.kept !== sent) throw new Error(`${rows[0]?.kept} of ${sent} notifications are stored`);
  } finally {
    agent.destroy();
    await bare.close();
    await owner.end();
    await server.stop();
    await stripe.close();
  }
}

async function connect({ port, sandbox }: BenchServer, agent: Agent): Promise<void> {
  const encrypted_secret_data = { publishable_key: 'pk_test_1', secret_key: 'sk_test_1', webhook_secret: secret };
  const body = JSON.stringify({ name: 'Stripe', provider_type: 'stripe', encrypted_secret_data });
  const headers = { 'content-type': 'application/json', 'x-api-key': sandbox.apiKey };
  await send(port, agent, '/v1/connections', { headers, body });
}

/** Sends notifications of payments of this environment, numbered up to `last`, and answers how many a second were stored. */
async function sendAll(port: number, to: string, agent: Agent, last: number): Promise<number> {
  const signed = Array.from({ length: notifications }, (_, index) => {
    const id = last - index;
    const metadata = { environment: 'env_bench', kind: 'payment', id: `pay_${id}` };
    const object = { id: `pi_${id}`, object: 'payment_intent', amount: 1250, currency: 'usd', metadata };
    return signedNotification({ id: `evt_${id}`, type: 'payment_intent.succeeded', data: { object } }, secret);
  }).values();
  const lane = async () => {
    for (const one of signed) await send(port, agent, to, one);
  };
  return rateOf(notifications, async () => {
    await Promise.all(Array.from({ length: connections }, lane));
  });
}

function send(
  port: number,
  agent: Agent,
  to: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, method: 'POST', path: to };
    const length = { 'content-length': Buffer.byteLength(body) };
    const call = request({ ...options, headers: { ...headers, ...length } }, (answer) => {
      answer.resume();
      answer.on('end', () =>
        (answer.statusCode ?? 500) < 300 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** The least that could keep a notification once. */
async function bareServer(pool: pg.Pool): Promise<FastifyInstance> {
  await pool.query(
    'create table bare_event (id text primary key, body bytea not null, received_at timestamptz not null)',
  );
  const app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post(path, async ({ headers, body }, reply) => {
    const [, time, signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['stripe-signature'])) ?? [];
    const expected = createHmac('sha256', secret)
      .update(`${time}.`)
      .update(body as Buffer)
      .digest();
    if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return reply.code(400).send({});
    const { id } = JSON.parse(String(body)) as { id: string };
    const text = 'insert into bare_event values ($1, $2, now()) on conflict do nothing';
    await pool.query({ name: 'keep', text, values: [id, body] });
    return { status: 'success', message: 'stored' };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}
