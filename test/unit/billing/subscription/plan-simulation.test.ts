import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byGain,
  comparison,
  endedPeriods,
  type SimulatedTimeline,
} from '../../../../billing/subscription/plan-simulation.ts';
import { closePeriod, endTrial, openSubscription } from '../../../../billing/subscription/subscription.ts';
import { billingAnchor } from '../../../../billing/time/calendar.ts';
import { periods as billingPeriods, instants, zones } from '../arbitraries.ts';
import { at } from '../line/charge-fixture.ts';

const monthly: SimulatedTimeline = {
  status: 'active',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: at('2026-01-31'),
  timezone: 'UTC',
  startDate: at('2026-01-31'),
  endDate: null,
  currentPeriodStart: at('2026-05-31'),
  currentPeriodEnd: at('2026-06-30'),
  trialStart: null,
  trialEnd: null,
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
  prorationBehavior: 'none',
};
const ever = { start: at('2000-01-01'), end: at('2100-01-01') };
const days = (list: { start: string; end: string }[]) =>
  list.map(({ start, end }) => `${start.slice(0, 10)} ${end.slice(0, 10)}`);

describe('the billing periods a simulation rates', () => {
  it('ended after the start of the window and until its end', () => {
    const window = { start: at('2026-02-28'), end: at('2026-04-30') };
    expect(days(endedPeriods(monthly, window, ever.end))).toEqual(['2026-02-28 2026-03-31', '2026-03-31 2026-04-30']);
  });

  it('are over in the present of the customer', () => {
    expect(days(endedPeriods(monthly, ever, at('2026-03-30')))).toEqual(['2026-01-31 2026-02-28']);
    expect(endedPeriods(monthly, ever, at('2026-02-27'))).toEqual([]);
  });

  it('begin with the first one, which may be the end of a calendar period', () => {
    const calendar: SimulatedTimeline = {
      ...monthly,
      billingCycle: 'calendar',
      startDate: at('2026-01-20'),
      billingAnchor: at('2026-02-01'),
      currentPeriodStart: at('2026-03-01'),
      currentPeriodEnd: at('2026-04-01'),
      prorationBehavior: 'create_prorations',
    };
    const periods = endedPeriods(calendar, ever, ever.end);
    expect(days(periods)).toEqual(['2026-01-20 2026-02-01', '2026-02-01 2026-03-01', '2026-03-01 2026-04-01']);
    expect(periods[0]!.advance.full).toEqual({ start: at('2026-01-01'), end: at('2026-02-01') });
    expect(periods[0]!.elapsed.full).toEqual({ start: at('2026-01-20'), end: at('2026-02-01') });
  });

  it('end where the subscription ended, at a boundary or inside a period', () => {
    const ended = { ...monthly, endDate: at('2026-06-10') };
    const last = endedPeriods(ended, ever, ever.end).at(-1)!;
    expect(days([last])).toEqual(['2026-05-31 2026-06-10']);
    expect(last.elapsed.full.end).toBe(at('2026-06-30'));
    const earlier = { ...monthly, endDate: at('2026-04-10') };
    expect(days(endedPeriods(earlier, ever, ever.end)).at(-1)).toBe('2026-03-31 2026-04-10');
  });

  it('leave the trial out', () => {
    const tried = { ...monthly, startDate: at('2026-01-17'), trialStart: at('2026-01-17'), trialEnd: at('2026-01-31') };
    expect(days(endedPeriods(tried, ever, ever.end))[0]).toBe('2026-01-31 2026-02-28');
    const trying = { ...tried, status: 'trialing' as const };
    const inTrial = { ...trying, currentPeriodStart: trying.startDate, currentPeriodEnd: at('2026-01-31') };
    expect(endedPeriods(inTrial, ever, ever.end)).toEqual([]);
  });

  it('are those the subscription lived through, whatever its anchor, zone, cycle and trial', () => {
    const lives = fc.record({
      startDate: instants,
      billingPeriod: billingPeriods,
      billingCycle: fc.constantFrom('anniversary' as const, 'calendar' as const),
      timezone: zones,
      trialDays: fc.constantFrom(0, 0, 14),
      closes: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(lives, ({ closes, trialDays, ...life }) => {
        const terms = { ...life, billingPeriodCount: 1, endDate: null, trialDays };
        const opened = openSubscription({ ...terms, billingAnchor: billingAnchor(terms) }, 'active');
        let state = trialDays > 0 ? endTrial(opened, 'active').state : opened;
        const lived: string[] = [];
        for (let close = 0; close < closes; close += 1) {
          const { state: next, elapsed } = closePeriod(state);
          lived.push(`${elapsed.start} ${elapsed.end}`);
          state = next;
        }
        const timeline = { ...state, prorationBehavior: 'none' as const };
        const found = endedPeriods(timeline, ever, state.currentPeriodStart);
        expect(found.map(({ start, end }) => `${start} ${end}`)).toEqual(lived);
      }),
      { numRuns: 200 },
    );
  });
});

describe('who wins', () => {
  it('pays less', () => {
    expect(comparison(['10.00', '5.50'], ['12.00'], 'usd')).toEqual({
      current: '15.5',
      simulated: '12',
      difference: '-3.5',
      outcome: 'winner',
    });
    expect(comparison([], ['1'], 'jpy').outcome).toBe('loser');
    expect(comparison(['3.10'], ['1.05', '2.05'], 'usd')).toMatchObject({ difference: '0', outcome: 'unchanged' });
  });

  it('comes first, by currency and exactly', () => {
    const row = (currency: string, difference: string, customer_id: string) => ({ currency, difference, customer_id });
    const rows = [
      row('usd', '1', 'a'),
      row('usd', '-10', 'c'),
      row('eur', '5', 'd'),
      row('usd', '-9', 'e'),
      row('usd', '1', 'b'),
    ];
    expect(rows.sort(byGain).map((each) => each.customer_id)).toEqual(['d', 'c', 'e', 'a', 'b']);
  });
});
