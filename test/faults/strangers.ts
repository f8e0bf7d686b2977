import type { DemoCatalogue } from '../../dev/demo/catalogue.ts';
import type { DemoClient } from '../../dev/demo/client.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';

/** A customer of a wave and how it subscribes. */
export interface NewSubscriber {
  code: string;
  zone: string;
  card: string;
  terms: Record<string, unknown>;
}

/** What the strangers have beside the demo's catalogue. */
export interface OtherPlans {
  /** A dearer monthly fee. */
  targetPlanId: string;
  /** Usage alone, with a threshold. */
  watchedPlanId: string;
  watchedEvent: string;
}

const monthly = {
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  currency: 'usd',
  start_date: '2000-01-01T00:00:00Z',
};

/** Makes the plans of the customers that are no airports. */
export async function createOtherPlans(api: DemoClient, { suffix }: DemoCatalogue): Promise<OtherPlans> {
  const target = await api.send<{ id: string }>('POST', '/plans', { name: `Dearer${suffix}` });
  const fee = { ...monthly, plan_id: target.id, type: 'FIXED', amount: '200', invoice_cadence: 'ADVANCE' };
  await api.send('POST', '/prices', fee);
  const watchedEvent = `watched${suffix}`;
  const meter = { event_name: watchedEvent, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
  const feature = await api.send<{ meter_id: string }>('POST', '/features', {
    name: `Watched${suffix}`,
    type: 'metered',
    meter: { name: `Watched${suffix}`, ...meter },
  });
  const watched = await api.send<{ id: string }>('POST', '/plans', {
    name: `Watched${suffix}`,
    auto_invoice_threshold: '2',
  });
  const usage = { ...monthly, plan_id: watched.id, type: 'USAGE', amount: '1', invoice_cadence: 'ARREAR' };
  await api.send('POST', '/prices', { ...usage, meter_id: feature.meter_id });
  return { targetPlanId: target.id, watchedPlanId: watched.id, watchedEvent };
}

const monthlyGrant = {
  name: 'Monthly credits',
  scope: 'SUBSCRIPTION',
  credits: '10',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'NEVER',
};

/** Two phases, each inside a period, after which the subscription goes on as its plan has it. */
const phases = [
  { start_date: '2001-01-01T00:00:00Z', end_date: '2001-01-20T00:00:00Z', amount: '31' },
  { start_date: '2001-01-20T00:00:00Z', end_date: '2001-02-15T00:00:00Z', amount: '62' },
].map(({ amount, ...phase }) => {
  const { start_date: _, ...price } = { ...monthly, type: 'FIXED', amount, invoice_cadence: 'ADVANCE' };
  return { ...phase, line_items: [{ price }] };
});

/** The customers that meet what no airport meets. */
export function strangersOf(plans: OtherPlans): NewSubscriber[] {
  const succeeds = sandboxCardNumber('succeeds');
  return [
    { code: 'TRIAL', zone: 'UTC', card: sandboxCardNumber('loses_answer'), terms: { trial_period_days: 14 } },
    {
      code: 'INCOMPLETE',
      zone: 'UTC',
      card: sandboxCardNumber('declines_times', 1),
      terms: { payment_behavior: 'allow_incomplete' },
    },
    { code: 'RESTLESS', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'GRANTED', zone: 'UTC', card: succeeds, terms: { credit_grants: [monthlyGrant] } },
    { code: 'PHASED', zone: 'UTC', card: succeeds, terms: { phases } },
    { code: 'MOVING', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'REPLACED', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'LATE', zone: 'UTC', card: sandboxCardNumber('declines'), terms: {} },
    {
      code: 'PAIDFIRST',
      zone: 'UTC',
      card: sandboxCardNumber('loses_answer'),
      terms: { payment_behavior: 'error_if_incomplete' },
    },
    { code: 'WATCHED', zone: 'UTC', card: succeeds, terms: { plan_id: plans.watchedPlanId } },
  ];
}
