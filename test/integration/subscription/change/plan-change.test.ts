import { describe, expect, it } from 'vitest';
import { advanceTo, created, eventsOf, monthlyPlan, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import { addonWith, attach } from '../../catalogue/addon.fixture.ts';
import { type Changed, planChanges } from './plan-change.fixture.ts';

const { api } = await testPlatform();
const { basic, pro, subscribed, inPlace, totals, planOf } = await planChanges(api);

describe('a change of plan in place', () => {
  it('now: settles the rest of the period once, keeps anchor and period, and is what its preview showed', async () => {
    const { id, clockId } = await subscribed();
    const { status, body: seen } = await inPlace(id, 'preview');
    expect(status, JSON.stringify(seen)).toBe(200);
    expect(await planOf(id)).toBe(basic.planId);
    const { body } = await inPlace(id, 'execute', { preview_digest: seen.preview_digest });
    expect(body, JSON.stringify(body)).toMatchObject({
      subscription: { plan_id: pro.planId, version: 2, current_period_end: '2026-05-01T00:00:00.000Z' },
      change_type: 'upgrade',
      from_plan: { id: basic.planId },
      to_plan: { id: pro.planId },
      is_scheduled: false,
      changed_resources: { invoices: [{ action: 'created', invoice: { total: '15' } }] },
    });
    const amounts = ({ changed_resources: { invoices } }: Changed) =>
      invoices.map(({ invoice }) => invoice?.line_items.map(({ amount }) => amount));
    expect(amounts(body)).toEqual([['30', '-15']]);
    expect(amounts(seen)).toEqual(amounts(body));
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '15'],
      ['SUBSCRIPTION_CYCLE', '60'],
    ]);
    const events = await eventsOf(api, id);
    expect(events.slice(-3)).toContain('subscription.plan_changed');
    expect(events.indexOf('subscription.updated')).toBeLessThan(events.indexOf('subscription.plan_changed'));
  });

  it('down gives the difference to the wallet, and twice in a period gives back no more than was charged', async () => {
    const { id } = await subscribed();
    await inPlace(id, 'execute');
    const { body } = await inPlace(id, 'execute', { target_plan_id: basic.planId });
    expect(body).toMatchObject({
      change_type: 'downgrade',
      changed_resources: {
        invoices: [{ action: 'wallet_credit', wallet_transaction: { amount: '15', currency: 'usd' } }],
      },
    });
  });

  it('with none moves no money, and an identical charge is carried', async () => {
    const { id } = await subscribed();
    const same = await created(api, '/plans', { name: `Same ${Math.random()}` });
    await created(api, '/prices', {
      entity_type: 'PLAN',
      entity_id: same.id,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      currency: 'usd',
      amount: '30.00',
      start_date: '2020-01-01T00:00:00Z',
    });
    const { body } = await inPlace(id, 'execute', { target_plan_id: same.id });
    expect(body.change_type).toBe('lateral');
    expect(body.changed_resources.line_items.map((item) => item.change_action).sort()).toEqual(['ended', 'updated']);
    const none = await inPlace(id, 'execute', { proration_behavior: 'none' });
    expect(none.body.changed_resources.invoices).toEqual([]);
    expect(await totals(id)).toHaveLength(1);
  });

  it('bills usage before it at the old and after it at the new price', async () => {
    const { id, clockId, externalId } = await subscribed();
    const send = (event_name: string, timestamp: string, event_id: string) =>
      created(api, '/events', { event_name, external_customer_id: externalId, event_id, timestamp });
    for (let n = 0; n < 10; n += 1) await send(basic.eventName, '2026-04-10T00:00:00Z', `a${n}`);
    await inPlace(id, 'execute');
    for (let n = 0; n < 20; n += 1) await send(pro.eventName, '2026-04-20T00:00:00Z', `b${n}`);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '62']);
  });

  it('carries add-ons or drops them as asked, a dropped one credited', async () => {
    const { id } = await subscribed();
    const kept = await attach(api, id, await addonWith(api));
    const dropped = await attach(api, id, await addonWith(api));
    const { body } = await inPlace(id, 'execute', {
      entity_policies: { addons: { default_behaviour: 'carry', overrides: { [dropped.id]: 'drop' } } },
    });
    expect(body.entity_changes).toMatchObject([
      { entity_type: 'addon', reference_id: kept.id, behaviour: 'carry' },
      { entity_type: 'addon', reference_id: dropped.id, behaviour: 'drop' },
    ]);
    expect(body.changed_resources.invoices).toMatchObject([
      { action: 'created' },
      { action: 'wallet_credit', wallet_transaction: { amount: '10' } },
    ]);
  });

  it('at the end of the period is scheduled, and the new period is priced with the new plan', async () => {
    const { id, clockId } = await subscribed();
    const later = { change_at: 'end_of_period', proration_behavior: 'none' };
    const { body } = await inPlace(id, 'execute', later);
    expect(body).toMatchObject({ is_scheduled: true, change_type: 'upgrade', subscription: { plan_id: basic.planId } });
    expect((await inPlace(id, 'execute')).status).toBe(400);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await planOf(id)).toBe(pro.planId);
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_CYCLE', '60'],
    ]);
  });

  it('at a date takes place then; one whose preconditions no longer hold fails and the subscription goes on', async () => {
    const { id, clockId } = await subscribed();
    await inPlace(id, 'execute', { change_at: '2026-04-21T00:00:00Z' });
    await advanceTo(api, clockId, '2026-04-22T00:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '10'],
    ]);
    const scheduled = await inPlace(id, 'execute', {
      target_plan_id: basic.planId,
      change_at: '2026-04-25T00:00:00Z',
      proration_behavior: 'none',
    });
    await created(api, `/subscriptions/${id}/pause`, {});
    await advanceTo(api, clockId, '2026-04-26T00:00:00Z');
    const { body } = await api<{ status: string; error_message: string }>(
      'GET',
      `/subscriptions/schedules/${scheduled.body.schedule_id}`,
    );
    expect(body).toMatchObject({ status: 'failed', error_message: expect.stringContaining('paused') });
    expect(await planOf(id)).toBe(pro.planId);
  });

  it('charges nothing during a trial, and its end bills the new plan', async () => {
    const { id, clockId } = await subscribed({ trial_period_days: 30 });
    expect((await inPlace(id, 'execute')).body.changed_resources.invoices).toEqual([]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_TRIAL_END', '60']);
  });

  it('of one idempotency key is done once', async () => {
    const { id } = await subscribed();
    const body = { idempotency_key: 'once' };
    await inPlace(id, 'execute', body);
    expect((await inPlace(id, 'execute', body)).body.subscription.version).toBe(2);
    expect(await totals(id)).toHaveLength(2);
  });

  it('is refused where a precondition does not hold', async () => {
    const { id } = await subscribed();
    const quarterly = await monthlyPlan(api, { period: 'QUARTERLY' });
    const cases: [object, number, string][] = [
      [{ target_plan_id: basic.planId }, 400, 'target_plan_id'],
      [{ target_plan_id: 'plan_none' }, 404, 'plan_none'],
      [{ target_plan_id: quarterly.planId }, 400, 'MONTHLY'],
      [{ change_at: 'end_of_period' }, 400, 'proration_behavior'],
      [{ change_at: '2026-04-15T00:00:00Z' }, 400, 'change_at'],
      [{ proration_behavior: 'some' }, 400, 'proration_behavior'],
      [{ entity_policies: { addons: { overrides: { none: 'drop' } } } }, 400, 'overrides'],
    ];
    for (const [body, status, word] of cases) {
      const answer = await inPlace(id, 'execute', body);
      expect([answer.status, answer.body.message], word).toEqual([status, expect.stringContaining(word)]);
    }
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    expect((await inPlace(id, 'execute')).body.message).toContain('cancelled');
    expect((await subscriptionOf(api, id)).version).toBe(2);
    expect((await inPlace('subs_none', 'execute')).status).toBe(404);
  });
});
