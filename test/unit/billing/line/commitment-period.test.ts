import { describe, expect, it } from 'vitest';
import { type CommittedStretch, commitmentStanding } from '../../../../billing/line/commitment-period.ts';

const at = (day: string): string => `${day}T00:00:00.000Z`;
const monthly = {
  billingPeriod: 'MONTHLY' as const,
  billingPeriodCount: 1,
  billingCycle: 'anniversary' as const,
  billingAnchor: at('2026-01-01'),
  startDate: at('2026-01-01'),
  timezone: 'UTC',
  trialEnd: null,
};
const march = { start: at('2026-03-01'), end: at('2026-04-01') };
const stretch = (members: Partial<CommittedStretch>): CommittedStretch => ({
  reason: 'cycle',
  elapsed: { ...march, full: march },
  pauses: false,
  paused: [],
  ...members,
});

describe('a commitment of one period', () => {
  it('is due at its end, and as a whole at a pause', () => {
    expect(commitmentStanding(monthly, null, stretch({}))).toEqual({
      period: { ...march, cumulative: false },
      last: true,
    });
    const elapsed = { start: march.start, end: at('2026-03-11'), full: march };
    expect(commitmentStanding(monthly, null, stretch({ reason: 'closing', elapsed, pauses: true }))?.last).toBe(true);
    expect(commitmentStanding(monthly, null, stretch({ reason: 'closing', elapsed }))?.last).toBe(false);
  });

  it('is not compared again after a resume in the period of the pause', () => {
    const elapsed = { start: at('2026-03-21'), end: march.end, full: march };
    const paused = (start: string) => [{ start: at(start), end: elapsed.start }];
    expect(commitmentStanding(monthly, 'MONTHLY', stretch({ elapsed, paused: paused('2026-03-11') }))).toBeNull();
    expect(commitmentStanding(monthly, 'MONTHLY', stretch({ elapsed, paused: paused('2026-02-11') }))?.last).toBe(true);
  });
});

describe('a commitment of several periods', () => {
  const quarter = { start: at('2026-01-01'), end: at('2026-04-01'), cumulative: true };

  it('goes on counting after a resume, and is due with its last period', () => {
    const elapsed = { start: at('2026-03-21'), end: march.end, full: march };
    const paused = [{ start: at('2026-03-11'), end: elapsed.start }];
    expect(commitmentStanding(monthly, 'QUARTERLY', stretch({ elapsed, paused }))).toEqual({
      period: quarter,
      last: true,
    });
  });

  it('is not due on the way, whatever closes', () => {
    const elapsed = { start: march.start, end: at('2026-03-11'), full: march };
    expect(commitmentStanding(monthly, 'QUARTERLY', stretch({ reason: 'closing', elapsed, pauses: true }))).toEqual({
      period: quarter,
      last: false,
    });
  });
});
