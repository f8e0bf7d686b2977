import { describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { limitedUsage, type Wire } from '../customer/customer-usage.fixture.ts';

const { api } = await testPlatform();
const { read, featureOf, grant, addFee, use } = limitedUsage(api);

describe('reset periods', () => {
  async function summaryWith(fields: object, times: { start: string; now: string; used: string[] }): Promise<Wire> {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), fields);
    const owner = await clockedCustomer(api, { frozenTime: times.start });
    await subscribe(api, { customer_id: owner.customerId, plan_id: own.planId, start_date: times.start });
    await use(own.eventName, owner.externalId, times.used);
    await advanceTo(api, owner.clockId, times.now);
    return (await read(`/customers/${owner.customerId}/usage`)).features[0];
  }

  const times = {
    start: '2026-01-31T09:00:00Z',
    now: '2026-03-10T12:00:00Z',
    used: ['2026-02-01T00:00:00Z', '2026-03-07T00:00:00Z', '2026-03-09T23:00:00Z', '2026-03-10T01:00:00Z'],
  };

  test('DAILY counts the local day', async () => {
    expect(await summaryWith({ usage_limit: 2, usage_reset_period: 'DAILY' }, times)).toMatchObject({
      current_usage: '1',
      usage_percent: '0.5',
      next_usage_reset_at: '2026-03-11T00:00:00.000Z',
    });
  });

  test('WEEKLY counts from the weekday of the anchor', async () => {
    expect(await summaryWith({ usage_limit: 0, usage_reset_period: 'WEEKLY' }, times)).toMatchObject({
      total_limit: 0,
      current_usage: '3',
      usage_percent: '100',
      next_usage_reset_at: '2026-03-14T00:00:00.000Z',
    });
  });

  test('NEVER counts from the start of the subscription', async () => {
    expect(await summaryWith({ usage_limit: null, usage_reset_period: 'NEVER' }, times)).toMatchObject({
      total_limit: null,
      is_unlimited: true,
      current_usage: '4',
      usage_percent: '0',
      next_usage_reset_at: null,
    });
  });

  test('none counts the current period', async () => {
    expect(await summaryWith({ usage_limit: 4 }, times)).toMatchObject({
      current_usage: '3',
      usage_percent: '0.75',
      next_usage_reset_at: '2026-03-31T09:00:00.000Z',
    });
  });
});

describe('what decides a window', () => {
  async function ownerOf(planId: string, fields: object = {}) {
    const owner = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    const { id } = await subscribe(api, { customer_id: owner.customerId, plan_id: planId, ...fields });
    return { ...owner, id, summary: () => read(`/customers/${owner.customerId}/usage`) };
  }

  test('a running meter counts since the subscription began, over every reset', async () => {
    const { id: planId } = await created(api, '/plans', { name: 'Seats' });
    const seats = await created<Wire>(api, '/features', {
      name: 'Seats',
      type: 'metered',
      meter: { name: 'Seats', event_name: 'seat', aggregation: { type: 'COUNT' }, reset_usage: 'NEVER' },
    });
    await grant(planId, seats, { usage_limit: 10, usage_reset_period: 'MONTHLY' });
    await addFee(planId);
    const owner = await ownerOf(planId);
    await use('seat', owner.externalId, ['2026-01-02T00:00:00Z', '2026-02-02T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-02-10T00:00:00Z');
    expect((await owner.summary()).features).toMatchObject([
      { current_usage: '2', usage_percent: '0.2', next_usage_reset_at: '2026-03-01T00:00:00.000Z' },
    ]);
  });

  test('a scheduled cancellation ends it', async () => {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), { usage_limit: 5, usage_reset_period: 'ANNUAL' });
    const owner = await ownerOf(own.planId);
    const resetAt = async () => (await owner.summary()).features[0].next_usage_reset_at;
    expect(await resetAt()).toBe('2027-01-01T00:00:00.000Z');
    await created(api, `/subscriptions/${owner.id}/cancel`, { cancellation_type: 'end_of_period' });
    expect(await resetAt()).toBe('2026-02-01T00:00:00.000Z');
  });

  test('a trial counts by itself', async () => {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), { usage_limit: 5 });
    const owner = await ownerOf(own.planId, { trial_period_days: 14 });
    await use(own.eventName, owner.externalId, ['2026-01-02T00:00:00Z', '2026-01-20T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-01-10T00:00:00Z');
    const trial = { current_usage: '1', next_usage_reset_at: '2026-01-15T00:00:00.000Z' };
    expect((await owner.summary()).features).toMatchObject([trial]);
    await advanceTo(api, owner.clockId, '2026-01-25T00:00:00Z');
    const paid = { current_usage: '1', next_usage_reset_at: '2026-02-15T00:00:00.000Z' };
    expect((await owner.summary()).features).toMatchObject([paid]);
  });
});
