import { describe, expect, test } from 'vitest';
import { advanceTo, eventsOf, invoicesOf, subscriptionOf, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import {
  attemptSubscription,
  calls,
  disinherit,
  family,
  inherit,
  member,
  modify,
  ownOf,
  subscriptionsOf,
} from './hierarchy.fixture.ts';

const { api } = await testPlatform();

const usageLine = (invoice: { line_items: { display_name: string }[] }) =>
  invoice.line_items.find(({ display_name }) => display_name === 'Calls');

describe('inherited children', () => {
  test('are created with their parent, follow it and are never billed', async () => {
    const { plan, parent, children, clockId, subscriptionId } = await family(api, { children: 2 });
    expect(await subscriptionOf(api, subscriptionId)).toMatchObject({ subscription_type: 'parent' });
    await calls(api, plan, parent, 100, '2026-01-20T00:00:00Z');
    await calls(api, plan, children[0]!, 40, '2026-01-21T00:00:00Z');
    await calls(api, plan, children[1]!, 60, '2026-02-14T23:59:59Z');
    for (const child of children) {
      expect(await ownOf(api, child)).toMatchObject({
        subscription_type: 'inherited',
        subscription_status: 'active',
        parent_subscription_id: subscriptionId,
        plan_id: plan.planId,
        line_items: [],
        current_period_end: '2026-02-15T00:00:00.000Z',
      });
    }
    await advanceTo(api, clockId, '2026-02-16T00:00:00Z');
    const [, cycle] = await invoicesOf(api, subscriptionId);
    expect(usageLine(cycle!)).toMatchObject({ quantity: '200', amount: '20' });
    for (const child of children) {
      const own = await ownOf(api, child);
      expect(own).toMatchObject({ current_period_end: '2026-03-15T00:00:00.000Z', latest_invoice: null });
      expect(await invoicesOf(api, own.id)).toEqual([]);
      expect(await eventsOf(api, own.id)).toEqual(['subscription.created']);
    }
  });

  test('count from when they were added until the period ends in which they were removed', async () => {
    const { plan, parent, children, clockId, subscriptionId } = await family(api, { children: 1 });
    const [first] = children;
    const late = await member(api, clockId);
    await calls(api, plan, late, 7, '2026-01-16T00:00:00Z');
    await advanceTo(api, clockId, '2026-01-25T12:30:00Z');
    const preview = await modify(
      api,
      subscriptionId,
      { type: 'inheritance', inheritance_params: { external_customer_ids_to_inherit_subscription: [late.externalId] } },
      'preview',
    );
    expect([preview.status, await subscriptionsOf(api, late)]).toEqual([200, []]);
    const added = await inherit(api, subscriptionId, [late.externalId]);
    expect(added.body.changed_resources.subscriptions).toMatchObject([
      { id: subscriptionId, action: 'updated' },
      { action: 'created', status: 'active', current_period_end: '2026-02-15T00:00:00.000Z' },
    ]);
    await calls(api, plan, late, 5, '2026-01-25T12:45:00Z');
    const removed = await disinherit(api, subscriptionId, [first!.externalId]);
    expect(removed.status).toBe(200);
    await calls(api, plan, first!, 3, '2026-02-14T00:00:00Z');
    await calls(api, plan, first!, 11, '2026-02-15T00:00:00Z');
    await calls(api, plan, parent, 2, '2026-02-01T00:00:00Z');
    await advanceTo(api, clockId, '2026-03-16T00:00:00Z');
    const [, cycle, next] = await invoicesOf(api, subscriptionId);
    expect([usageLine(cycle!), usageLine(next!)]).toMatchObject([{ quantity: '10' }, { quantity: '0' }]);
    const own = await ownOf(api, first!);
    expect(own).toMatchObject({ subscription_status: 'cancelled', end_date: '2026-02-15T00:00:00.000Z' });
    expect(await eventsOf(api, own.id)).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.updated',
      'subscription.cancelled',
    ]);
    await disinherit(api, subscriptionId, [late.externalId]);
    await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
    expect(await subscriptionOf(api, subscriptionId)).toMatchObject({ subscription_type: 'standalone' });
  });

  test('added twice stay as they are, and a removal to come is taken back', async () => {
    const { children, subscriptionId } = await family(api, { children: 1 });
    const [child] = children;
    const { version } = await subscriptionOf(api, subscriptionId);
    expect((await inherit(api, subscriptionId, [child!.externalId])).status).toBe(200);
    expect((await subscriptionOf(api, subscriptionId)).version).toBe(version);
    await disinherit(api, subscriptionId, [child!.externalId]);
    expect(await ownOf(api, child!)).toMatchObject({ cancel_at: '2026-02-15T00:00:00.000Z' });
    await inherit(api, subscriptionId, [child!.externalId]);
    expect(await ownOf(api, child!)).toMatchObject({ cancel_at: null, cancel_at_period_end: false });
    expect(await subscriptionsOf(api, child!)).toHaveLength(1);
  });

  test('count until they were to leave, though the period goes on after all', async () => {
    const { plan, children, clockId, subscriptionId } = await family(api, { children: 1 });
    const scheduled = { cancellation_type: 'scheduled_date', cancel_at: '2026-02-01T00:00:00Z' };
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, scheduled);
    await disinherit(api, subscriptionId, [children[0]!.externalId]);
    const kept = { subscription_id: subscriptionId, schedule_type: 'cancellation' };
    expect((await api('POST', '/subscriptions/schedules/cancel', kept)).status).toBe(200);
    await calls(api, plan, children[0]!, 3, '2026-01-31T00:00:00Z');
    await calls(api, plan, children[0]!, 4, '2026-02-10T00:00:00Z');
    await advanceTo(api, clockId, '2026-02-16T00:00:00Z');
    const [, cycle] = await invoicesOf(api, subscriptionId);
    expect(usageLine(cycle!)).toMatchObject({ quantity: '3' });
    expect(await ownOf(api, children[0]!)).toMatchObject({ end_date: '2026-02-01T00:00:00.000Z' });
  });

  test('are paused, resumed and cancelled with their parent, each with its events', async () => {
    const { children, clockId, subscriptionId } = await family(api, { children: 1 });
    const child = await ownOf(api, children[0]!);
    await advanceTo(api, clockId, '2026-01-20T00:00:00Z');
    await api('POST', `/subscriptions/${subscriptionId}/pause`, {});
    expect(await ownOf(api, children[0]!)).toMatchObject({
      subscription_status: 'paused',
      pause_status: 'active',
      current_period_start: '2026-01-20T00:00:00.000Z',
      pauses: [{ pause_status: 'active', pause_start: '2026-01-20T00:00:00.000Z' }],
    });
    await advanceTo(api, clockId, '2026-02-20T00:00:00Z');
    await api('POST', `/subscriptions/${subscriptionId}/resume`, {});
    expect(await ownOf(api, children[0]!)).toMatchObject({ subscription_status: 'active', pause_status: 'none' });
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, {
      cancellation_type: 'immediate',
      cancel_at: '2026-02-20T00:00:00Z',
    });
    expect(await ownOf(api, children[0]!)).toMatchObject({
      subscription_status: 'cancelled',
      end_date: '2026-02-20T00:00:00.000Z',
    });
    expect(await eventsOf(api, child.id)).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.paused',
      'subscription.updated',
      'subscription.resumed',
      'subscription.updated',
      'subscription.cancelled',
    ]);
  });

  test('of a draft and of a trial begin and end them with their parent', async () => {
    const { children, clockId, subscriptionId } = await family(api, {
      children: 1,
      subscription: { subscription_status: 'draft', trial_period_days: 7 },
    });
    expect(await ownOf(api, children[0]!)).toMatchObject({ subscription_status: 'DRAFT' });
    await api('POST', `/subscriptions/${subscriptionId}/activate`, { start_date: '2026-01-20T00:00:00Z' });
    const child = await ownOf(api, children[0]!);
    expect(child).toMatchObject({
      subscription_status: 'TRIALING',
      start_date: '2026-01-20T00:00:00.000Z',
      trial_end: '2026-01-27T00:00:00.000Z',
    });
    await advanceTo(api, clockId, '2026-01-28T00:00:00Z');
    expect(await ownOf(api, children[0]!)).toMatchObject({
      subscription_status: 'active',
      current_period_start: '2026-01-27T00:00:00.000Z',
    });
    expect(await eventsOf(api, child.id)).toEqual([
      'subscription.draft.created',
      'subscription.activated',
      'subscription.activated',
    ]);
  });
});

describe('a hierarchy refuses', () => {
  test('who has a subscription, inherits another one, does not exist or is the parent', async () => {
    const one = await family(api, { children: 1 });
    const other = await family(api, { children: 1 });
    const outsider = await member(api);
    const problems = [
      [one.parent.externalId, 400, 'has the parent subscription'],
      [other.parent.externalId, 400, 'has parent subscription'],
      [other.children[0]!.externalId, 400, `inherits subscription ${other.subscriptionId}`],
      [outsider.externalId, 400, 'does not live on test clock'],
      ['nobody', 404, 'nobody'],
    ] as const;
    for (const [externalId, status, message] of problems) {
      const answer = await inherit(api, one.subscriptionId, [externalId]);
      expect([externalId, answer.status, answer.body.message]).toEqual([
        externalId,
        status,
        expect.stringContaining(message),
      ]);
    }
    const stranger = await disinherit(api, one.subscriptionId, [outsider.externalId]);
    expect([stranger.status, stranger.body.message]).toEqual([400, expect.stringContaining('does not inherit')]);
  });

  test('what is asked of a child by itself, naming the parent', async () => {
    const { plan, children, subscriptionId } = await family(api, { children: 1 });
    const [child] = children;
    const { id } = await ownOf(api, child!);
    const asked: [string, string, unknown][] = [
      ['POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' }],
      ['POST', `/subscriptions/${id}/pause`, {}],
      ['POST', `/subscriptions/${id}/resume`, {}],
      ['PUT', `/subscriptions/${id}`, { cancel_at_period_end: true }],
      ['POST', `/subscriptions/${id}/lineitems`, { price_id: 'price_none' }],
      ['POST', '/invoices/preview', { subscription_id: id }],
      ['POST', `/subscriptions/${id}/change/v2/preview`, { target_plan_id: plan.planId, proration_behavior: 'none' }],
    ];
    for (const [method, path, body] of asked) {
      const answer = await api<Wire>(method as 'POST', path, body);
      expect([path, answer.status, answer.body.message]).toEqual([path, 400, expect.stringContaining(subscriptionId)]);
    }
    const own = await attemptSubscription(api, { customer_id: child!.customerId, plan_id: plan.planId });
    expect([own.status, own.body.message]).toEqual([400, expect.stringContaining(subscriptionId)]);
    const named = await api<Wire>('PUT', `/subscriptions/${id}`, { metadata: { team: 'north' } });
    expect(named.body).toMatchObject({ metadata: { team: 'north' } });
  });

  test('parts that exclude each other, a parent with a threshold, and one that is not active', async () => {
    const { plan, parent, clockId, subscriptionId } = await family(api, { children: 0 });
    const child = await member(api, clockId);
    const heirs = { external_customer_ids_to_inherit_subscription: [child.externalId] };
    for (const rest of [
      { parent_subscription_id: subscriptionId },
      { invoicing_customer_external_id: parent.externalId },
    ]) {
      const answer = await attemptSubscription(api, {
        customer_id: parent.customerId,
        plan_id: plan.planId,
        inheritance: { ...heirs, ...rest },
      });
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('cannot be combined')]);
    }
    const threshold = await attemptSubscription(api, {
      customer_id: parent.customerId,
      plan_id: plan.planId,
      auto_invoice_threshold: '10',
      inheritance: heirs,
    });
    expect([threshold.status, threshold.body.message]).toEqual([
      400,
      expect.stringContaining('auto_invoice_threshold'),
    ]);
    await api('POST', `/subscriptions/${subscriptionId}/pause`, {});
    const paused = await inherit(api, subscriptionId, [child.externalId]);
    expect([paused.status, paused.body.message]).toEqual([400, expect.stringContaining('paused')]);
    const both = { ...heirs, external_customer_ids_to_remove: [child.externalId] };
    for (const inheritance_params of [both, {}, { action: 'remove' }]) {
      expect((await modify(api, subscriptionId, { type: 'inheritance', inheritance_params })).status).toBe(400);
    }
  });
});

test('a parent is linked at creation, and may be sent the invoices', async () => {
  const { plan, parent, clockId, subscriptionId } = await family(api, { children: 0 });
  const other = await member(api, clockId);
  const linked = await attemptSubscription(api, {
    customer_id: other.customerId,
    plan_id: plan.planId,
    parent_subscription_id: subscriptionId,
    invoice_billing: 'invoice_to_parent',
  });
  expect(linked.body).toMatchObject({
    subscription_type: 'standalone',
    parent_subscription_id: subscriptionId,
    invoicing_customer_id: parent.customerId,
  });
  const found = await api<Wire>('POST', '/subscriptions/search', {
    parent_subscription_ids: [subscriptionId],
    subscription_type: ['standalone'],
  });
  expect(found.body.items.map(({ id }: Wire) => id)).toEqual([linked.body.id]);
});
