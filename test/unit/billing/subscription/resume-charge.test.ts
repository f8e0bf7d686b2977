import { expect, test } from 'vitest';
import type { ResumeTerms } from '../../../../billing/line/resume-charge.ts';
import { proratedTimes } from '../../../../billing/subscription/prorated-time.ts';
import { at, brief, invoice, item, linesOf, period } from '../line/charge-fixture.ts';

/** A resume on `now` from a pause that began on `pauseStart`, in the month of March. */
function resume(now: string, pauseStart: string, credited: ResumeTerms['credited'] = []) {
  const terms: ResumeTerms = {
    behavior: 'create_prorations',
    now: at(now),
    pauseStart: at(pauseStart),
    wholeStart: at('2026-03-01'),
    credited,
  };
  const next = period(now, '2026-04-01', '2026-03-01', '2026-04-01');
  return { reason: 'resume' as const, elapsed: null, next, resume: terms };
}

test('a longer period that was billed before the pause is not charged again when it began while paused', () => {
  const quarterly = item('quarterly', { billingPeriod: 'QUARTERLY', startDate: at('2025-12-10') });
  const billed = [{ subscriptionLineItemId: 'quarterly', periodStart: at('2026-03-10'), periodEnd: at('2026-06-10') }];
  expect(linesOf(invoice([quarterly], { ...resume('2026-03-20', '2026-03-05'), billed }))).toEqual([]);
  const credited = [{ lineItemId: 'quarterly', start: at('2026-03-05'), end: at('2026-06-10') }];
  const lines = linesOf(invoice([quarterly], { ...resume('2026-03-20', '2026-03-05', credited), billed }));
  expect(brief(lines)).toEqual([['quarterly', '2026-03-20', '2026-06-10', '1', '26.74']]);
});

test('after a pause the windows of a shorter cadence are those of the whole period', () => {
  const quarterly = item('quarterly', { billingPeriod: 'QUARTERLY', price: { ...item('x').price, amount: '90' } });
  const subscription = { ...invoice([]).subscription, billingPeriod: 'ANNUAL' as const };
  const next = period('2026-02-10', '2027-01-01', '2026-01-01', '2027-01-01');
  const lines = linesOf(invoice([quarterly], { reason: 'opening', subscription, elapsed: null, next }));
  expect(brief(lines)).toEqual([
    ['quarterly', '2026-02-10', '2026-04-01', '1', '50.00'],
    ['quarterly', '2026-04-01', '2026-07-01', '1', '90.00'],
    ['quarterly', '2026-07-01', '2026-10-01', '1', '90.00'],
    ['quarterly', '2026-10-01', '2027-01-01', '1', '90.00'],
  ]);
});

test('what is given back of several windows is known by window, a capped amount in proportion', () => {
  const window = (month: number, amount: string) => ({
    periodStart: at(`2026-0${month}-01`),
    periodEnd: at(`2026-0${month + 1}-01`),
    amount,
  });
  const parts = [window(1, '10.00'), window(2, '10.00'), window(3, '10.00')];
  const amounts = (amount: string) => proratedTimes(parts, amount, 'usd').map((time) => time.amount);
  expect(amounts('30.00')).toEqual(['10.00', '10.00', '10.00']);
  expect(amounts('10.00')).toEqual(['3.33', '3.34', '3.33']);
  expect(amounts('0')).toEqual(['0.00', '0.00', '0.00']);
  expect(proratedTimes([window(1, '0.00')], '0', 'usd')).toEqual([
    { start: at('2026-01-01'), end: at('2026-02-01'), amount: '0.00', uncapped: '0.00' },
  ]);
});
