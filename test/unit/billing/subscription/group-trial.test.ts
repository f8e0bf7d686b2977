import { describe, expect, it } from 'vitest';
import { endTrialInGroup, type SubscriptionState } from '../../../../billing/subscription/subscription.ts';
import { subscriptionAgenda } from '../../../../billing/subscription/subscription-agenda.ts';
import { wholePeriodAt } from '../../../../billing/time/whole-period.ts';

const at = (date: string) => `${date}T00:00:00.000Z`;

const child: SubscriptionState = {
  status: 'trialing',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: at('2026-01-31'),
  timezone: 'UTC',
  startDate: at('2026-01-31'),
  endDate: null,
  currentPeriodStart: at('2026-01-31'),
  currentPeriodEnd: at('2026-02-10'),
  trialStart: at('2026-01-31'),
  trialEnd: at('2026-02-10'),
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
};
const parent = { status: 'active', billingAnchor: at('2026-01-31'), currentPeriodEnd: at('2026-02-28') } as const;

describe('the trial of a child that is invoiced with a parent (subscriptions-and-invoicing §2.13)', () => {
  it('ends into the period of the parent, of which it pays a share, and keeps the anchor of that one', () => {
    const { state, elapsed, next } = endTrialInGroup(child, parent);
    expect([elapsed.end, next]).toEqual([at('2026-02-10'), { start: at('2026-02-10'), end: at('2026-02-28') }]);
    expect(state).toMatchObject({ status: 'active', billingAnchor: at('2026-01-31'), trialEnd: at('2026-02-10') });
    expect(wholePeriodAt(state, at('2026-02-10'))).toEqual({ start: at('2026-01-31'), end: at('2026-02-28') });
    expect(wholePeriodAt(state, at('2026-02-28'))).toEqual({ start: at('2026-02-28'), end: at('2026-03-31') });
  });

  it('finds the periods of a parent that had a trial itself, and in periods of several months anchors where it ends', () => {
    const billingAnchor = at('2026-02-05');
    const monthly = { ...parent, billingAnchor, currentPeriodEnd: at('2026-03-05') };
    const { state } = endTrialInGroup(child, monthly);
    expect(wholePeriodAt(state, at('2026-02-10'))).toEqual({ start: billingAnchor, end: at('2026-03-05') });
    const quarterly = { ...parent, currentPeriodEnd: at('2026-05-10') };
    const { state: own } = endTrialInGroup({ ...child, billingPeriod: 'QUARTERLY' }, quarterly);
    expect(wholePeriodAt(own, at('2026-05-10'))).toEqual({ start: at('2026-05-10'), end: at('2026-08-10') });
  });

  it('ends with a cancellation that is due by then, and a later one cuts the period', () => {
    expect(endTrialInGroup({ ...child, cancelAt: at('2026-02-10') }, parent)).toMatchObject({
      next: null,
      state: { status: 'cancelled' },
    });
    expect(endTrialInGroup({ ...child, cancelAt: at('2026-02-20') }, parent).next!.end).toBe(at('2026-02-20'));
  });

  it('is on its own agenda, as no other boundary of a child is', () => {
    const agendaOf = (state: SubscriptionState, subscriptionType: 'grouped_invoicing' | 'inherited') =>
      subscriptionAgenda({
        state: { ...state, subscriptionType },
        invoices: [],
        renewalNoticedFor: state.currentPeriodEnd,
        finalizationDelayMs: 0,
        openingPaidAt: null,
      });
    expect(agendaOf(child, 'grouped_invoicing')).toEqual([{ at: at('2026-02-10'), kind: 'endTrial', ref: '' }]);
    expect(agendaOf(child, 'inherited')).toEqual([]);
    expect(agendaOf({ ...child, status: 'active' }, 'grouped_invoicing')).toEqual([]);
  });
});
