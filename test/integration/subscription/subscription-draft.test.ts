import { expect, it, test } from 'vitest';
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

/** A draft made on 1 April 2026. */
async function drafted(fields: object = {}, method: { card?: string } = { card }) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', ...method });
  const draft = await subscribe(api, {
    customer_id: customerId,
    plan_id: plan.planId,
    subscription_status: 'draft',
    ...fields,
  });
  return { ...draft, clockId, customerId };
}

const activate = (id: string, start_date: string) => api('POST', `/subscriptions/${id}/activate`, { start_date });

test('a draft bills nothing and waits until it is activated, then everything on it moves to its start', async () => {
  const coupon = await created(api, '/coupons', {
    name: 'Start',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'repeated',
    duration_in_periods: 2,
  });
  const { id, clockId, ...draft } = await drafted({ coupons: [coupon.id] });
  expect(draft).toMatchObject({
    subscription_status: 'DRAFT',
    current_period_start: '2026-04-01T00:00:00.000Z',
    current_period_end: '2026-05-01T00:00:00.000Z',
  });
  await advanceTo(api, clockId, '2026-06-10T00:00:00Z');
  expect(await invoicesOf(api, id)).toEqual([]);

  const { status, body } = await activate(id, '2026-06-10T00:00:00Z');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    subscription_status: 'active',
    start_date: '2026-06-10T00:00:00.000Z',
    billing_anchor: '2026-06-10T00:00:00.000Z',
    current_period_start: '2026-06-10T00:00:00.000Z',
    current_period_end: '2026-07-10T00:00:00.000Z',
    version: 2,
    line_items: [{ start_date: '2026-06-10T00:00:00.000Z' }, { start_date: '2026-06-10T00:00:00.000Z' }],
    coupon_associations: [{ start_date: '2026-06-10T00:00:00.000Z', end_date: '2026-08-09T23:59:59.000Z' }],
    latest_invoice: { billing_reason: 'SUBSCRIPTION_CREATE', total: '27' },
  });
  await advanceTo(api, clockId, '2026-07-11T00:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => [invoice.billing_reason, invoice.total])).toEqual([
    ['SUBSCRIPTION_CREATE', '27'],
    ['SUBSCRIPTION_CYCLE', '27'],
  ]);
  expect((await eventsOf(api, id)).filter((name) => name !== 'subscription.renewal.due')).toEqual([
    'subscription.draft.created',
    'subscription.activated',
  ]);
});

test('a draft with a trial begins it with as many days', async () => {
  const { id } = await drafted({ trial_period_days: 14 });
  expect((await activate(id, '2026-04-03T00:00:00Z')).body).toMatchObject({
    subscription_status: 'TRIALING',
    trial_start: '2026-04-03T00:00:00.000Z',
    trial_end: '2026-04-17T00:00:00.000Z',
    current_period_end: '2026-04-17T00:00:00.000Z',
  });
  expect(await eventsOf(api, id)).toEqual(['subscription.draft.created', 'subscription.activated']);
  expect(await invoicesOf(api, id)).toMatchObject([{ billing_reason: 'SUBSCRIPTION_TRIAL_START' }]);
});

test('a draft that waits for its first payment becomes incomplete', async () => {
  const { id } = await drafted({ payment_behavior: 'allow_incomplete' }, {});
  expect((await activate(id, '2026-04-01T00:00:00Z')).body).toMatchObject({ subscription_status: 'incomplete' });
  expect(await eventsOf(api, id)).toEqual(['subscription.draft.created']);
});

test('a calendar draft anchors anew, and a start in the past is billed up to now', async () => {
  const { id, clockId } = await drafted({ billing_cycle: 'calendar' });
  await advanceTo(api, clockId, '2026-06-10T00:00:00Z');
  expect((await activate(id, '2026-04-16T00:00:00Z')).body).toMatchObject({
    billing_anchor: '2026-05-01T00:00:00.000Z',
  });
  await advanceTo(api, clockId, '2026-06-10T03:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => [invoice.period_end.slice(0, 10), invoice.total])).toEqual([
    ['2026-05-01', '15'],
    ['2026-05-01', '30'],
    ['2026-06-01', '30'],
  ]);
});

it('refuses any other status, an activation of what is no draft, one after the end, and one without a start', async () => {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const body = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  for (const subscription_status of ['active', 'TRIALING', 'bogus']) {
    expect(await api('POST', '/subscriptions', { ...body, subscription_status })).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
  }
  const running = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const refused = await activate(running.id, '2026-04-01T00:00:00Z');
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect(JSON.stringify(refused.body)).toContain('active');
  const { id } = await drafted({ end_date: '2026-08-01T00:00:00Z' });
  expect((await activate(id, '2026-08-02T00:00:00Z')).status).toBe(400);
  expect((await api('POST', `/subscriptions/${id}/activate`, {})).status).toBe(400);
  expect((await activate('subs_unknown', '2026-04-01T00:00:00Z')).status).toBe(404);
  for (const [command, body] of [['pause'], ['cancel', { cancellation_type: 'immediate' }], ['resume']] as const) {
    const answer = await api('POST', `/subscriptions/${id}/${command}`, body ?? {});
    expect(answer, command).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(JSON.stringify(answer.body)).toContain('draft');
  }
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'DRAFT', version: 1 });
});
