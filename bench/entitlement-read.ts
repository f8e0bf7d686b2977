import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { workflowScope } from '../db/scope.ts';
import { compare } from './measure.ts';
import { type BenchServer, startBenchServer } from './server.ts';
import { subscribeDirectly } from './subscribed.ts';

const features = 100;
const requests = 200;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/**
 * What a subscription grants, and what its customer may use, with 100 features of its plan: p50 of one request after another, with authentication, until the last byte is there, against a bare
 * Fastify that sends the rows of one select. The compared figures are milliseconds. Fails unless every feature is answered.
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  const pool = new pg.Pool({ connectionString: server.ownerUrl, max: 1 });
  const { planId, customerId, subscriptionId } = await entitlementSubject(server);
  const bare = await bareServer(pool, planId);
  const headers = { 'x-api-key': server.sandbox.apiKey };
  try {
    const barePort = (bare.server.address() as AddressInfo).port;
    for (const path of [
      `/v1/subscriptions/${subscriptionId}/entitlements`,
      `/v1/customers/${customerId}/entitlements`,
    ]) {
      const shown = JSON.parse((await get(server.port, path, headers)).toString()) as { features: unknown[] };
      if (shown.features.length !== features) throw new Error(`${path} does not show every feature`);
      await compare({
        bench: path.startsWith('/v1/customers') ? 'entitlement-read' : 'entitlement-read of one subscription',
        pairs: 7,
        warmUps: 2,
        reference: () => medianMs(() => get(barePort, '/', {})),
        product: () => medianMs(() => get(server.port, path, headers)),
      });
    }
  } finally {
    agent.destroy();
    await bare.close();
    await pool.end();
    await server.stop();
  }
}

/** A plan with a hundred features, half of them metered, and a customer who is subscribed to it. */
export async function entitlementSubject(
  server: BenchServer,
): Promise<{ planId: string; customerId: string; subscriptionId: string }> {
  const post = async (path: string, body: object): Promise<{ id: string }> =>
    JSON.parse(
      (await send(server.port, 'POST', `/v1${path}`, { 'x-api-key': server.sandbox.apiKey }, body)).toString(),
    );
  const { id: planId } = await post('/plans', { name: 'Bench' });
  const price = { type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' };
  await post('/prices', { ...price, plan_id: planId, currency: 'usd', amount: '1' });
  for (let index = 0; index < features; index += 1) {
    const type = index % 2 === 0 ? 'metered' : 'boolean';
    const meter = {
      name: `Meter ${index}`,
      event_name: `event-${index}`,
      aggregation: { type: 'COUNT' },
      reset_usage: 'BILLING_PERIOD',
    };
    const { id } = await post('/features', {
      name: `Feature ${index}`,
      type,
      ...(type === 'metered' ? { meter } : {}),
    });
    const granted = type === 'metered' ? { usage_limit: 1000 } : { is_enabled: true };
    await post('/entitlements', { plan_id: planId, feature_id: id, feature_type: type, ...granted });
  }
  const base = { database: server.database, scope: workflowScope(server.sandbox), metering: server.store };
  const [made] = await subscribeDirectly(base, { count: 1, planId, start: new Date().toISOString() });
  return { planId, customerId: made!.customerId, subscriptionId: made!.subscriptionId };
}

/** The least that could answer: one select of the same hundred rows, sent as they are. */
async function bareServer(pool: pg.Pool, planId: string): Promise<FastifyInstance> {
  const app = Fastify();
  const text = `select e.*, f.name, f.type, f.lookup_key, m.name as meter_name, m.event_name, m.aggregation from entitlement e
    join feature f on f.id = e.feature_id left join meter m on m.id = f.meter_id where e.entity_id = $1 and e.status = 'published'`;
  app.get('/', async () => ({ features: (await pool.query(text, [planId])).rows }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < requests; index += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[requests / 2] ?? 0;
}

function get(port: number, path: string, headers: Record<string, string>): Promise<Buffer> {
  return send(port, 'GET', path, headers);
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      headers: { ...headers, 'content-type': 'application/json' },
    };
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const answer = Buffer.concat(chunks);
        if ((response.statusCode ?? 500) < 300) resolve(answer);
        else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${answer.toString()}`));
      });
    });
    call.on('error', reject);
    call.end(body ? JSON.stringify(body) : undefined);
  });
}
