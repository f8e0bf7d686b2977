import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { chargesAtResume, type ResumeTerms } from '../../../../billing/line/resume-charge.ts';
import { refusalIn } from '../../../../billing/refusal.ts';
import { pauseSubscription, resumeSubscription } from '../../../../billing/subscription/pause.ts';
import {
  closePeriod,
  type SubscriptionState,
  type SubscriptionStatus,
} from '../../../../billing/subscription/subscription.ts';
import { cancelSubscription, keepSubscription } from '../../../../billing/subscription/subscription-cancel.ts';
import { activateDraft, shiftedPart } from '../../../../billing/subscription/subscription-draft.ts';
import {
  mayHappen,
  requireTransition,
  type SubscriptionTrigger,
  statusAfter,
  subscriptionTransitions,
} from '../../../../billing/subscription/subscription-lifecycle.ts';
import { wordsOfComing, wordsOfPast } from '../../../../billing/subscription/subscription-timeline.ts';
import { wholePeriodAt } from '../../../../billing/time/whole-period.ts';

const statuses: SubscriptionStatus[] = ['draft', 'trialing', 'incomplete', 'active', 'paused', 'cancelled'];
const triggers = Object.keys(subscriptionTransitions) as SubscriptionTrigger[];

const april: SubscriptionState = {
  status: 'active',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: '2026-04-01T00:00:00.000Z',
  timezone: 'UTC',
  startDate: '2026-04-01T00:00:00.000Z',
  endDate: null,
  currentPeriodStart: '2026-04-01T00:00:00.000Z',
  currentPeriodEnd: '2026-05-01T00:00:00.000Z',
  trialStart: null,
  trialEnd: null,
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
};

const day = (date: number) => `2026-04-${String(date).padStart(2, '0')}T00:00:00.000Z`;

function refused(call: () => unknown): { code: string; message: string } {
  try {
    call();
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal) return { code: refusal.code, message: refusal.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the table of transitions', () => {
  it.each(triggers.flatMap((trigger) => statuses.map((status) => [trigger, status] as const)))(
    '%s of a %s subscription leads where the table says, or is refused naming the status',
    (trigger, status) => {
      if (mayHappen(trigger, status)) {
        requireTransition(trigger, status);
        const leads: readonly SubscriptionStatus[] =
          (subscriptionTransitions[trigger].moves as Partial<Record<SubscriptionStatus, SubscriptionStatus[]>>)[
            status
          ] ?? [];
        for (const to of leads) expect(statusAfter(trigger, status, to)).toBe(to);
      } else {
        const { code, message } = refused(() => requireTransition(trigger, status));
        expect(code).toBe('validation_error');
        expect(message).toContain(status);
      }
    },
  );

  it('lets nothing happen to a cancelled subscription, and makes no other move than its own', () => {
    expect(triggers.filter((trigger) => mayHappen(trigger, 'cancelled'))).toEqual([]);
    expect(() => statusAfter('pause', 'active', 'cancelled')).toThrow('leads from active');
  });
});

describe('the whole period', () => {
  it.each([
    ['a month cut by a pause', april, day(11), ['2026-04-01', '2026-05-01']],
    [
      'a quarter cut on the first of its second month',
      { ...april, billingPeriod: 'QUARTERLY' as const },
      '2026-05-01T00:00:00.000Z',
      ['2026-04-01', '2026-07-01'],
    ],
    [
      'ten months cut on a day of the anchor',
      { ...april, billingPeriodCount: 10 },
      '2026-09-01T00:00:00.000Z',
      ['2026-04-01', '2027-02-01'],
    ],
    [
      'the month of the 31st',
      { ...april, billingAnchor: '2026-01-31T00:00:00.000Z', startDate: '2026-01-31T00:00:00.000Z' },
      '2026-03-10T00:00:00.000Z',
      ['2026-02-28', '2026-03-31'],
    ],
    [
      'on the date of a boundary before its hour',
      { ...april, billingAnchor: '2026-04-01T09:30:00.000Z', startDate: '2026-04-01T09:30:00.000Z' },
      '2026-05-01T05:00:00.000Z',
      ['2026-04-01', '2026-05-01'],
    ],
  ])('of %s', (_what, state, instant, dates) => {
    const { start, end } = wholePeriodAt(state, instant);
    expect([start.slice(0, 10), end.slice(0, 10)]).toEqual(dates);
  });

  test('whatever the cadence, it is the period the boundaries walk to', () => {
    const period = fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL');
    const arbitrary = fc.record({
      period,
      count: fc.integer({ min: 1, max: 4 }),
      day: fc.integer({ min: 1, max: 28 }),
      steps: fc.integer({ min: 0, max: 12 }),
      share: fc.double({ min: 0, max: 0.999, noNaN: true }),
    });
    fc.assert(
      fc.property(arbitrary, ({ period, count, day: date, steps, share }) => {
        const start = day(date);
        let state: SubscriptionState = {
          ...april,
          billingPeriod: period as SubscriptionState['billingPeriod'],
          billingPeriodCount: count,
          billingAnchor: start,
          startDate: start,
          currentPeriodStart: start,
        };
        state = { ...state, currentPeriodEnd: wholePeriodAt(state, start).end };
        for (let step = 0; step < steps; step += 1) state = closePeriod(state).state;
        const [from, to] = [Date.parse(state.currentPeriodStart), Date.parse(state.currentPeriodEnd)];
        const within = new Date(from + Math.floor((to - from) * share)).toISOString();
        expect(wholePeriodAt(state, within)).toEqual({ start: state.currentPeriodStart, end: state.currentPeriodEnd });
      }),
      { numRuns: 200 },
    );
  });
});

describe('a pause', () => {
  it('begins the period anew, and a resume again; between them boundaries skip', () => {
    const paused = pauseSubscription(april, day(11), []);
    expect(paused.closing).toEqual({ start: day(1), end: day(11) });
    expect(paused.state).toMatchObject({
      status: 'paused',
      currentPeriodStart: day(11),
      currentPeriodEnd: april.currentPeriodEnd,
    });
    const crossed = closePeriod(paused.state);
    expect(crossed).toMatchObject({ elapsed: { start: day(11) }, state: { status: 'paused' } });
    const resumed = resumeSubscription(crossed.state, '2026-05-03T00:00:00.000Z');
    expect(resumed).toMatchObject({ skipped: { start: '2026-05-01T00:00:00.000Z' }, state: { status: 'active' } });
    expect(resumeSubscription(paused.state, day(11)).skipped).toBeNull();
  });

  it('is refused before the start, and at an instant at which one began or ended', () => {
    expect(refused(() => pauseSubscription(april, '2026-03-31T00:00:00.000Z', [])).code).toBe('validation_error');
    for (const earlier of [
      { pauseStart: day(11), resumedAt: null },
      { pauseStart: day(3), resumedAt: day(11) },
    ]) {
      expect(refused(() => pauseSubscription(april, day(11), [earlier])).code).toBe('validation_error');
    }
  });

  it.each([
    ['nothing given back in this period', {}, false],
    [
      'this period given back',
      { credited: [{ lineItemId: 'seat', start: day(11), end: april.currentPeriodEnd }] },
      true,
    ],
    [
      'another item given back',
      { credited: [{ lineItemId: 'desk', start: day(11), end: april.currentPeriodEnd }] },
      false,
    ],
    ['paused before this period', { pauseStart: '2026-03-11T00:00:00.000Z' }, true],
    ['behavior none', { behavior: 'none' as const }, false],
    [
      'behavior none on the boundary',
      { behavior: 'none' as const, now: day(1), pauseStart: '2026-03-11T00:00:00.000Z' },
      true,
    ],
    [
      'behavior none on the boundary of the pause',
      { behavior: 'none' as const, now: day(1), pauseStart: day(1) },
      false,
    ],
    [
      'behavior none on the boundary of a pause that gave back',
      {
        behavior: 'none' as const,
        now: day(1),
        pauseStart: day(1),
        credited: [{ lineItemId: 'seat', start: day(1), end: april.currentPeriodEnd }],
      },
      true,
    ],
  ])('charges at its resume with %s: %s', (_what, terms: Partial<ResumeTerms>, charged) => {
    const base: ResumeTerms = {
      behavior: 'create_prorations',
      now: day(21),
      pauseStart: day(11),
      wholeStart: day(1),
      credited: [],
    };
    const charge = {
      lineItemId: 'seat',
      itemStart: '2026-01-01T00:00:00.000Z',
      window: { start: day(1), end: april.currentPeriodEnd },
      ownPeriods: false,
    };
    expect(chargesAtResume({ ...base, ...terms }, charge)).toBe(charged);
  });
});

describe('a scheduled end taken back', () => {
  it('gives the period the end it would have had, also after it rolled on', () => {
    const later = { cancellationType: 'scheduled_date', cancelAt: '2026-06-15T00:00:00.000Z' } as const;
    const scheduled = cancelSubscription(april, later, day(2), false).state;
    const rolled = closePeriod(closePeriod(scheduled).state).state;
    expect(rolled.currentPeriodEnd).toBe('2026-06-15T00:00:00.000Z');
    expect(keepSubscription(rolled, { cancelAt: null, endDate: null })).toMatchObject({
      currentPeriodEnd: '2026-07-01T00:00:00.000Z',
      cancelAt: null,
      endDate: null,
    });
    expect(keepSubscription(rolled, { cancelAt: null, endDate: '2026-06-20T00:00:00.000Z' }).currentPeriodEnd).toBe(
      '2026-06-20T00:00:00.000Z',
    );
  });

  it('gives a trial its whole length back', () => {
    const trial: SubscriptionState = {
      ...april,
      status: 'trialing',
      trialStart: day(1),
      trialEnd: day(30),
      currentPeriodEnd: day(30),
    };
    const cut = cancelSubscription(
      trial,
      { cancellationType: 'scheduled_date', cancelAt: day(10) },
      day(2),
      false,
    ).state;
    expect(cut.currentPeriodEnd).toBe(day(10));
    expect(keepSubscription(cut, { cancelAt: null, endDate: null }).currentPeriodEnd).toBe(day(30));
  });
});

describe('a draft', () => {
  it('keeps an anchor of its own, and moves what hangs on it', () => {
    const draft: SubscriptionState = { ...april, status: 'draft', billingAnchor: day(15) };
    expect(activateDraft(draft, day(20), 'active').billingAnchor).toBe(day(15));
    expect(activateDraft({ ...draft, billingAnchor: day(1) }, day(20), 'active').billingAnchor).toBe(day(20));
    expect(shiftedPart({ start: day(3), end: day(5) }, day(1), day(11))).toEqual({ start: day(13), end: day(15) });
    const later = { start: day(20), end: null, notBefore: day(20) };
    expect(shiftedPart(later, day(1), day(11))).toEqual({ start: day(20), end: null });
    expect(shiftedPart(later, day(1), day(25))).toEqual({ start: day(25), end: null });
    expect(shiftedPart({ start: day(1), end: day(9), fixedEnd: true }, day(1), day(5))).toEqual({
      start: day(5),
      end: day(9),
    });
  });
});

test('the timeline has words for what it does not know', () => {
  const step = {
    at: day(1),
    objectType: 'subscription',
    actor: '',
    detail: { plan: 'p', document: 'x' },
    invoice: null,
  };
  expect(wordsOfPast({ ...step, action: 'sung' })).toEqual({
    customer: 'The subscription: sung.',
    operator: 'sung by the system · plan p',
  });
  expect(wordsOfComing({ at: day(1), kind: 'singSong', ends: false, paused: false }).customer).toBe(
    'singSong happens.',
  );
});
