import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { makePlan } from '../account.ts';
import { inMs, latencies } from '../latency.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';
import { startWorkerProcess } from '../worker-process.ts';
import { copyForPriceSync, syncByHand } from './raw-price-sync.ts';

const subscriptions = Number(process.env.BENCH_SUBSCRIPTIONS || 10_000);
const pairs = 5;
const warmUps = 1;
const lookEveryMs = 50;
const idleMs = 3_000;

/**
 * Subscriptions a second that get a new usage price: the product's sync, from the request to the end of its workflow in a
 * worker process of its own, against the same inserts written by hand as set-based SQL on copies of the tables. Meanwhile
 * the API is asked for subscriptions and makes customers; its 99th percentile is printed beside that of a quiet system.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const owner = new pg.Client({ connectionString: platform.ownerUrl });
    await owner.connect();
    let worker: { stop(): Promise<void> } | undefined;
    try {
      // A worker that begins looks for what has no workflow: it finds the subscriptions not there yet.
      worker = await startWorkerProcess(platform);
      const { planId, meterId } = await makeSubscribers(platform, owner);
      await copyForPriceSync(owner);
      const quiet = await latencies(platform, () => delay(idleMs));
      const busy: number[] = [];
      await compare({
        bench: 'price-sync',
        pairs,
        warmUps,
        reference: async () => {
          // In a currency that nobody pays in, so that the product's next run does not bring it to the same subscriptions.
          const priceId = await addPrice(platform, planId, meterId, 'eur');
          return rateOf(subscriptions, () => syncByHand(owner, { planId, priceId }));
        },
        product: async () => {
          await addPrice(platform, planId, meterId);
          let rate = 0;
          busy.push(
            ...(await latencies(platform, async () => {
              rate = await rateOf(subscriptions, () => syncThroughApi(platform, planId));
            })),
          );
          return rate;
        },
      });
      console.log(
        JSON.stringify({ bench: 'price-sync', subscriptions, api: { quiet: inMs(quiet), busy: inMs(busy) } }),
      );
      await checkLineItems(owner, planId);
    } finally {
      await worker?.stop();
      await owner.end();
    }
    await platform.checkInvariants();
  });
}

/** One subscription made by the stores and copies of it, all drafts, which wait for nothing. */
async function makeSubscribers(
  platform: BenchPlatform,
  owner: pg.Client,
): Promise<{ planId: string; meterId: string }> {
  const { planId, usagePriceId } = await makePlan(platform.api, { fee: '30', perCall: '0.10', eventName: 'call' });
  await subscribeDirectly(platform, { count: 1, planId, start: new Date().toISOString() });
  await owner.query(`update subscription set subscription_status = 'draft'`);
  await owner.query(
    `update outbox_event set event_name = 'subscription.draft.created' where event_name = 'subscription.created'`,
  );
  await owner.query('delete from agenda_entry');
  for (const text of copies) await owner.query(text, [subscriptions - 1]);
  await owner.query('analyze');
  const { rows } = await owner.query('select meter_id from price where id = $1', [usagePriceId]);
  return { planId, meterId: rows[0].meter_id };
}

/** What belongs to the one subscription, once more for each copy, under ids that end with its number. */
const copies = [
  copyText('subscription', { renamed: ['id'] }),
  copyText('subscription_line_item', { renamed: ['id', 'subscription_id'] }),
  copyText('outbox_event', { renamed: ['id', 'entity_id'], of: `entity_type = 'subscription'`, counted: 'position' }),
  copyText('outbox_sequence', { renamed: ['entity_id'], of: `entity_id in (select id from first_one)` }),
  copyText('audit_entry', { renamed: ['object_id'], of: `object_type = 'subscription'`, counted: 'id' }),
];

function copyText(
  table: string,
  { renamed, of, counted }: { renamed: string[]; of?: string; counted?: string },
): string {
  const members = renamed.map((column) => `'${column}', o.${column} || '-' || n`);
  if (counted) members.push(`'${counted}', nextval(pg_get_serial_sequence('${table}', '${counted}'))`);
  return `with first_one as (select min(id) as id from subscription)
    insert into ${table} select (jsonb_populate_record(o, jsonb_build_object(${members.join(', ')}))).*
    from ${table} o cross join generate_series(1, $1) n where ${of ?? 'true'}`;
}

async function addPrice({ api }: BenchPlatform, planId: string, meterId: string, currency = 'usd'): Promise<string> {
  const { id } = await api('POST', '/prices', {
    entity_type: 'PLAN',
    entity_id: planId,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency,
    amount: '0.20',
    meter_id: meterId,
  });
  return id;
}

interface Synced {
  sync_status: string;
  line_items_created: number;
}

async function syncThroughApi({ api }: BenchPlatform, planId: string): Promise<void> {
  const path = `/plans/${planId}/sync/subscriptions`;
  const before = await api<{ id: string }>('GET', path).catch(() => ({ id: '' }));
  await api('POST', path);
  for (;;) {
    await delay(lookEveryMs);
    const run = await api<Synced & { id: string }>('GET', path).catch(() => null);
    if (run === null || run.id === before.id || run.sync_status === 'running') continue;
    if (run.sync_status === 'completed') return;
    throw new Error(`the price sync is ${run.sync_status}`);
  }
}

/** Every subscription has every usage price of the plan once; the reference's rows are not among them. */
async function checkLineItems(owner: pg.Client, planId: string): Promise<void> {
  const { rows } = await owner.query(
    `select (select count(*)::int from price where entity_id = $1 and type = 'USAGE' and currency = 'usd') as prices,
       (select count(*)::int from subscription where plan_id = $1) as subscriptions, count(*)::int as items,
       count(distinct (subscription_id, price_id))::int as pairs
     from subscription_line_item where price_type = 'USAGE'`,
    [planId],
  );
  const [found] = rows;
  const expected = found.prices * found.subscriptions;
  if (found.subscriptions !== subscriptions || found.items !== expected || found.pairs !== expected) {
    throw new Error(`wrong line items: ${JSON.stringify(found)}`);
  }
  console.log(JSON.stringify({ bench: 'price-sync', created: found }));
}
