import { describe, expect, it } from 'vitest';
import { checkDuration, isCumulative } from '../../../../billing/commitment/commitment-duration.ts';
import type { ChargeItem, ChargePlanInput } from '../../../../billing/line/charge.ts';
import { commitmentKey } from '../../../../billing/line/charge-commitment.ts';
import type { ItemCommitment } from '../../../../billing/line/charge-terms.ts';
import { chargedEvery } from '../../../../billing/line/commitment-period.ts';
import type { BillingPeriod } from '../../../../billing/time/calendar.ts';
import { at, brief, invoice, linesOf, monthly, period, quarterly, usageItem } from '../line/charge-fixture.ts';
import { refusalOf } from '../refused.ts';

const ten: ItemCommitment = {
  type: 'amount',
  value: '10',
  overageFactor: '2',
  trueUp: true,
  duration: 'QUARTERLY',
  windowed: false,
  timeBuckets: [],
};

const annual: ChargePlanInput['subscription'] = { ...monthly, billingPeriod: 'ANNUAL' };

/** A monthly item of usage at 1 each, unless told otherwise. */
const seats = (commitment: Partial<ItemCommitment>, members: Partial<ChargeItem> = {}) =>
  usageItem('u', { commitment: { ...ten, ...commitment }, ...members });

/** Amounts of the lines, the usage of each month given in order. */
function amountsOf(input: ChargePlanInput, months: readonly string[], prior: Record<string, string> = {}): string[] {
  const lines = linesOf(input, ({ from }) => months[Number(from.slice(5, 7)) - 1] ?? '0', prior);
  return lines.map(({ amount }) => amount);
}

const yearOf = (item: ChargeItem, members: Partial<ChargePlanInput> = {}) =>
  invoice([item], { subscription: annual, elapsed: period('2026-01-01', '2027-01-01'), next: null, ...members });

describe('a line’s commitment that lasts several of its charge periods (subscriptions-and-invoicing §2.7.3, §2.7.2)', () => {
  it('goes on from window to window of one invoice, is due with the last of them, and begins anew after it', () => {
    const months = ['4', '4', '4', '0', '3', '0', '12', '1', '0', '10', '0', '0'];
    expect(amountsOf(yearOf(seats({})), months)).toEqual([
      // 4 and 4 within ten; of the third 4 two are above; nothing is missing.
      ...['4.00', '4.00', '6.00'],
      // Three of ten: seven are due with the quarter's end.
      ...['0.00', '3.00', '7.00'],
      // Ten and twice two, then all above.
      ...['14.00', '2.00', '0.00'],
      ...['10.00', '0.00', '0.00'],
    ]);
  });

  it('adds up to the same where the windows are folded into one line', () => {
    const folded = { ...annual, lineItemGrouping: 'per_billing_period' as const };
    const [line] = linesOf(yearOf(seats({}), { subscription: folded }), ({ from }) =>
      from < at('2026-04-01') ? '4' : '0',
    );
    expect(line).toMatchObject({
      amount: '44.00',
      commitmentInfo: {
        duration: 'QUARTERLY',
        computed_commitment_utilized_amount: '10.00',
        computed_overage_amount: '4.00',
        computed_true_up_amount: '30.00',
      },
    });
  });

  it('is held against each window alone when it lasts one', () => {
    expect(amountsOf(yearOf(seats({ duration: 'MONTHLY', trueUp: false })), ['4', '12'])).toEqual([
      ...['4.00', '14.00'],
      ...Array.from({ length: 10 }, () => '0.00'),
    ]);
  });

  it('goes on from invoice to invoice, and is due once', () => {
    const item = seats({ duration: 'ANNUAL' });
    const at0 = { [commitmentKey('u', at('2026-01-01'))]: '7' };
    const quarter = (start: string, end: string) =>
      invoice([item], { subscription: quarterly, elapsed: period(start, end), next: null });
    expect(amountsOf(quarter('2026-04-01', '2026-07-01'), ['', '', '', '2', '2', '1'], at0)).toEqual([
      ...['2.00', '3.00', '2.00'],
    ]);
    expect(amountsOf(quarter('2026-10-01', '2027-01-01'), [], at0)).toEqual(['0.00', '0.00', '3.00']);
  });

  it('takes a window whole to the commitment period in which it begins', () => {
    // Calendar months of a subscription from the 15th: quarters of the commitment end on the 15th of April.
    const calendar = { ...monthly, billingCycle: 'calendar' as const, startDate: at('2026-01-15') };
    const april = invoice([seats({}, { startDate: at('2026-01-15') })], {
      subscription: calendar,
      elapsed: period('2026-04-01', '2026-05-01'),
      next: null,
    });
    const key = commitmentKey('u', at('2026-01-15'));
    expect(amountsOf(april, ['', '', '', '1'], { [key]: '6' })).toEqual(['4.00']);
  });

  it('begins where a trial ends', () => {
    const trial = { ...annual, startDate: at('2025-12-18'), trialEnd: at('2026-01-01') };
    expect(amountsOf(yearOf(seats({}), { subscription: trial }), ['1', '1', '1']).slice(0, 3)).toEqual([
      ...['1.00', '1.00', '8.00'],
    ]);
  });

  it('counts what an intermediate invoice billed of a window once', () => {
    const item = seats({ duration: 'QUARTERLY' });
    const cut = { start: at('2026-02-01'), end: at('2026-02-11') };
    const billed = { subscriptionLineItemId: 'u', ...cut, quantity: '6', amount: '8.00', base: '6' };
    const rest = invoice([item], {
      elapsed: period('2026-02-11', '2026-03-01', '2026-02-01', '2026-03-01'),
      next: null,
      intermediate: [{ ...cut, parts: [billed] }],
    });
    // Six were used in January: four of ten were left, of which February's first six took all; its eight are 4 + 4 × 2.
    const [line] = linesOf(rest, () => '8', { [commitmentKey('u', at('2026-01-01'))]: '6' });
    expect(brief([line!])).toEqual([['u', '2026-02-11', '2026-03-01', '2', '4.00']]);
    expect(line!.derivation.parts[0]!.commitment).toMatchObject({ prior: '6', base: '2', since: at('2026-01-01') });
  });
});

describe('the duration of a line’s commitment (§1.2, §1.9)', () => {
  const every = (billingPeriod: BillingPeriod | 'ONETIME', billingPeriodCount = 1) => ({
    billingPeriod,
    billingPeriodCount,
  });

  it.each([
    ['MONTHLY', 'ANNUAL', 'QUARTERLY', true],
    ['MONTHLY', 'ANNUAL', 'MONTHLY', false],
    ['MONTHLY', 'QUARTERLY', 'ANNUAL', true],
    ['QUARTERLY', 'MONTHLY', 'QUARTERLY', false],
    ['QUARTERLY', 'MONTHLY', 'ANNUAL', true],
    // Days inside months are billed once a month.
    ['DAILY', 'MONTHLY', 'MONTHLY', false],
    ['DAILY', 'MONTHLY', 'QUARTERLY', true],
  ] as const)('of a %s item of a %s subscription may be %s', (item, subscription, duration, isLonger) => {
    const charged = chargedEvery(every(item), every(subscription));
    checkDuration(charged, duration, 'commitment_duration');
    expect(isCumulative(charged, duration)).toBe(isLonger);
  });

  it.each([
    ['QUARTERLY', 'MONTHLY', 'MONTHLY'],
    ['MONTHLY', 'ANNUAL', 'WEEKLY'],
    ['DAILY', 'MONTHLY', 'DAILY'],
  ] as const)('of a %s item of a %s subscription cannot be %s', (item, subscription, duration) => {
    const refusal = refusalOf(() =>
      checkDuration(chargedEvery(every(item), every(subscription)), duration, 'commitment_duration'),
    );
    expect(refusal).toMatchObject({ code: 'validation_error' });
  });
});
