import { beforeAll, describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { limitedUsage, type Wire } from '../customer/customer-usage.fixture.ts';

const { api } = await testPlatform();
const { featureOf, grant, use } = limitedUsage(api);

describe('the usage of a subscription', () => {
  let priced: Awaited<ReturnType<typeof monthlyPlan>>;
  let owner: Awaited<ReturnType<typeof clockedCustomer>>;
  let pricedId: string;

  async function usage(body: object = {}): Promise<Wire> {
    const answer = await api('POST', '/subscriptions/usage', { subscription_id: pricedId, ...body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  }

  beforeAll(async () => {
    priced = await monthlyPlan(api, { fee: '30', perCall: '0.10' });
    await grant(priced.planId, await featureOf(priced.meterId), { usage_limit: 3 });
    owner = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    pricedId = (await subscribe(api, { customer_id: owner.customerId, plan_id: priced.planId })).id;
    const january = Array.from({ length: 10 }, (_, index) => `2026-01-05T00:00:0${index}Z`);
    const february = Array.from({ length: 5 }, (_, index) => `2026-02-02T00:00:0${index}Z`);
    await use(priced.eventName, owner.externalId, [...january, ...february, '2026-02-20T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-02-10T00:00:00Z');
  });

  test('of the current period is what a preview bills until now, with every documented key', async () => {
    expect(await usage()).toEqual({
      amount: 0.2,
      currency: 'usd',
      display_amount: '$0.20',
      start_time: '2026-02-01T00:00:00.000Z',
      end_time: '2026-03-01T00:00:00.000Z',
      charges: [
        {
          subscription_line_item_id: expect.any(String),
          meter_id: priced.meterId,
          meter_display_name: expect.anything(),
          price: expect.objectContaining({ amount: '0.1', type: 'USAGE' }),
          filter_values: null,
          quantity: 2,
          amount: 0.2,
          currency: 'usd',
          display_amount: '$0.20',
          is_overage: false,
          overage_factor: 1,
        },
      ],
      commitment_amount: 0,
      commitment_utilized: 0,
      overage_amount: 0,
      overage_factor: 1,
      has_overage: false,
    });
  });

  test('of its whole life is the sum of what its periods bill, each with its own allowance', async () => {
    const { amount, start_time, charges } = await usage({ lifetime_usage: true });
    expect([amount, start_time, charges[0].quantity]).toEqual([0.9, '2026-01-01T00:00:00.000Z', 9]);
    const january = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    expect(await usage(january)).toMatchObject({ amount: 0.7, charges: [{ quantity: 7 }] });
  });

  test('of a window in the future costs nothing, however far it is', async () => {
    const later = { start_time: '9990-01-01T00:00:00Z', end_time: '9999-01-01T00:00:00Z' };
    expect(await usage(later)).toMatchObject({ amount: 0, charges: [] });
  });

  test('of a window before the subscription costs nothing', async () => {
    const before = { start_time: '2025-01-01T00:00:00Z', end_time: '2025-02-01T00:00:00Z' };
    expect(await usage(before)).toMatchObject({ amount: 0, display_amount: '$0.00', charges: [] });
  });

  test('refuses a window that ends before it starts, an unknown subscription and none', async () => {
    const ask = async (body: object) => {
      const answer = await api<{ code: string }>('POST', '/subscriptions/usage', body);
      return [answer.status, answer.body.code];
    };
    const inverted = { start_time: '2026-02-02T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    expect(await ask({ subscription_id: pricedId, ...inverted })).toEqual([400, 'validation_error']);
    expect(await ask({ subscription_id: 'subs_other' })).toEqual([404, 'not_found']);
    expect(await ask({})).toEqual([400, 'validation_error']);
  });
});
