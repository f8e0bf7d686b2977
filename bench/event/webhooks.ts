import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { webhookDeliveryWorkflowId, webhookShards } from '../../workflows/event/webhook-delivery.messages.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { benchCustomer, emit, register, startSending, startSink } from './webhook-bench.ts';

const deliveries = 6_000;
const objects = 600;
const lanes = 8;

/**
 * Deliveries a second to one receiver on loopback, signed and in order per object, from the commit of the events to the last receipt, against
 * a loop of bare keep-alive posts with the same HMAC, eight at a time. Prints the history events of all deliveries too. Fails unless each
 * object's events came in order. design: people-and-events §A 5
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const sink = await startSink();
    const last = new Map<string, number>();
    let disorders = 0;
    let delivered = 0;
    sink.onRequest((headers) => {
      const object = headers['webhook-object'];
      if (typeof object !== 'string') return;
      const sequence = Number(headers['webhook-sequence']);
      if (sequence !== (last.get(object) ?? 0) + 1) disorders += 1;
      last.set(object, sequence);
      delivered += 1;
    });
    await startSending(platform);
    const { secret } = await register(platform, sink.url);
    const all = Array.from({ length: deliveries }, (_, n) => `cust_${n % objects}`);
    await compare({
      bench: 'webhooks',
      reference: () => bareRate(sink.url, secret, all),
      async product() {
        const received = sink.receives(deliveries);
        await emit(platform, all);
        return rateOf(deliveries, () => received);
      },
    });
    if (disorders > 0) throw new Error(`${disorders} of ${delivered} deliveries were out of order`);
    const history = await historyEvents(platform);
    console.log(JSON.stringify({ bench: 'webhooks', delivered, historyEvents: history }));
    sink.close();
  });
}

async function bareRate(url: string, secret: string, all: readonly string[]): Promise<number> {
  const dispatcher = new Agent({ connections: lanes, pipelining: 1 });
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const waiting = all.entries();
  const lane = async () => {
    for (const [n, object] of waiting) {
      const id = `evt_${n}`;
      const body = Buffer.from(JSON.stringify({ event_type: 'customer.updated', customer: benchCustomer(object) }));
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
      const answer = await request(url, { dispatcher, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  try {
    return await rateOf(all.length, async () => {
      await Promise.all(Array.from({ length: lanes }, lane));
    });
  } finally {
    await dispatcher.close();
  }
}

async function historyEvents({ temporal }: BenchPlatform): Promise<number> {
  let events = 0;
  for (let shard = 0; shard < webhookShards; shard += 1) {
    const { historyLength } = await temporal.workflow.getHandle(webhookDeliveryWorkflowId(shard)).describe();
    events += historyLength;
  }
  return events;
}
