import { describe, expect, it } from 'vitest';
import { refusalIn } from '../../../../billing/refusal.ts';
import { closePeriod, type SubscriptionState } from '../../../../billing/subscription/subscription.ts';
import { type CancellationType, cancelSubscription } from '../../../../billing/subscription/subscription-cancel.ts';

const june: SubscriptionState = {
  status: 'active',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: '2026-06-01T00:00:00.000Z',
  timezone: 'UTC',
  startDate: '2026-06-01T00:00:00.000Z',
  endDate: null,
  currentPeriodStart: '2026-06-01T00:00:00.000Z',
  currentPeriodEnd: '2026-07-01T00:00:00.000Z',
  trialStart: null,
  trialEnd: null,
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
};

const may = '2026-05-15T10:00:00.000Z';

function cancel(type: CancellationType, cancelAt: string | null, now: string, state: Partial<SubscriptionState> = {}) {
  return cancelSubscription({ ...june, ...state }, { cancellationType: type, cancelAt }, now, false);
}

describe('a subscription that has not begun', () => {
  it.each([
    ['immediate', null],
    ['immediate', may],
    ['scheduled_date', '2026-05-20T00:00:00.000Z'],
    ['scheduled_date', june.startDate],
  ] as const)('cancelled %s for %s ends at its start, without a period', (type, cancelAt) => {
    const { state, effectiveDate, clamped } = cancel(type, cancelAt, may);
    expect({ effectiveDate, clamped }).toEqual({ effectiveDate: june.startDate, clamped: cancelAt !== june.startDate });
    expect(state).toMatchObject({
      cancelAt: june.startDate,
      endDate: june.startDate,
      currentPeriodStart: june.startDate,
      currentPeriodEnd: june.startDate,
    });
  });

  it('keeps its status until then when a date was asked for, and has no period after it', () => {
    const { state } = cancel('scheduled_date', '2026-05-20T00:00:00.000Z', may);
    expect(state.status).toBe('active');
    const closed = closePeriod(state);
    expect(closed).toMatchObject({ elapsed: { start: june.startDate, end: june.startDate }, next: null });
    expect(closed.state).toMatchObject({ status: 'cancelled', endDate: june.startDate });
  });
});

describe('an end at a date', () => {
  const now = '2026-06-15T10:00:00.000Z';

  it.each([
    ['inside the period cuts it', '2026-06-20T00:00:00.000Z', '2026-06-20T00:00:00.000Z'],
    ['behind the period leaves it whole', '2026-08-10T00:00:00.000Z', '2026-07-01T00:00:00.000Z'],
  ])('%s', (_what, at, periodEnd) => {
    const { state, clamped } = cancel('scheduled_date', at, now);
    expect(clamped).toBe(false);
    expect(state).toMatchObject({ status: 'active', cancelAt: at, endDate: at, currentPeriodEnd: periodEnd });
  });

  it('after the end there is already changes nothing', () => {
    const endDate = '2026-06-25T00:00:00.000Z';
    const { state } = cancel('scheduled_date', '2026-06-28T00:00:00.000Z', now, { endDate, currentPeriodEnd: endDate });
    expect(state).toMatchObject({ cancelAt: endDate, endDate, currentPeriodEnd: endDate });
  });

  it.each([
    ['none', null],
    ['now', now],
    ['the past', '2026-06-14T00:00:00.000Z'],
  ])('that is %s is refused', (_what, at) => {
    expect(() => cancel('scheduled_date', at, now)).toThrow('cancel_at in the future');
  });
});

it('an immediate end in the future is refused, naming scheduled_date', () => {
  const now = '2026-06-15T10:00:00.000Z';
  expect(() => cancel('immediate', '2026-06-15T10:00:00.001Z', now)).toThrow('scheduled_date');
  expect(cancel('immediate', now, now).effectiveDate).toBe(now);
});

it('with an end scheduled only an immediate one is accepted', () => {
  const asked = (cancellationType: CancellationType) => {
    try {
      cancelSubscription(june, { cancellationType, cancelAt: null }, '2026-06-15T10:00:00.000Z', true);
    } catch (thrown) {
      return refusalIn(thrown)?.code;
    }
    return 'accepted';
  };
  expect((['immediate', 'scheduled_date', 'end_of_period'] as const).map(asked)).toEqual([
    'accepted',
    'validation_error',
    'validation_error',
  ]);
});
