import { describe, expect, it } from 'vitest';
import { attachmentTerm, detachmentEnd, refuseUnattachable } from '../../../../billing/subscription/addon.ts';
import type { SubscriptionState } from '../../../../billing/subscription/subscription.ts';
import { refusalOf } from '../refused.ts';

const state: SubscriptionState = {
  status: 'active',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: '2026-01-31T00:00:00.000Z',
  timezone: 'UTC',
  startDate: '2026-01-31T00:00:00.000Z',
  endDate: null,
  currentPeriodStart: '2026-01-31T00:00:00.000Z',
  currentPeriodEnd: '2026-02-28T00:00:00.000Z',
  trialStart: null,
  trialEnd: null,
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
};
const day = (date: string) => `${date}T00:00:00.000Z`;

describe('attachmentTerm', () => {
  it('lasts until it is detached, or for the period that holds its start', () => {
    expect(attachmentTerm(state, day('2026-02-10'), 'recurring')).toEqual({ start: day('2026-02-10'), end: null });
    expect(attachmentTerm(state, day('2026-02-10'), 'onetime').end).toBe(day('2026-02-28'));
    expect(attachmentTerm(state, day('2026-02-28'), 'onetime').end).toBe(day('2026-03-31'));
    expect(attachmentTerm(state, day('2026-04-15'), 'onetime').end).toBe(day('2026-04-30'));
  });

  it('ends with the subscription at the latest', () => {
    const ending = { ...state, endDate: day('2026-02-20') };
    expect(attachmentTerm(ending, day('2026-02-10'), 'onetime').end).toBe(day('2026-02-20'));
    expect(refusalOf(() => attachmentTerm(ending, day('2026-02-20'), 'recurring'))?.message).toContain('start_date');
    const cancelling = { ...state, cancelAt: day('2026-02-28'), cancelAtPeriodEnd: true };
    expect(refusalOf(() => attachmentTerm(cancelling, day('2026-03-01'), 'recurring'))?.message).toContain(
      'start_date',
    );
  });

  it('refuses a start in a period that is billed', () => {
    expect(attachmentTerm(state, day('2026-01-31'), 'recurring').start).toBe(day('2026-01-31'));
    expect(refusalOf(() => attachmentTerm(state, day('2026-01-30'), 'recurring'))?.message).toContain('start_date');
  });
});

it.each(['trialing', 'incomplete', 'paused', 'cancelled'] as const)('a %s subscription takes no add-on', (status) => {
  expect(refusalOf(() => refuseUnattachable({ status }))?.message).toContain(status);
});

describe('detachmentEnd', () => {
  const now = day('2026-02-10');
  const running = { start: day('2026-02-01'), end: null };

  it('is the end of the period, or a date up to it', () => {
    expect(detachmentEnd(state, running, null, now)).toBe(day('2026-02-28'));
    expect(detachmentEnd(state, running, now, now)).toBe(now);
    expect(detachmentEnd(state, { ...running, end: day('2026-02-28') }, day('2026-02-15'), now)).toBe(
      day('2026-02-15'),
    );
  });

  it('is not before an attachment that is still to begin', () => {
    expect(detachmentEnd(state, { start: day('2026-03-05'), end: null }, null, now)).toBe(day('2026-03-05'));
  });

  it.each([
    ['before now', running, day('2026-02-09'), 'effective_date'],
    ['after the period', running, day('2026-03-01'), 'effective_date'],
    ['after its own end', { ...running, end: day('2026-02-20') }, day('2026-02-21'), 'effective_date'],
    ['of one that has ended', { ...running, end: day('2026-02-10') }, null, 'addon_association_id'],
  ])('refuses a date %s', (_case, term, date, word) => {
    expect(refusalOf(() => detachmentEnd(state, term, date, now))?.message).toContain(word);
  });

  it('refuses while the subscription is paused', () => {
    expect(refusalOf(() => detachmentEnd({ ...state, status: 'paused' }, running, null, now))?.message).toContain(
      'paused',
    );
  });
});
