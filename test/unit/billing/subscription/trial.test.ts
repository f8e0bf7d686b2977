import { describe, expect, it } from 'vitest';
import { type AskedTrial, askedTrialDays } from '../../../../billing/subscription/trial.ts';
import { refusalOf } from '../refused.ts';

const berlin = { startDate: '2026-02-01T09:00:00.000Z', endDate: null, timezone: 'Europe/Berlin' };
const asked = (trial: Partial<AskedTrial>): AskedTrial => ({ days: null, start: null, end: null, ...trial });
const february = (day: number, hour = 9) =>
  `2026-02-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00.000Z`;

/** spec: subscriptions-and-invoicing §1.2 trial_period_days, decision 47 */
describe('the days of a trial', () => {
  it.each<[string, Partial<AskedTrial>, number]>([
    ['are the plan’s where nothing is sent', {}, 14],
    ['are those sent', { days: 3 }, 3],
    ['are those between the ends', { start: february(1), end: february(11) }, 10],
    ['are counted by local dates', { start: february(1, 0), end: february(10, 23) }, 10],
    ['complete a start by the plan', { start: february(1) }, 14],
    ['complete an end by the plan', { end: february(15) }, 14],
    ['complete an end by the days sent', { end: february(4), days: 3 }, 3],
    ['may be sent with both ends alike', { start: february(1), end: february(4), days: 3 }, 3],
  ])('%s', (_what, trial, days) => {
    expect(askedTrialDays(asked(trial), berlin, () => 14)).toBe(days);
  });

  it.each<[string, Partial<AskedTrial>, number, string]>([
    ['an end before the start', { start: february(1), end: '2026-01-20T09:00:00.000Z' }, 14, 'trial_end'],
    ['an end on the day of the start', { start: february(1, 1), end: february(1, 20) }, 14, 'trial_end'],
    ['a trial of eleven years', { start: february(1), end: '2037-02-01T09:00:00.000Z' }, 14, 'trial_end'],
    ['a start before the subscription’s', { start: '2026-01-31T09:00:00.000Z', end: february(8) }, 14, 'trial_start'],
    ['a start after the subscription’s', { start: february(2), end: february(8) }, 14, 'trial_start'],
    ['a start alone where nothing says how long', { start: february(1) }, 0, 'trial_end'],
    ['an end alone where nothing says how long', { end: february(8) }, 0, 'trial_start'],
    ['an end alone that is not the plan’s', { end: february(8) }, 14, 'trial_end'],
    ['days that are others', { start: february(1), end: february(8), days: 8 }, 14, 'trial_period_days'],
    ['days that switch it off', { start: february(1), end: february(8), days: 0 }, 14, 'trial_period_days'],
  ])('are refused with %s', (_what, trial, planDays, field) => {
    const refusal = refusalOf(() => askedTrialDays(asked(trial), berlin, () => planDays));
    expect(refusal).toMatchObject({ code: 'validation_error', details: { fields: { [field]: expect.any(String) } } });
  });

  it('are refused where the trial would outlive the subscription', () => {
    const ends = { ...berlin, endDate: february(5) };
    const trial = asked({ start: february(1), end: february(8) });
    expect(refusalOf(() => askedTrialDays(trial, ends, () => 0))?.message).toContain(ends.endDate);
  });
});
