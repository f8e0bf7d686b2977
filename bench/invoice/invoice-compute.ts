import pg from 'pg';
import { compare } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';
import { cpuOf } from './invoice-subject.ts';

const lines = 1_000;
const meters = 10;
const limitMs = 250;
/** The kernel counts PostgreSQL's time in hundredths of a second. */
const repetitions = 5;

/**
 * Computing an invoice of 1 000 lines, request of a preview to answer, against one select of the same items and prices:
 * processor time of this process and PostgreSQL in milliseconds. At most 250 ms. Fails unless the invoice has every line and
 * their sum.
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const planId = await widePlan(base);
    const start = new Date().toISOString();
    const [made] = await subscribeDirectly(base, { count: 1, planId, start });
    const owner = new pg.Client({ connectionString: base.ownerUrl });
    await owner.connect();
    const each = async (work: () => Promise<unknown>) => {
      const repeated = async () => {
        for (let count = 0; count < repetitions; count += 1) await work();
      };
      return (await cpuOf(base, repeated)) / repetitions;
    };
    try {
      await owner.query('vacuum analyze');
      const reference = () => each(() => owner.query(itemsText, [made!.subscriptionId]));
      const product = () => each(() => previewOf(base, made!.subscriptionId));
      const outcome = await compare({ bench: 'invoice-compute', reference, product, pairs: 5, warmUps: 2 });
      console.log(`${lines} lines in ${outcome.product} ms (at most ${limitMs})`);
      if (outcome.product > limitMs) process.exitCode = 1;
      await base.checkInvariants();
    } finally {
      await owner.end();
    }
  });
}

const itemsText = `
select to_jsonb(i), to_jsonb(p) from subscription_line_item i join price p on p.id = i.price_id where i.subscription_id = $1`;

async function previewOf(base: BenchDatabase, subscription_id: string): Promise<void> {
  const preview = await base.api<{ total: number; line_items: unknown[] }>('POST', '/invoices/preview', {
    subscription_id,
  });
  const isWhole = preview.line_items.length === lines && preview.total === lines / 2;
  if (!isWhole) throw new Error(`the preview has ${preview.line_items.length} lines and a total of ${preview.total}`);
}

/** A plan of which one half of the prices are fees of 1 and the other half graduated ones of ten meters. */
async function widePlan({ api }: BenchDatabase): Promise<string> {
  const { id: plan_id } = await api('POST', '/plans', { name: 'Wide' });
  const common = { plan_id, billing_period: 'MONTHLY', currency: 'usd', start_date: '2020-01-01T00:00:00Z' };
  const meterIds: string[] = [];
  for (let index = 0; index < meters; index += 1) {
    const name = `Meter ${index}`;
    const meter = { name, event_name: name, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
    const feature = await api<{ meter_id: string }>('POST', '/features', { name, type: 'metered', meter });
    meterIds.push(feature.meter_id);
  }
  const fee = { type: 'FIXED', invoice_cadence: 'ADVANCE', billing_model: 'FLAT_FEE', amount: '1' };
  const graduated = {
    ...{ type: 'USAGE', invoice_cadence: 'ARREAR', billing_model: 'TIERED', tier_mode: 'SLAB' },
    tiers: [
      { up_to: 100, unit_amount: '0.1' },
      { up_to: null, unit_amount: '0.05' },
    ],
  };
  for (let index = 0; index < lines; index += 1) {
    const terms = index % 2 === 0 ? fee : { ...graduated, meter_id: meterIds[index % meters] };
    await api('POST', '/prices', { ...common, ...terms, display_name: `Line ${index}` });
  }
  return plan_id;
}
