import { ApiProblem, type DemoClient } from './client.ts';

/** What the airports of one run subscribe to. */
export interface DemoCatalogue {
  planId: string;
  /** Appended to every name of the run that must be unique; empty for the first run of an environment. */
  suffix: string;
  /** When the run began, by the platform's clock. */
  createdAt: string;
  prices: { base: string; miles: string; departures: string; late: string };
  taxCode: string;
  couponCode: string;
}

const maxRuns = 1_000;
export const currency = 'usd';
export const freeDepartures = 50;

/** Every price must have begun when the airports subscribe. */
const startDate = '2000-01-01T00:00:00Z';

/** Makes the plan, its features and prices. The plan's lookup key claims the run's suffix: a later run gets the next one. */
export async function createCatalogue(api: DemoClient): Promise<DemoCatalogue> {
  const { plan, suffix } = await claimPlan(api, { name: 'Airport', lookupKey: 'airport' });
  const meter = { event_name: `departure${suffix}`, reset_usage: 'BILLING_PERIOD' };
  const miles = await createFeature(api, `Miles flown${suffix}`, 'mile', {
    ...meter,
    aggregation: { type: 'SUM', field: 'distance' },
  });
  const departures = await createFeature(api, `Departures${suffix}`, 'departure', {
    ...meter,
    aggregation: { type: 'COUNT' },
  });
  const late = await createFeature(api, `Late departures${suffix}`, 'late departure', {
    ...meter,
    aggregation: { type: 'COUNT' },
    filters: [{ key: 'late', values: ['true'] }],
  });
  await api.send('POST', '/entitlements', {
    plan_id: plan.id,
    feature_id: departures.id,
    feature_type: 'metered',
    usage_limit: freeDepartures,
    usage_reset_period: 'MONTHLY',
  });
  const price = async (terms: Record<string, unknown>) => {
    const common = { plan_id: plan.id, billing_period: 'MONTHLY', currency, start_date: startDate };
    return (await api.send<{ id: string }>('POST', '/prices', { ...common, ...terms })).id;
  };
  const usage = { type: 'USAGE', invoice_cadence: 'ARREAR' };
  const prices = {
    base: await price({
      type: 'FIXED',
      invoice_cadence: 'ADVANCE',
      billing_model: 'FLAT_FEE',
      amount: '250',
      display_name: 'Monthly fee',
    }),
    miles: await price({
      ...usage,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 25_000, unit_amount: '0.0125' },
        { up_to: 100_000, unit_amount: '0.0095' },
        { up_to: null, unit_amount: '0.0065' },
      ],
      meter_id: miles.meter_id,
      display_name: 'Miles flown',
    }),
    departures: await price({
      ...usage,
      billing_model: 'FLAT_FEE',
      amount: '1.75',
      meter_id: departures.meter_id,
      display_name: 'Departures',
    }),
    late: await price({
      ...usage,
      billing_model: 'PACKAGE',
      amount: '40',
      transform_quantity: { divide_by: 10, round: 'up' },
      meter_id: late.meter_id,
      display_name: 'Late departures, in packages of 10',
    }),
  };
  return { planId: plan.id, suffix, createdAt: plan.created_at, prices, ...(await createTaxAndCoupon(api, suffix)) };
}

/** A tax on every invoice, and a coupon that takes something off what the first two months cost. */
async function createTaxAndCoupon(api: DemoClient, suffix: string): Promise<{ taxCode: string; couponCode: string }> {
  const taxCode = `sales-tax${suffix}`;
  const couponCode = `OPENING${suffix}`;
  await api.send('POST', '/taxes/rates', { name: 'Sales tax', code: taxCode, percentage_value: '8.25' });
  await api.send('POST', '/coupons', {
    name: 'Opening season',
    coupon_code: couponCode,
    type: 'percentage',
    percentage_off: '15',
    cadence: 'repeated',
    duration_in_periods: 2,
  });
  return { taxCode, couponCode };
}

/** What the airport at a place in the order of departures subscribes with: every fourth has the coupon. */
export function airportTerms({ taxCode, couponCode }: DemoCatalogue, index: number): Record<string, unknown> {
  return {
    tax_rate_overrides: [{ tax_rate_code: taxCode, currency, tax_behavior: 'exclusive' }],
    ...(index % 4 === 1 ? { subscription_coupons: [{ coupon_code: couponCode }] } : {}),
  };
}

/**
 * Makes a plan under the first name that is free; its lookup key claims the suffix of the run. Throws when as many runs as may be have one.
 */
export async function claimPlan(api: DemoClient, { name, lookupKey }: { name: string; lookupKey: string }) {
  for (let run = 1; run <= maxRuns; run += 1) {
    const suffix = run === 1 ? '' : `-${run}`;
    try {
      const body = {
        name: `${name}${suffix}`,
        lookup_key: `${lookupKey}${suffix}`,
        description: 'Made by npm run demo',
      };
      return { suffix, plan: await api.send<{ id: string; created_at: string }>('POST', '/plans', body) };
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 409)) throw error;
    }
  }
  throw new Error(`this environment holds ${maxRuns} runs of the demo; use another environment`);
}

async function createFeature(api: DemoClient, name: string, unit: string, meter: Record<string, unknown>) {
  return api.send<{ id: string; meter_id: string }>('POST', '/features', {
    name,
    type: 'metered',
    unit_singular: unit,
    unit_plural: `${unit}s`,
    meter: { name, ...meter },
  });
}
