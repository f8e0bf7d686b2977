import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitLine, commitUsage, type SubscriptionCommitment } from '../../../../billing/commitment/commitment.ts';
import { checkDuration } from '../../../../billing/commitment/commitment-duration.ts';
import { commitCharges } from '../../../../billing/line/charge-overage.ts';
import type { ItemCommitment } from '../../../../billing/line/charge-terms.ts';
import { commitmentPeriod } from '../../../../billing/line/commitment-period.ts';
import { decimal, decimalString, sum } from '../../../../billing/money/money.ts';
import { decimals } from '../arbitraries.ts';
import { at, flat, invoice, linesOf, period, quarterly, usageItem } from '../line/charge-fixture.ts';
import { refusalOf } from '../refused.ts';

const hundred: SubscriptionCommitment = {
  amount: '100',
  overageFactor: '1.5',
  trueUp: true,
  prior: '0',
  cumulative: false,
  last: true,
};

/** The lines of usage items under a commitment of their subscription: name, quantity, amount. */
function committed(prices: string[], quantities: string[], commitment: Partial<SubscriptionCommitment> = {}) {
  const items = prices.map((price, index) => usageItem(`u${index}`, { price: flat(price), meterId: `m${index}` }));
  const lines = linesOf(invoice(items), ({ lineItemId }) => quantities[Number(lineItemId.slice(1))]!);
  return commitCharges(lines, {
    commitment: { ...hundred, ...commitment },
    currency: 'usd',
    planName: 'Pro',
    periodStart: at('2026-02-01'),
    periodEnd: at('2026-03-01'),
  });
}
const brief = (lines: ReturnType<typeof committed>) =>
  lines.map(({ displayName, quantity, amount }) => [displayName, quantity, amount]);

describe('the commitment of a subscription (subscriptions-and-invoicing §2.7.1)', () => {
  it('keeps whole units within and puts the rest on an overage line directly after', () => {
    const lines = committed(['0.30', '2'], ['500', '3']);
    expect(brief(lines)).toEqual([
      ['u0', '333', '99.90'],
      ['u0 (Overage)', '167', '75.15'],
      ['u1 (Overage)', '3', '9.00'],
    ]);
    expect(lines[1]!.metadata).toMatchObject({ is_overage: 'true', overage_factor: '1.5' });
  });

  it('makes no line within where not one whole unit fits', () => {
    expect(brief(committed(['150'], ['2']))).toEqual([['u0 (Overage)', '2', '450.00']]);
  });

  it('bills what is missing on one line of the plan, so that usage as shown and true-up add up', () => {
    const lines = committed(['0.005', '1'], ['1', '40']);
    expect(brief(lines).at(-1)).toEqual(['Pro True Up', '1', '59.99']);
    expect(lines.at(-1)).toMatchObject({ priceType: 'FIXED', metadata: { is_commitment_trueup: 'true' } });
  });

  it('has nothing missing once usage reached it exactly, also where rounding its lines loses a cent', () => {
    const lines = committed(['0.004', '0.004', '0.002'], ['1', '1', '1'], { amount: '0.01' });
    expect(brief(lines)).toEqual([
      ['u0', '1', '0.00'],
      ['u1', '1', '0.00'],
      ['u2', '1', '0.00'],
    ]);
  });

  it.each([
    ['without true-up', { trueUp: false }],
    ['before the commitment period is over', { last: false }],
    ['with an amount of 0', { amount: '0' }],
  ])('bills usage as it is %s', (_what, commitment) => {
    expect(brief(committed(['1'], ['40'], commitment))).toEqual([['u0', '40', '40.00']]);
  });

  it('counts what earlier invoices of the commitment period billed', () => {
    expect(brief(committed(['1'], ['40'], { prior: '90' }))).toEqual([
      ['u0', '10', '10.00'],
      ['u0 (Overage)', '30', '45.00'],
    ]);
  });

  it('splits prices without a unit price by money', () => {
    const tiers = [{ up_to: null, unit_amount: '1', flat_amount: '50' }];
    const item = usageItem('t', { price: { billing_model: 'TIERED', currency: 'usd', tiers } });
    const lines = commitCharges(
      linesOf(invoice([item]), () => '70'),
      { commitment: hundred, currency: 'usd', planName: '', periodStart: '', periodEnd: '' },
    );
    expect(brief(lines)).toEqual([
      ['t', '70', '100.00'],
      ['t (Overage)', '0', '30.00'],
    ]);
  });

  it('agrees with the rule over all its usage where money is split exactly', () => {
    const charges = fc.array(fc.tuple(decimals(3, 2), decimals(3, 1)), { maxLength: 5 });
    fc.assert(
      fc.property(charges, decimals(4, 2), decimals(3, 2), fc.boolean(), (given, amount, prior, trueUp) => {
        const commitment = { ...hundred, amount, prior, trueUp, cumulative: true };
        const usage = given.map(([unit, quantity], index) => ({
          id: String(index),
          unitAmount: decimal(unit),
          quantity: decimal(quantity),
          cost: decimal(unit).times(quantity),
        }));
        const split = commitUsage(usage, commitment, 'usd');
        const shares = split.charges.flatMap(({ within, overage }) =>
          [within, overage].flatMap((share) => share ?? []),
        );
        const used = sum(usage.map(({ cost }) => cost));
        const active = decimal(amount).greaterThan(0);
        const whole = commitLine(used, {
          amount: decimal(amount),
          overageFactor: decimal(active ? '1.5' : '1'),
          trueUp: false,
          prior: decimal(prior),
        });
        expect(decimalString(sum(shares.map((share) => share.amount)))).toBe(decimalString(whole.amount));
        expect(decimalString(sum(shares.map((share) => share.base)))).toBe(decimalString(used));
        expect(decimalString(sum(shares.map((share) => share.quantity)))).toBe(
          decimalString(sum(usage.map(({ quantity }) => quantity))),
        );
      }),
    );
  });
});

const tenPerWindow: ItemCommitment = {
  type: 'amount',
  value: '10',
  overageFactor: '2',
  trueUp: true,
  duration: null,
  windowed: false,
  timeBuckets: [],
};

describe('the commitment of a line (subscriptions-and-invoicing §2.7.3 – §2.7.5)', () => {
  const line = (commitment: Partial<ItemCommitment>, quantity = '0', members = {}) =>
    linesOf(invoice([usageItem('u', { commitment: { ...tenPerWindow, ...commitment } })], members), () => quantity)[0]!;

  it.each([
    ['above it', {}, '13', '16.00', ['10.00', '6.00', '0.00']],
    ['below it with true-up', {}, '4', '10.00', ['4.00', '0.00', '6.00']],
    ['below it without', { trueUp: false }, '4', '4.00', ['4.00', '0.00', '0.00']],
    ['in quantity', { type: 'quantity' as const, value: '3' }, '4', '5.00', ['3.00', '2.00', '0.00']],
  ])('%s', (_what, commitment, quantity, amount, [utilized, overage, trueUp]) => {
    expect(line(commitment, quantity)).toMatchObject({
      amount,
      commitmentInfo: {
        computed_commitment_utilized_amount: utilized,
        computed_overage_amount: overage,
        computed_true_up_amount: trueUp,
      },
    });
  });

  it('owes what is missing only when the period is over', () => {
    const closing = {
      reason: 'closing' as const,
      elapsed: period('2026-02-01', '2026-02-10', '2026-02-01', '2026-03-01'),
      next: null,
    };
    expect(line({}, '4', closing).amount).toBe('4.00');
  });

  it('adds the windows of a shorter cadence, each judged alone', () => {
    const item = usageItem('u', { commitment: tenPerWindow });
    const input = invoice([item], {
      subscription: { ...quarterly, lineItemGrouping: 'per_billing_period' },
      elapsed: period('2026-01-01', '2026-04-01'),
      next: null,
    });
    const [folded] = linesOf(input, ({ from }) => (from < at('2026-02-01') ? '15' : '1'));
    expect(folded).toMatchObject({
      amount: '40.00',
      commitmentInfo: { computed_overage_amount: '10.00', computed_true_up_amount: '18.00' },
    });
  });

  it('judges every bucket of the meter alone, and tops up empty ones as far as usage was read', () => {
    const item = usageItem('u', { bucketSize: 'DAY', commitment: { ...tenPerWindow, windowed: true } });
    const buckets = [{ start: at('2026-02-02'), group: '', value: '12' }];
    const input = invoice([item], { usageUntil: at('2026-02-04T12:00:00Z') });
    const [line] = linesOf(input, () => ({ quantity: '12', buckets }));
    // Four days: 12 is 10 + 2 × 2, the three empty ones 10 each.
    expect(line).toMatchObject({
      amount: '44.00',
      commitmentInfo: { is_windowed: true, computed_true_up_amount: '30.00' },
    });
  });

  it('bills inside a time of the day by its own price, outside at the base rate without utilization', () => {
    const bucket = { id: 'night', type: 'amount' as const, value: '5', overageFactor: '2', trueUp: false };
    const night = { ...bucket, startMinute: 22 * 60, endMinute: 2 * 60, price: flat('3') };
    const commitment = { ...tenPerWindow, windowed: true, timeBuckets: [night] };
    const item = usageItem('u', { bucketSize: 'HOUR', commitment });
    const hours = ['2026-02-02T23:00:00Z', '2026-02-03T01:00:00Z', '2026-02-03T02:00:00Z'];
    const buckets = hours.map((start) => ({ start: at(start), group: '', value: '2' }));
    const [line] = linesOf(invoice([item]), () => ({ quantity: '6', buckets }));
    // Twice 5 + 1 × 2 inside, and 2 × 1 outside.
    expect(line).toMatchObject({ amount: '16.00', commitmentInfo: { computed_commitment_utilized_amount: '10.00' } });
  });
});

describe('commitment periods (subscriptions-and-invoicing §2.7.2)', () => {
  const subscription = {
    billingPeriod: 'MONTHLY' as const,
    billingPeriodCount: 1,
    billingCycle: 'anniversary' as const,
    billingAnchor: at('2026-01-31'),
    timezone: 'UTC',
    startDate: at('2026-01-31'),
    trialEnd: null,
  };

  it.each([
    [null, '2026-02-28', '2026-03-31', ['2026-02-28', '2026-03-31']],
    ['MONTHLY', '2026-03-10', '2026-03-31', ['2026-02-28', '2026-03-31']],
    ['QUARTERLY', '2026-03-31', '2026-04-30', ['2026-01-31', '2026-04-30']],
    ['ANNUAL', '2027-01-31', '2027-02-28', ['2027-01-31', '2028-01-31']],
  ] as const)('of %s for the period from %s', (duration, start, end, [from, to]) => {
    const found = commitmentPeriod(subscription, duration, period(start, end));
    expect([found.start, found.end]).toEqual([at(from), at(to)]);
  });

  it('begin where a trial ends', () => {
    const trial = { ...subscription, startDate: at('2026-01-01'), trialEnd: at('2026-01-31') };
    expect(commitmentPeriod(trial, 'ANNUAL', period('2026-12-31', '2027-01-31')).start).toBe(at('2026-01-31'));
  });

  it.each([
    ['MONTHLY', 2, 'QUARTERLY'],
    ['QUARTERLY', 1, 'MONTHLY'],
    ['WEEKLY', 1, 'MONTHLY'],
  ] as const)('of %s × %s cannot be %s', (billingPeriod, billingPeriodCount, duration) => {
    const refusal = refusalOf(() =>
      checkDuration({ billingPeriod, billingPeriodCount }, duration, 'commitment_duration'),
    );
    expect(refusal).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('commitment_duration'),
    });
  });
});
