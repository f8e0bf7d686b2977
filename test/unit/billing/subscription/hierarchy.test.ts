import { describe, expect, test } from 'vitest';
import {
  checkParent,
  followEvents,
  followParent,
  type HierarchyMember,
  inheritedAlready,
  refuseChild,
  refuseInherited,
} from '../../../../billing/subscription/hierarchy.ts';
import type { SubscriptionState } from '../../../../billing/subscription/subscription.ts';

const parent: HierarchyMember = {
  id: 'subs_parent',
  customerId: 'cust_parent',
  status: 'active',
  subscriptionType: 'standalone',
  parentSubscriptionId: null,
};
const field = 'inheritance';

describe('a parent', () => {
  test('is active, no child itself and without a threshold', () => {
    checkParent(parent, { threshold: null, field });
    checkParent({ ...parent, subscriptionType: 'parent' }, { threshold: '0', field });
    expect(() => checkParent(parent, { threshold: '10', field })).toThrow('auto_invoice_threshold');
    for (const subscriptionType of ['inherited', 'grouped_invoicing'] as const) {
      expect(() => checkParent({ ...parent, subscriptionType }, { threshold: null, field })).toThrow(subscriptionType);
    }
    for (const status of ['draft', 'trialing', 'incomplete', 'paused', 'cancelled'] as const) {
      expect(() => checkParent({ ...parent, status }, { threshold: null, field })).toThrow(status);
    }
  });

  test('that is only made need not be active yet', () => {
    expect(() => checkParent({ ...parent, status: 'draft' }, { threshold: null, field, creating: true })).not.toThrow();
  });
});

describe('an heir', () => {
  const heir = (subscriptions: Partial<HierarchyMember>[]) => ({
    customerId: 'cust_child',
    externalId: 'child',
    subscriptions: subscriptions.map((one) => ({ ...parent, id: 'subs_own', customerId: 'cust_child', ...one })),
  });

  test('without a subscription, or with one that is invoiced with others, is new', () => {
    expect(inheritedAlready(heir([]), parent, field)).toBeNull();
    expect(inheritedAlready(heir([{ subscriptionType: 'grouped_invoicing' }]), parent, field)).toBeNull();
  });

  test('of this parent is the child there is', () => {
    const own = { subscriptionType: 'inherited' as const, parentSubscriptionId: parent.id };
    expect(inheritedAlready(heir([own]), parent, field)).toMatchObject({ id: 'subs_own' });
  });

  test('with a subscription of his own, of another parent, or who is the parent, is refused', () => {
    const other = { subscriptionType: 'inherited' as const, parentSubscriptionId: 'subs_other' };
    expect(() => inheritedAlready(heir([other]), parent, field)).toThrow('subs_other');
    expect(() => inheritedAlready(heir([{}]), parent, field)).toThrow('standalone subscription subs_own');
    expect(() => inheritedAlready(heir([{ subscriptionType: 'parent' }]), parent, field)).toThrow('subs_own');
    expect(() => inheritedAlready({ ...heir([]), customerId: 'cust_parent' }, parent, field)).toThrow('parent');
  });
});

test('what a child may not do by itself names its parent', () => {
  const child = { ...parent, id: 'subs_child', parentSubscriptionId: parent.id };
  refuseInherited({ ...child, subscriptionType: 'grouped_invoicing' }, 'cancelled');
  refuseChild({ ...child, subscriptionType: 'standalone' }, 'paused');
  expect(() => refuseInherited({ ...child, subscriptionType: 'inherited' }, 'cancelled')).toThrow(parent.id);
  expect(() => refuseChild({ ...child, subscriptionType: 'grouped_invoicing' }, 'paused')).toThrow(parent.id);
});

describe('an inherited child', () => {
  const state: SubscriptionState = {
    status: 'active',
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    billingCycle: 'anniversary',
    billingAnchor: '2026-01-15T00:00:00.000Z',
    timezone: 'UTC',
    startDate: '2026-01-15T00:00:00.000Z',
    endDate: null,
    currentPeriodStart: '2026-02-15T00:00:00.000Z',
    currentPeriodEnd: '2026-03-15T00:00:00.000Z',
    trialStart: null,
    trialEnd: null,
    cancelAt: null,
    cancelledAt: null,
    cancelAtPeriodEnd: false,
  };
  const child = {
    ...state,
    startDate: '2026-01-20T00:00:00.000Z',
    currentPeriodStart: state.startDate,
    currentPeriodEnd: state.currentPeriodStart,
  };

  test('has the status and period of its parent and its own start', () => {
    expect(followParent(child, { ...state, status: 'paused' })).toEqual({
      ...state,
      status: 'paused',
      startDate: child.startDate,
    });
  });

  test('begins with a parent that was a draft', () => {
    const draft = { ...child, status: 'draft' as const };
    expect(followParent(draft, state).startDate).toBe(state.startDate);
    expect(followParent(draft, { ...state, status: 'draft' }).startDate).toBe(child.startDate);
  });

  test('ends where it was removed once the parent has come to that, not before', () => {
    const leaving = { ...child, cancelAt: state.currentPeriodStart, cancelAtPeriodEnd: true };
    expect(followParent(leaving, state)).toMatchObject({
      status: 'cancelled',
      endDate: state.currentPeriodStart,
      cancelledAt: state.currentPeriodStart,
      currentPeriodEnd: child.currentPeriodEnd,
    });
    expect(followParent({ ...leaving, cancelAt: state.currentPeriodEnd }, state).status).toBe('active');
  });

  test('ends with its parent, and never before it began', () => {
    const endDate = '2026-02-20T00:00:00.000Z';
    const cancelledAt = '2026-02-21T00:00:00.000Z';
    const ended = { ...state, status: 'cancelled' as const, endDate, cancelledAt };
    expect(followParent(child, ended)).toMatchObject({ status: 'cancelled', endDate, cancelAt: endDate, cancelledAt });
    const late = { ...child, startDate: '2026-02-20T12:00:00.000Z' };
    expect(followParent(late, ended).endDate).toBe(late.startDate);
  });

  test('is told of like its parent', () => {
    expect(followEvents('active', 'active')).toEqual([]);
    expect(followEvents('active', 'paused')).toEqual(['subscription.updated', 'subscription.paused']);
    expect(followEvents('paused', 'active')).toEqual(['subscription.updated', 'subscription.resumed']);
    expect(followEvents('trialing', 'active')).toEqual(['subscription.activated']);
    expect(followEvents('draft', 'trialing')).toEqual(['subscription.activated']);
    expect(followEvents('draft', 'incomplete')).toEqual([]);
    expect(followEvents('incomplete', 'active')).toEqual(['subscription.activated']);
    expect(followEvents('paused', 'cancelled')).toEqual(['subscription.updated', 'subscription.cancelled']);
  });
});
