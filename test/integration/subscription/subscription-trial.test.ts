import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);
const start = '2026-02-20T09:00:00.000Z';

/** A plan whose fee has a trial of 14 days. */
async function planWithTrial(): Promise<string> {
  const { id } = await created(api, '/plans', { name: 'Tried for a fortnight' });
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: id,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '12',
    trial_period_days: 14,
    start_date: '2020-01-01T00:00:00Z',
  });
  return id;
}

async function tried(trial: Record<string, unknown>, options: { timezone?: string } = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: start, card, ...options });
  const made = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...trial });
  return { ...made, clockId };
}

const told = async (id: string) =>
  (await invoicesOf(api, id)).map(({ billing_reason, total, payment_status }) => [
    billing_reason,
    total,
    payment_status,
  ]);

/** spec: subscriptions-and-invoicing §1.2 trial_period_days, decision 47 */
describe('a trial that is asked for by its ends', () => {
  it('is a trial: free until its end, where billing begins and anchors', async () => {
    const { id, clockId, ...made } = await tried({ trial_start: start, trial_end: '2026-03-06T09:00:00Z' });
    expect(made).toMatchObject({
      subscription_status: 'TRIALING',
      trial_start: start,
      trial_end: '2026-03-06T09:00:00.000Z',
      current_period_end: '2026-03-06T09:00:00.000Z',
    });
    await advanceTo(api, clockId, '2026-03-06T08:59:59Z');
    expect(await told(id)).toEqual([['SUBSCRIPTION_TRIAL_START', '0', 'SUCCEEDED']]);
    await advanceTo(api, clockId, '2026-04-07T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({
      subscription_status: 'active',
      billing_anchor: '2026-03-06T09:00:00.000Z',
      current_period_end: '2026-05-06T09:00:00.000Z',
    });
    expect(await told(id)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', '0', 'SUCCEEDED'],
      ['SUBSCRIPTION_TRIAL_END', '30', 'SUCCEEDED'],
      ['SUBSCRIPTION_CYCLE', '30', 'SUCCEEDED'],
    ]);
  });

  it('costs nothing when it is cancelled in time', async () => {
    const { id, clockId } = await tried({ trial_start: start, trial_end: '2026-03-06T09:00:00Z' });
    await advanceTo(api, clockId, '2026-03-01T00:00:00Z');
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    await advanceTo(api, clockId, '2026-05-01T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'cancelled' });
    expect(await told(id)).toEqual([['SUBSCRIPTION_TRIAL_START', '0', 'SUCCEEDED']]);
    expect((await eventsOf(api, id)).at(-1)).toBe('subscription.cancelled');
  });

  it('counts days where the subscription lives, and ends at the clock time of its start', async () => {
    const ends = { trial_start: '2026-03-28T00:30:00+01:00', trial_end: '2026-03-31T00:00:00+02:00' };
    const made = await tried({ start_date: '2026-03-28T14:00:00+01:00', ...ends }, { timezone: 'Europe/Berlin' });
    expect(made.trial_end).toBe('2026-03-31T12:00:00.000Z');
  });

  it('takes the plan’s days for an end that is left out', async () => {
    const planId = await planWithTrial();
    for (const end of [{ trial_start: start }, { trial_end: '2026-03-06T00:00:00Z' }, {}]) {
      const made = await tried({ plan_id: planId, ...end });
      expect(made, JSON.stringify(end)).toMatchObject({
        subscription_status: 'TRIALING',
        trial_end: '2026-03-06T09:00:00.000Z',
      });
    }
  });

  it('moves with a draft, as long as it was', async () => {
    const { id } = await tried({
      subscription_status: 'draft',
      trial_start: start,
      trial_end: '2026-03-02T09:00:00Z',
    });
    const activated = await api('POST', `/subscriptions/${id}/activate`, { start_date: '2026-02-25T00:00:00Z' });
    expect(activated.body).toMatchObject({ subscription_status: 'TRIALING', trial_end: '2026-03-07T00:00:00.000Z' });
  });

  it('is the trial of those who inherit it', async () => {
    const { clockId, customerId } = await clockedCustomer(api, { frozenTime: start, card });
    const heir = await clockedCustomer(api, { frozenTime: start, clockId });
    const body = {
      customer_id: customerId,
      plan_id: plan.planId,
      trial_start: start,
      trial_end: '2026-03-06T09:00:00Z',
      inheritance: { external_customer_ids_to_inherit_subscription: [heir.externalId] },
    };
    await subscribe(api, body);
    const { body: listed } = await api<{ items: object[] }>('GET', `/subscriptions?customer_id=${heir.customerId}`);
    expect(listed.items).toMatchObject([{ subscription_status: 'TRIALING', trial_end: '2026-03-06T09:00:00.000Z' }]);
  });
});

describe('a creation is refused, and nobody is charged,', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['when the trial ends before it starts', { trial_start: start, trial_end: '2026-02-19T09:00:00Z' }, 'trial_end'],
    ['when it has no day', { trial_start: start, trial_end: start }, 'trial_end'],
    [
      'when it starts before the subscription',
      { trial_start: '2026-02-18T09:00:00Z', trial_end: '2026-03-06T09:00:00Z' },
      'trial_start',
    ],
    [
      'when it starts after the subscription',
      { trial_start: '2026-03-01T09:00:00Z', trial_end: '2026-03-06T09:00:00Z' },
      'trial_start',
    ],
    ['when nothing says where it ends', { trial_start: start }, 'trial_end'],
    ['when nothing says where it starts', { trial_end: '2026-03-06T09:00:00Z' }, 'trial_start'],
    [
      'when trial_period_days says otherwise',
      { trial_start: start, trial_end: '2026-03-06T09:00:00Z', trial_period_days: 0 },
      'trial_period_days',
    ],
    [
      'when the subscription ends in it',
      { trial_start: start, trial_end: '2026-03-06T09:00:00Z', end_date: '2026-03-01T00:00:00Z' },
      'trial_end',
    ],
    ['when an end is no instant', { trial_start: start, trial_end: 'soon' }, 'trial_end'],
  ])('%s', async (_what, trial, field) => {
    const { customerId } = await clockedCustomer(api, { frozenTime: start, card });
    const body = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
    expect(await api('POST', '/subscriptions', { ...body, ...trial })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining(field) },
    });
    const listed = await api<{ items: unknown[] }>('GET', `/subscriptions?customer_id=${customerId}`);
    expect(listed.body.items).toEqual([]);
    const invoices = await api<{ items: unknown[] }>('GET', `/invoices?customer_id=${customerId}`);
    expect(invoices.body.items).toEqual([]);
  });
});
