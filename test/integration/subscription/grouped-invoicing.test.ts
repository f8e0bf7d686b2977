import { describe, expect, test } from 'vitest';
import { advanceTo, eventsOf, invoicesOf, monthlyPlan, subscriptionOf, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { attemptSubscription, calls, type Member, member, modify, ownOf } from './hierarchy.fixture.ts';

const { api } = await testPlatform();

const childrenToCreate = 'grouped_invoicing_children_to_create';
const amounts = (invoice: Wire) =>
  invoice.line_items.map(({ subscription_id, amount }: Wire) => [subscription_id, amount]);

function group(id: string, params: Record<string, unknown>, how: 'execute' | 'preview' = 'execute') {
  return modify(api, id, { type: 'grouped_invoicing', grouped_invoicing_params: params }, how);
}

/** A parent at 30 a month and a customer beside it, on one clock at 2026-01-15. */
async function neighbours() {
  const plan = await monthlyPlan(api);
  const parent = await member(api);
  const child = await member(api, parent.clockId);
  return { plan, parent, child, clockId: parent.clockId };
}

async function subscribe(customer: Member, planId: string, more: Record<string, unknown> = {}): Promise<Wire> {
  const { status, body } = await attemptSubscription(api, {
    customer_id: customer.customerId,
    plan_id: planId,
    ...more,
  });
  expect([status, body.message]).toEqual([201, undefined]);
  return body;
}

/** A parent and a child on a plan of 12 and 0.50 a call, created together. */
async function created(more: Record<string, unknown> = {}, child: Record<string, unknown> = {}) {
  const all = await neighbours();
  const dear = await monthlyPlan(api, { fee: '12', perCall: '0.50' });
  const children = [{ plan_id: dear.planId, external_customer_id: all.child.externalId, ...child }];
  const parent = await subscribe(all.parent, all.plan.planId, {
    inheritance: { [childrenToCreate]: children },
    ...more,
  });
  return { ...all, dear, parentId: parent.id as string, childId: (await ownOf(api, all.child)).id as string };
}

describe('children that are invoiced with their parent', () => {
  test('are created with it, and every invoice has the lines of both', async () => {
    const { plan, dear, parent, child, clockId, parentId, childId } = await created();
    expect(await ownOf(api, child)).toMatchObject({
      subscription_type: 'grouped_invoicing',
      subscription_status: 'active',
      parent_subscription_id: parentId,
      plan_id: dear.planId,
    });
    await calls(api, plan, parent, 10, '2026-01-20T00:00:00Z');
    await calls(api, dear, child, 4, '2026-01-20T00:00:00Z');
    const preview = await api<Wire>('POST', '/invoices/preview', { subscription_id: parentId });
    expect(preview.body.total).toEqual(30 + 12);
    await advanceTo(api, clockId, '2026-02-15T01:00:00Z');
    await calls(api, dear, child, 2, '2026-02-14T23:00:00Z');
    await advanceTo(api, clockId, '2026-02-16T00:00:00Z');
    const [opening, cycle, ...more] = await invoicesOf(api, parentId);
    expect(more).toEqual([]);
    expect([opening, cycle].map(amounts)).toEqual([
      [
        [parentId, '30'],
        [childId, '12'],
      ],
      [
        [parentId, '30'],
        [parentId, '1'],
        [childId, '12'],
        [childId, '3'],
      ],
    ]);
    expect(cycle).toMatchObject({ total: '46', payment_status: 'SUCCEEDED', customer_id: parent.customerId });
    expect((cycle as Wire).line_items[3].metadata).toMatchObject({ child_customer_id: child.customerId });
    expect(await invoicesOf(api, childId)).toEqual([]);
    expect(await subscriptionOf(api, childId)).toMatchObject({ current_period_start: '2026-02-15T00:00:00.000Z' });
  });

  test('join at their next boundary, and leave with the whole of their current period', async () => {
    const { plan, parent, child, clockId } = await neighbours();
    const { id: parentId } = await subscribe(parent, plan.planId);
    const { id: childId } = await subscribe(child, plan.planId);
    await advanceTo(api, clockId, '2026-01-20T00:00:00Z');
    const previewed = await group(parentId, { child_subscription_ids: [childId] }, 'preview');
    expect([previewed.status, (await ownOf(api, child)).subscription_type]).toEqual([200, 'standalone']);
    const added = await group(parentId, { child_subscription_ids: [childId] });
    expect(added.body.changed_resources.subscriptions.map(({ id }: Wire) => id)).toEqual([parentId, childId]);
    expect(await subscriptionOf(api, parentId)).toMatchObject({ subscription_type: 'parent' });
    expect((await group(parentId, { child_subscription_ids: [childId] })).status).toBe(200);
    await advanceTo(api, clockId, '2026-02-20T00:00:00Z');
    expect(await invoicesOf(api, childId)).toHaveLength(1);
    expect((await invoicesOf(api, parentId)).map(({ total }) => total)).toEqual(['30', '60']);
    const removed = await group(childId, { action: 'remove' });
    expect([removed.status, removed.body.message]).toEqual([200, undefined]);
    expect(await subscriptionOf(api, childId)).toMatchObject({
      subscription_type: 'standalone',
      parent_subscription_id: null,
    });
    await calls(api, plan, child, 5, '2026-02-16T00:00:00Z');
    await advanceTo(api, clockId, '2026-03-16T00:00:00Z');
    expect((await invoicesOf(api, childId)).map(({ total }) => total)).toEqual(['30', '30.5']);
    expect((await invoicesOf(api, parentId)).map(({ total }) => total)).toEqual(['30', '60', '30']);
    expect(await subscriptionOf(api, parentId)).toMatchObject({ subscription_type: 'standalone' });
    expect(await eventsOf(api, childId)).toEqual(
      expect.arrayContaining(['subscription.created', 'subscription.updated', 'subscription.renewal.due']),
    );
  });

  test('end their trials together and are paused and resumed together', async () => {
    const { clockId, parentId, childId } = await created({ trial_period_days: 5 });
    await advanceTo(api, clockId, '2026-01-25T00:00:00Z');
    expect((await invoicesOf(api, parentId)).map(({ billing_reason, total }) => [billing_reason, total])).toEqual([
      ['SUBSCRIPTION_TRIAL_START', '0'],
      ['SUBSCRIPTION_TRIAL_END', '42'],
    ]);
    await api('POST', `/subscriptions/${parentId}/pause`, { proration_behavior: 'none' });
    expect(await subscriptionOf(api, childId)).toMatchObject({ subscription_status: 'paused', pause_status: 'active' });
    await advanceTo(api, clockId, '2026-03-01T00:00:00Z');
    await api('POST', `/subscriptions/${parentId}/resume`, { proration_behavior: 'create_prorations' });
    expect(await subscriptionOf(api, childId)).toMatchObject({ subscription_status: 'active', pause_status: 'none' });
    const resumed = (await invoicesOf(api, parentId)).at(-1) as Wire;
    expect(resumed.line_items.map(({ subscription_id }: Wire) => subscription_id)).toEqual([parentId, childId]);
    await advanceTo(api, clockId, '2026-03-21T00:00:00Z');
    expect(await subscriptionOf(api, childId)).toMatchObject({ current_period_start: '2026-03-20T00:00:00.000Z' });
    expect(await invoicesOf(api, childId)).toEqual([]);
  });

  test('end with a period of their parent, and are left to themselves when it ends', async () => {
    const one = await created();
    await api('POST', `/subscriptions/${one.childId}/cancel`, { cancellation_type: 'end_of_period' });
    await advanceTo(api, one.clockId, '2026-02-16T00:00:00Z');
    expect(await subscriptionOf(api, one.childId)).toMatchObject({ subscription_status: 'cancelled' });
    expect((await invoicesOf(api, one.parentId)).map(({ total }) => total)).toEqual(['42', '30']);
    expect(await subscriptionOf(api, one.parentId)).toMatchObject({ subscription_type: 'standalone' });
    const other = await created();
    await api('POST', `/subscriptions/${other.parentId}/cancel`, { cancellation_type: 'immediate' });
    expect(await subscriptionOf(api, other.childId)).toMatchObject({
      subscription_status: 'active',
      subscription_type: 'standalone',
    });
    await advanceTo(api, other.clockId, '2026-02-16T00:00:00Z');
    expect((await invoicesOf(api, other.childId)).map(({ total }) => total)).toEqual(['12']);
  });

  test('keep their coupons to their own lines', async () => {
    const coupon = { name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'forever' };
    const { body } = await api<Wire>('POST', '/coupons', coupon);
    const { clockId, parentId } = await created({}, { coupons: [body.id] });
    await advanceTo(api, clockId, '2026-02-16T00:00:00Z');
    expect((await invoicesOf(api, parentId)).map(({ total }) => total)).toEqual(['36', '36']);
  });
});

describe('a group refuses', () => {
  test('subscriptions that do not fit, saying why', async () => {
    const { plan, parent, child, clockId } = await neighbours();
    const { id: parentId } = await subscribe(parent, plan.planId);
    const { id: childId } = await subscribe(child, plan.planId, { billing_anchor: '2026-01-20T00:00:00Z' });
    const { id: cancelled } = await subscribe(child, plan.planId);
    await api('POST', `/subscriptions/${cancelled}/cancel`, { cancellation_type: 'immediate' });
    const stranger = await subscribe(await member(api), plan.planId);
    const ending = await subscribe(await member(api, clockId), plan.planId, { end_date: '2026-04-15T00:00:00Z' });
    for (const [id, status, word] of [
      [childId, 400, 'has a period'],
      [cancelled, 400, 'is cancelled'],
      [stranger.id, 400, 'test clock'],
      [ending.id, 400, 'is to end'],
      ['subs_none', 404, 'subs_none'],
    ] as const) {
      const answer = await group(parentId, { child_subscription_ids: [id] });
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(word)]);
    }
    const notThere = await group(childId, { action: 'remove' });
    expect([notThere.status, notThere.body.message]).toEqual([
      400,
      expect.stringContaining('not invoiced with another'),
    ]);
  });

  test('what a child cannot do by itself, and a draft with children to create', async () => {
    const { plan, child, parent, parentId, childId } = await created();
    const asked: [string, unknown][] = [
      [`/subscriptions/${childId}/pause`, {}],
      [`/subscriptions/${childId}/cancel`, { cancellation_type: 'scheduled_date', cancel_at: '2026-02-01T00:00:00Z' }],
      ['/invoices/preview', { subscription_id: childId }],
    ];
    for (const [path, body] of asked) {
      const answer = await api<Wire>('POST', path, body);
      expect([path, answer.status, answer.body.message]).toEqual([path, 400, expect.stringContaining(parentId)]);
    }
    const draft = await attemptSubscription(api, {
      customer_id: parent.customerId,
      plan_id: plan.planId,
      subscription_status: 'draft',
      inheritance: { [childrenToCreate]: [{ plan_id: plan.planId, external_customer_id: child.externalId }] },
    });
    expect([draft.status, draft.body.message]).toEqual([400, expect.stringContaining('draft')]);
  });
});
