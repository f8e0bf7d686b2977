import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decimal, zero } from '../../../../billing/money/money.ts';
import { cooldownMs, parseCooldown, refuseLongCooldown } from '../../../../billing/wallet/auto-topup-cooldown.ts';
import { cooldownEndsAt, decideAutoTopup, termsOf, timesOf } from '../../../../billing/wallet/auto-topup-decision.ts';
import {
  type AutoTopupLimits,
  backOffMs,
  type CountedAttempt,
  isHardDecline,
  localMonth,
  monthAmount,
  mostTimes,
  reachedWindows,
} from '../../../../billing/wallet/auto-topup-limits.ts';
import {
  autoTopupAgenda,
  autoTopupStanding,
  type StandingFacts,
} from '../../../../billing/wallet/auto-topup-standing.ts';
import { realTimeBalance } from '../../../../billing/wallet/wallet-balance.ts';
import { refusalOf } from '../refused.ts';

const hour = 3_600_000;
const start = Date.parse('2026-03-01T00:00:00.000Z');
const at = (hours: number) => new Date(start + hours * hour).toISOString();
const limits: AutoTopupLimits = {
  declined_per_day: 4,
  declined_per_30_days: 15,
  succeeded_per_day: 24,
  most_times_amount: 10,
  monthly_amount: { usd: '1000' },
};
const attempt = (hours: number, outcome: string | null, amount = '10'): CountedAttempt => ({
  openedAt: at(hours),
  outcome,
  amount,
});
const terms = termsOf({ enabled: true, threshold: '20', amount: '10', invoicing: false, cooldownMs: null });
const facts = {
  now: at(0),
  walletStatus: 'active',
  terms,
  realTimeCreditBalance: decimal('5'),
  spendable: decimal('5'),
  topupConversionRate: '1',
  minimum: null,
  isOffSession: false,
  hasCheckoutSession: false,
  hasUnpaidInvoice: false,
  last: null,
};

describe('the guards (wallets-and-payments §2.11)', () => {
  it('finding 1: needs both figures at or below the threshold, so what credits cannot pay buys none', () => {
    expect(
      decideAutoTopup({ ...facts, realTimeCreditBalance: decimal('-500'), spendable: decimal('21') }),
    ).toMatchObject({
      reason: 'above_threshold',
    });
    expect(decideAutoTopup({ ...facts, realTimeCreditBalance: decimal('21') })).toMatchObject({
      reason: 'above_threshold',
    });
    expect(decideAutoTopup({ ...facts, realTimeCreditBalance: decimal('20'), spendable: decimal('20') }).action).toBe(
      'top_up',
    );
  });

  it('says the first that fails', () => {
    const all = {
      ...facts,
      terms: { ...terms, invoicing: true },
      isOffSession: true,
      hasCheckoutSession: true,
      minimum: '11',
    };
    const pending = { isPending: true, createdAt: at(0) };
    const reasonOf = (changed: object) =>
      decideAutoTopup({ ...all, hasUnpaidInvoice: true, last: pending, ...changed });
    expect(reasonOf({ walletStatus: 'frozen' })).toMatchObject({ reason: 'disabled' });
    expect(reasonOf({})).toMatchObject({ reason: 'pending_invoice' });
    expect(reasonOf({ hasUnpaidInvoice: false })).toMatchObject({ reason: 'active_checkout_session' });
    const quiet = { hasUnpaidInvoice: false, hasCheckoutSession: false };
    expect(reasonOf(quiet)).toMatchObject({ reason: 'pending_transaction' });
    expect(reasonOf({ ...quiet, last: { ...pending, isPending: false } })).toMatchObject({
      reason: 'cooldown',
      until: at(1),
    });
    expect(reasonOf({ ...quiet, last: null })).toMatchObject({ reason: 'below_minimum' });
  });

  it('finding 10: waits from the end of an attempt without credits, an hour at least', () => {
    const failed = { isPending: false, createdAt: at(0), failedAt: at(5) };
    expect(cooldownEndsAt(terms, failed, false)).toBe(at(6));
    expect(cooldownEndsAt({ cooldownMs: 2 * hour }, failed, true)).toBe(at(7));
    expect(cooldownEndsAt(terms, { ...failed, waitAfterFailureMs: 4 * hour }, true)).toBe(at(9));
    expect(cooldownEndsAt({ cooldownMs: 9 * hour }, { ...failed, failedAt: at(0.5) }, true)).toBe(at(9.5));
    expect(cooldownEndsAt(terms, { isPending: false, createdAt: at(0) }, false)).toBeNull();
  });

  it('finding 27: buys the smallest multiple that lifts the balance above the threshold, and at most what is allowed', () => {
    const times = (balance: string, most = 10, bonus = '0') =>
      timesOf({ balance: decimal(balance), terms, most, coversShortfall: true }, () => decimal(bonus));
    expect([times('20'), times('15'), times('10'), times('-60'), times('-500')]).toEqual([1, 1, 2, 9, 10]);
    expect([times('-60', 3), times('-60', 0), times('10', 10, '1')]).toEqual([3, null, 1]);
    expect(timesOf({ balance: decimal('-60'), terms, most: 10, coversShortfall: false }, () => zero)).toBe(1);
  });
});

describe('limits (money-in-wallets findings 8, 9)', () => {
  it('four declines in a row are reached, and the window lets one go exactly 86 400 s after it was opened', () => {
    const declines = [0, 1, 3, 7].map((hours) => attempt(hours, 'declined'));
    expect(reachedWindows(declines.slice(0, 3), limits, at(7))).toEqual([]);
    expect(reachedWindows(declines, limits, at(23.9))).toEqual([{ reason: 'declined_per_day', until: at(24) }]);
    expect(reachedWindows(declines, limits, at(24))).toEqual([]);
  });

  it('a good card is not cut off by thirty charges', () => {
    const good = Array.from({ length: 60 }, (_, index) => attempt(index * 5, 'succeeded'));
    expect(reachedWindows(good, limits, at(299))).toEqual([]);
    const fast = Array.from({ length: 24 }, (_, index) => attempt(index / 2, 'succeeded'));
    expect(reachedWindows(fast, limits, at(12))).toEqual([{ reason: 'succeeded_per_day', until: at(24) }]);
  });

  it('never allow more attempts in a window than they say, whatever comes', () => {
    const steps = fc.array(fc.tuple(fc.double({ min: 0, max: 12, noNaN: true }), fc.boolean()), { maxLength: 120 });
    fc.assert(
      fc.property(steps, (given) => {
        const made: CountedAttempt[] = [];
        let hours = 0;
        for (const [pause, succeeds] of given) {
          hours += pause;
          const until = reachedWindows(made, limits, at(hours))
            .map((each) => each.until)
            .sort()
            .at(-1);
          if (until !== undefined) {
            expect(until > at(hours)).toBe(true);
            hours = (Date.parse(until) - start) / hour;
          }
          if (reachedWindows(made, limits, at(hours)).length > 0) continue;
          made.push(attempt(hours, succeeds ? 'succeeded' : 'declined'));
        }
        const most = (outcome: string, days: number) =>
          Math.max(
            0,
            ...made.map(({ openedAt }) => {
              const end = Date.parse(openedAt);
              const within = made.filter((one) => one.outcome === outcome && Date.parse(one.openedAt) <= end);
              return within.filter((one) => Date.parse(one.openedAt) > end - days * 24 * hour).length;
            }),
          );
        expect(most('declined', 1)).toBeLessThanOrEqual(4);
        expect(most('declined', 30)).toBeLessThanOrEqual(15);
        expect(most('succeeded', 1)).toBeLessThanOrEqual(24);
      }),
    );
  });

  it('a month is the local one, and a failed attempt gives its amount back', () => {
    const month = localMonth('2026-03-31T23:30:00.000Z', 'Europe/Berlin');
    expect(month).toEqual({ start: '2026-03-31T22:00:00.000Z', end: '2026-04-30T22:00:00.000Z' });
    const spent = monthAmount(
      [attempt(0, 'succeeded', '70'), attempt(1, 'declined'), attempt(2, null, '5')],
      localMonth(at(0), 'UTC'),
    );
    expect(spent.toFixed()).toBe('75');
    const tens = (times: number) => decimal('10').times(times);
    expect(mostTimes(tens, limits, { spent: decimal('975'), monthLimit: '1000' })).toBe(2);
    expect(mostTimes(tens, limits, { spent: decimal('991'), monthLimit: '1000' })).toBe(0);
    expect(mostTimes(tens, limits, { spent, monthLimit: null })).toBe(10);
  });

  it('declines wait one, two and four hours', () => {
    expect([0, 1, 2, 3, 4].map((count) => backOffMs(count) / hour)).toEqual([0, 1, 2, 4, 4]);
    expect(
      ['stolen_card', 'lost_card', 'account_closed', 'card_declined', null].map((reason) => isHardDecline(reason)),
    ).toEqual([...[true, true, true], ...[false, false]]);
    expect([isHardDecline('do_not_honor', 'never'), isHardDecline('do_not_honor', 'retry')]).toEqual([true, false]);
  });
});

test('a pause is read in both forms, and one of more than a year is refused', () => {
  expect(cooldownMs(parseCooldown({ value: 15, unit: 'minute' }))).toBe(900_000);
  expect(cooldownMs(parseCooldown('1'))).toBe(1);
  for (const bad of ['-1', -1, 1.5, '1h', null, { value: -1, unit: 'day' }, { value: 1, unit: 'week' }]) {
    expect(refusalOf(() => parseCooldown(bad))?.code).toBe('validation_error');
  }
  expect(refusalOf(() => refuseLongCooldown(parseCooldown({ value: 366, unit: 'day' })))?.code).toBe(
    'validation_error',
  );
});

describe('what is spendable (money-in-wallets findings 1, 2)', () => {
  const wallet = {
    walletStatus: 'active',
    walletType: 'PRE_PAID',
    currency: 'usd',
    balance: decimal('10'),
    creditBalance: decimal('20'),
    conversionRate: '0.5',
    allowedPriceTypes: ['USAGE'],
  };
  const subscription = { currency: 'usd', subscriptionType: 'standalone', usageAmount: decimal('2') };
  const invoice = {
    currency: 'usd',
    paymentStatus: 'PENDING',
    periodEnd: at(0),
    amountRemaining: decimal('500'),
    amountPaid: zero,
    netUsage: decimal('500'),
  };
  const spendable = (subscriptionStatus: string, invoices: object[] = []) =>
    realTimeBalance(wallet, {
      now: at(1),
      subscriptions: [{ ...subscription, subscriptionStatus }],
      invoices: invoices as (typeof invoice & { invoiceStatus: string })[],
    }).spendable.toFixed();
  it.each([
    ['active', [], '16'],
    ['trialing', [], '20'],
    ['active', [{ ...invoice, invoiceStatus: 'FINALIZED' }], '16'],
    ['active', [{ ...invoice, invoiceStatus: 'DRAFT', netUsage: decimal('3') }], '10'],
    ['active', [{ ...invoice, invoiceStatus: 'DRAFT', periodEnd: at(9) }], '16'],
  ] as const)('%s with %j', (status, invoices, expected) => {
    expect(spendable(status, [...invoices])).toBe(expected);
  });
});

describe('the standing (money-in-wallets finding 11)', () => {
  const quiet: StandingFacts = {
    ...{ now: at(0), walletStatus: 'active', isTenantSuspended: false, terms, collection: 'charge', hasMethod: true },
    ...{ open: null, invoiceLifetimeDays: 7, pause: null, consecutiveDeclines: 0, last: null, limits: [] },
    ...{
      pendingPurchase: null,
      isUnused: false,
      isBelowMinimum: false,
      isBelowGatewayMinimum: false,
      isAboveMandate: false,
      evaluateAt: null,
    },
  };

  it('a purchase by hand holds top-ups up, one by a link only until nobody follows it any more', () => {
    const held = (endsAt: string | null) => autoTopupStanding({ ...quiet, pendingPurchase: { endsAt } });
    expect(autoTopupStanding(quiet)).toEqual({ state: 'armed', reason: null, until: null });
    expect(held(null)).toEqual({ state: 'blocked', reason: 'pending_transaction', until: null });
    expect(held(at(0.5))).toEqual({ state: 'blocked', reason: 'pending_transaction', until: at(0.5) });
    const facts = { ...quiet, pendingPurchase: { endsAt: at(0.5) } };
    expect(autoTopupAgenda(facts)).toEqual([{ at: at(0.5), kind: 'evaluate', ref: '' }]);
  });
});
