import { describe, expect, it } from 'vitest';
import { advanceTo, invoicesOf, monthlyPlan, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import { planChanges } from './plan-change.fixture.ts';

const { api } = await testPlatform();
const { basic, pro, subscribed, replace, totals } = await planChanges(api);

describe('a change of plan by another subscription', () => {
  it('now: the old one is closed, and its credit reduces the opening invoice of the new one', async () => {
    const { id, clockId } = await subscribed({ lookup_key: `key-${Math.random()}` });
    const { status, body: seen } = await replace(id, 'preview');
    expect(status, JSON.stringify(seen)).toBe(200);
    expect(seen).toMatchObject({ change_type: 'upgrade', next_invoice_preview: { total: '45' } });
    const { body } = await replace(id, 'execute', { preview_digest: seen.preview_digest });
    expect(body, JSON.stringify(body)).toMatchObject({
      old_subscription: { id, status: 'cancelled' },
      new_subscription: { plan_id: pro.planId, status: 'active', current_period_end: '2026-05-16T00:00:00.000Z' },
      change_type: 'upgrade',
      invoice: { total: '45', billing_reason: 'SUBSCRIPTION_UPDATE' },
      proration_applied: {
        credit_amount: '15',
        charge_amount: '60',
        net_amount: '45',
        days_used: 15,
        days_remaining: 15,
      },
      is_scheduled: false,
    });
    const next = body.new_subscription!.id;
    await advanceTo(api, clockId, '2026-05-16T03:00:00Z');
    expect(await totals(next)).toEqual([
      ['SUBSCRIPTION_UPDATE', '45'],
      ['SUBSCRIPTION_CYCLE', '60'],
    ]);
    expect((await invoicesOf(api, next)).every((invoice) => invoice.payment_status === 'SUCCEEDED')).toBe(true);
    const { metadata } = (await api<{ metadata: object }>('GET', `/subscriptions/${id}`)).body;
    expect(metadata).toMatchObject({ cancellation_reason: 'subscription_change' });
  });

  it('gives what the new one does not take to the wallet', async () => {
    const small = await monthlyPlan(api, { fee: '10' });
    const { id } = await subscribed();
    const { body } = await replace(id, 'execute', { target_plan_id: small.planId });
    expect(body).toMatchObject({ change_type: 'downgrade', invoice: { total: '0' } });
  });

  it('at the end of the period bills only the new one from there on', async () => {
    const { id, clockId } = await subscribed();
    const { body } = await replace(id, 'execute', { change_at: 'end_of_period', proration_behavior: 'none' });
    expect(body).toMatchObject({ is_scheduled: true, new_subscription: null });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await subscriptionOf(api, id)).subscription_status).toBe('cancelled');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_CYCLE', '0'],
    ]);
    const { body: found } = await api<{ items: { id: string }[] }>('POST', '/subscriptions/search', {
      plan_id: pro.planId,
      limit: 1,
    });
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect(await totals(found.items[0]!.id)).toEqual([
      ['SUBSCRIPTION_UPDATE', '60'],
      ['SUBSCRIPTION_CYCLE', '60'],
    ]);
  });

  it('is refused for the same plan and for a cadence the plan has no price for', async () => {
    const { id } = await subscribed();
    expect((await replace(id, 'execute', { target_plan_id: basic.planId })).status).toBe(400);
    expect((await replace(id, 'execute', { billing_period: 'WEEKLY' })).status).toBe(400);
    expect((await replace(id, 'execute', { billing_cadence: 'ONETIME' })).status).toBe(400);
    expect((await subscriptionOf(api, id)).version).toBe(1);
  });
});
