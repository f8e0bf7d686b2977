import { describe, expect, it } from 'vitest';
import {
  clockedCustomer,
  created,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api);
const now = '2026-04-11T12:00:00Z';

interface Refusal {
  code: string;
  message: string;
}

const price = (planId: string, more: object) =>
  created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: planId,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '10',
    start_date: '2020-01-01T00:00:00Z',
    ...more,
  });

const yearly = await price(plan.planId, { billing_period: 'ANNUAL' });
const monthly = await price(plan.planId, { amount: '5' });

async function body(more: object = {}): Promise<Record<string, unknown>> {
  const { customerId } = await clockedCustomer(api, { frozenTime: now });
  return { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY', ...more };
}

async function refused(path: string, request: object): Promise<Refusal> {
  const answer = await api<Refusal>('POST', path, request);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  return answer.body;
}

/** spec: subscriptions-and-invoicing §3 rows 6, 8, 10 and 16 */
describe('a creation is refused, and nothing is kept,', () => {
  it.each([
    [
      'with prices that are named twice, of nobody or of a longer cadence, all of them named',
      () => ({ include_price_ids: [monthly.id, 'price_none', yearly.id, monthly.id] }),
      ['price_none', yearly.id, monthly.id],
    ],
    ['with periods of no length', () => ({ billing_period_count: 0 }), ['billing_period_count']],
    [
      'with prorations that are asked for and a start before today in UTC',
      () => ({ proration_behavior: 'create_prorations', start_date: '2026-04-10T23:59:59.999Z' }),
      ['start_date', 'create_prorations'],
    ],
    ['with a period that is for prices alone', () => ({ billing_period: 'ONETIME' }), ['billing_period']],
    ['with a billing cadence of one time', () => ({ billing_cadence: 'ONETIME' }), ['billing_cadence']],
    ['with an overage factor below 1', () => ({ commitment_amount: '10', overage_factor: '0.99' }), ['overage_factor']],
  ])('%s', async (_what, more, named) => {
    const request = await body(more());
    const { message } = await refused('/subscriptions', request);
    for (const name of named) expect(message).toContain(name);
    const listed = await api<{ items: unknown[] }>('GET', `/subscriptions?customer_id=${request.customer_id}`);
    expect(listed.body.items).toEqual([]);
  });

  it('but a start at the first instant of today is taken', async () => {
    await created(
      api,
      '/subscriptions',
      await body({ proration_behavior: 'create_prorations', start_date: '2026-04-11T00:00:00Z' }),
    );
  });

  it('where prices have trials of different lengths, unless one is sent', async () => {
    const { id: planId } = await created(api, '/plans', { name: 'Two trials' });
    await price(planId, { trial_period_days: 7 });
    await price(planId, { trial_period_days: 14 });
    const { message } = await refused('/subscriptions', await body({ plan_id: planId }));
    expect(message).toContain('trial_period_days');
    const made = await created<{ subscription_status: string }>(
      api,
      '/subscriptions',
      await body({ plan_id: planId, trial_period_days: 0 }),
    );
    expect(made.subscription_status).toBe('active');
  });
});

/** spec: subscriptions-and-invoicing §3 row 32 */
describe('of eight identical creations at once', () => {
  it('one is made where a lookup key says that they are the same, and the others name it', async () => {
    const asked = await body({ lookup_key: 'seat-1' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => api('POST', '/subscriptions', asked)));
    const [made, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(made?.status).toBe(201);
    for (const other of others) {
      expect(other).toMatchObject({
        status: 409,
        body: {
          code: 'already_exists',
          message: `lookup_key seat-1 is taken by subscription ${made?.body.id}; choose another`,
        },
      });
    }
  });

  it('one is made where an Idempotency-Key says so, and all are answered with it', async () => {
    const asked = await body({});
    const headers = { 'idempotency-key': 'the-same' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => api('POST', '/subscriptions', asked, headers)));
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([201, answers[0]?.body]);
    const list = await api<{ items: { id: string }[] }>('GET', `/subscriptions?customer_id=${asked.customer_id}`);
    expect(list.body.items.map(({ id }) => id)).toEqual([answers[0]?.body.id]);
  });
});

/** spec: subscriptions-and-invoicing §3 rows 26 to 28 */
describe('a cancellation is refused, and changes nothing,', () => {
  it.each([
    [
      'at once in the future, naming what would do it',
      { cancellation_type: 'immediate', cancel_at: '2026-04-11T12:00:00.001Z' },
      'scheduled_date',
    ],
    ['at a date without one', { cancellation_type: 'scheduled_date' }, 'cancel_at'],
    ['at the present as a date', { cancellation_type: 'scheduled_date', cancel_at: now }, 'cancel_at'],
    ['without saying how', {}, 'cancellation_type'],
  ])('%s', async (_what, request, named) => {
    const { id } = await subscribe(api, await body());
    expect((await refused(`/subscriptions/${id}/cancel`, request)).message).toContain(named);
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active', version: 1 });
  });

  it('a second time, in any way', async () => {
    const { id } = await subscribe(api, await body());
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    for (const cancellation_type of ['immediate', 'end_of_period']) {
      expect((await refused(`/subscriptions/${id}/cancel`, { cancellation_type })).message).toContain('cancelled');
    }
  });

  it('later, of one that waits for its first payment', async () => {
    const { id } = await subscribe(
      api,
      await body({ collection_method: 'send_invoice', payment_behavior: 'default_incomplete' }),
    );
    const later = { cancellation_type: 'end_of_period' };
    expect((await refused(`/subscriptions/${id}/cancel`, later)).message).toContain('incomplete');
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  });
});
