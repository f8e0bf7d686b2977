import pg from 'pg';
import { inSqlTransaction } from '../../db/transaction.ts';
import { prepareEvent } from '../../metering/event.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { closePeriods } from '../../services/subscription/period/subscription-close.ts';
import { makePlan } from '../account.ts';
import { compare } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';
import { subscribeDirectly } from '../subscribed.ts';

const customers = Number(process.env.BENCH_CUSTOMERS || 100);
const months = 3;
/** Of each customer, spread evenly over the quarter. */
const eventsPerCustomer = Number(process.env.BENCH_EVENTS || 3_000);
const window = { start_time: '2024-01-15T00:00:00.000Z', end_time: '2024-04-15T00:00:00.000Z' };
const eventName = 'call';

/**
 * The time of a simulation of 100 customers over three months, request to answer with every line's sum, against one SQL
 * statement that reads the same usage from the stored events: both meters, by customer and billing period.
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const plans = await subscribed(base);
    await sendUsage(base);
    const owner = new pg.Client({ connectionString: base.ownerUrl });
    await owner.connect();
    try {
      await owner.query('vacuum analyze');
      let read: UsageRow[] = [];
      let answer: Simulation | undefined;
      const reference = async () => {
        const began = performance.now();
        read = (await owner.query<UsageRow>(usageText, [eventName, window.start_time, months])).rows;
        return (performance.now() - began) / 1000;
      };
      const product = async () => {
        const began = performance.now();
        const body = { ...window, current_plan_id: plans.current };
        answer = await base.api<Simulation>('POST', `/plans/${plans.draft}/simulate`, body);
        return (performance.now() - began) / 1000;
      };
      await compare({ bench: 'plan-simulate', reference, product, pairs: 7 });
      checkSums(read, answer);
    } finally {
      await owner.end();
    }
  });
}

interface UsageRow {
  external_id: string;
  month: number;
  calls: string;
  units: string;
}

const usageText = `
select s.external_id, period.month, count(*) as calls, coalesce(sum((e.props ->> 'units')::numeric), 0) as units
from generate_series(0, $3::int - 1) as period(month)
join usage.event_name name on name.name = $1
join usage.event e on e.env = name.env and e.event_name = name.number
  and e.ts >= $2::timestamptz + period.month * interval '1 month' and e.ts < $2::timestamptz + (period.month + 1) * interval '1 month'
join usage.subject s on s.env = e.env and s.number = e.subject
group by s.external_id, period.month`;

interface Simulation {
  totals: { customers: number; periods: number; current: string; simulated: string }[];
}

/** A plan that all customers have since January 2024, and a draft with other prices for the same two meters. */
async function subscribed(base: BenchDatabase): Promise<{ current: string; draft: string }> {
  const { planId, usagePriceId } = await makePlan(base.api, { fee: '30', perCall: '0.10', eventName });
  const { meter_id: calls } = await base.api<{ meter_id: string }>('GET', `/prices/${usagePriceId}`);
  const feature = await base.api<{ meter_id: string }>('POST', '/features', {
    name: 'Units',
    type: 'metered',
    meter: {
      name: 'Units',
      event_name: eventName,
      aggregation: { type: 'SUM', field: 'units' },
      reset_usage: 'BILLING_PERIOD',
    },
  });
  const draft = await base.api('POST', '/plans', { name: 'Draft' });
  const usage = {
    billing_period: 'MONTHLY',
    currency: 'usd',
    start_date: '2020-01-01T00:00:00Z',
    type: 'USAGE',
    invoice_cadence: 'ARREAR',
  };
  const flat = { ...usage, billing_model: 'FLAT_FEE' };
  await base.api('POST', '/prices', { ...flat, plan_id: planId, amount: '0.01', meter_id: feature.meter_id });
  await base.api('POST', '/prices', { ...flat, plan_id: draft.id, amount: '0.02', meter_id: feature.meter_id });
  await base.api('POST', '/prices', {
    ...usage,
    plan_id: draft.id,
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 500, unit_amount: '0.2' },
      { up_to: null, unit_amount: '0.05' },
    ],
    meter_id: calls,
  });
  const made = await subscribeDirectly(base, { count: customers, planId, start: window.start_time });
  await closeQuarter(
    base,
    made.map(({ subscriptionId }) => subscriptionId),
  );
  return { current: planId, draft: draft.id };
}

/** The quarter is over: its periods are closed as they are in production, before there is any usage. */
async function closeQuarter(base: BenchDatabase, ids: readonly string[]): Promise<void> {
  const readUsage = usageReader(base.metering);
  for (const at of ['2024-02-15T00:00:00.000Z', '2024-03-15T00:00:00.000Z', window.end_time]) {
    const requests = ids.map((subscriptionId) => ({ subscriptionId, at }));
    await inSqlTransaction(base.database, base.scope, (tx) => closePeriods(tx, tx.scope, requests, readUsage));
  }
}

async function sendUsage(base: BenchDatabase): Promise<void> {
  const spanMs = Date.parse(window.end_time) - Date.parse(window.start_time);
  for (let customer = 0; customer < customers; customer += 1) {
    const events = Array.from({ length: eventsPerCustomer }, (_, index) =>
      prepareEvent({
        event_id: `${customer}-${index}`,
        event_name: eventName,
        external_customer_id: `customer-${customer}`,
        timestamp: new Date(
          Date.parse(window.start_time) + Math.floor((index * spanMs) / eventsPerCustomer),
        ).toISOString(),
        properties: { units: 1 + (index % 7) },
      }),
    );
    for (let from = 0; from < events.length; from += 1_000) {
      await base.metering.append(base.scope, events.slice(from, from + 1_000));
    }
  }
}

/** Both sides from what the reference read: 30 + 0.10 a call + 0.01 a unit, against 0.20 or 0.05 a call + 0.02 a unit. */
function checkSums(rows: readonly UsageRow[], answer: Simulation | undefined): void {
  const cents = (of: (row: UsageRow) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  const current = cents(({ calls, units }) => 3000 + 10 * Number(calls) + Number(units));
  const slab = (calls: number) => 20 * Math.min(calls, 500) + 5 * Math.max(0, calls - 500);
  const simulated = cents(({ calls, units }) => slab(Number(calls)) + 2 * Number(units));
  const [total] = answer?.totals ?? [];
  const right =
    total?.customers === customers &&
    total.periods === customers * months &&
    Math.round(Number(total.current) * 100) === current &&
    Math.round(Number(total.simulated) * 100) === simulated;
  if (!right) throw new Error(`expected ${current} and ${simulated} cents: ${JSON.stringify(answer?.totals)}`);
  const events = rows.reduce((sum, row) => sum + Number(row.calls), 0);
  console.log(JSON.stringify({ bench: 'plan-simulate', events, ...total }));
}
