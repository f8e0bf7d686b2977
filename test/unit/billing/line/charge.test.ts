import { describe, expect, it } from 'vitest';
import type { ChargeReason } from '../../../../billing/line/charge.ts';
import { planCharges, usageQuestions } from '../../../../billing/line/charge.ts';
import { at, brief, flat, invoice, item, linesOf, monthly, period, quarterly, usageItem } from './charge-fixture.ts';

const advance = item('advance');
const arrear = item('arrear', { invoiceCadence: 'ARREAR', price: flat('60') });
const usage = usageItem('usage');
const once = item('once', { billingPeriod: 'ONETIME', startDate: at('2026-02-10'), price: flat('99') });

describe('what an invoice bills (subscriptions-and-invoicing §2.6.1)', () => {
  const elapsed = period('2026-02-01', '2026-03-01');
  const next = period('2026-03-01', '2026-04-01');
  it.each([
    ['opening', null, next, ['advance', 'once']],
    ['cycle', elapsed, next, ['advance', 'arrear', 'once', 'usage']],
    ['preview', elapsed, next, ['advance', 'arrear', 'once', 'usage']],
    ['last', elapsed, null, ['arrear', 'once', 'usage']],
    ['closing', elapsed, null, ['arrear', 'usage']],
    ['running', elapsed, elapsed, ['advance', 'arrear', 'once', 'usage']],
    ['running', elapsed, null, ['arrear', 'once', 'usage']],
  ] as [ChargeReason, typeof elapsed | null, typeof next | null, string[]][])('%s', (reason, past, coming, ids) => {
    const lines = linesOf(invoice([usage, once, arrear, advance], { reason, elapsed: past, next: coming }));
    expect(lines.map((line) => line.subscriptionLineItemId)).toEqual(ids);
  });

  it('bills advance for the coming period, arrears and usage for the elapsed one', () => {
    expect(brief(linesOf(invoice([advance, arrear, usage]), () => '7'))).toEqual([
      ['advance', '2026-03-01', '2026-04-01', '1', '30.00'],
      ['arrear', '2026-02-01', '2026-03-01', '1', '60.00'],
      ['usage', '2026-02-01', '2026-03-01', '7', '7.00'],
    ]);
  });

  it('previews usage up to now', () => {
    const [question] = usageQuestions(
      planCharges(invoice([usage], { reason: 'preview', usageUntil: at('2026-02-12') })),
    );
    expect([question!.from, question!.to]).toEqual([at('2026-02-01'), at('2026-02-12')]);
    const early = invoice([usage], { reason: 'preview', usageUntil: at('2026-01-12') });
    expect(usageQuestions(planCharges(early))).toEqual([]);
    expect(brief(linesOf(early))).toEqual([['usage', '2026-02-01', '2026-03-01', '0', '0.00']]);
  });

  it.each([
    ['before the elapsed period', '2026-01-31', 'cycle', false],
    ['at its start', '2026-02-01', 'cycle', true],
    ['at the boundary itself', '2026-03-01', 'cycle', true],
    ['after it', '2026-03-02', 'cycle', false],
    ['at the end of a last period', '2026-03-01', 'last', false],
    ['at the end of a running period', '2026-03-01', 'running', false],
  ] as [string, string, ChargeReason, boolean][])('a one-time item starting %s', (_, start, reason, billed) => {
    const lines = linesOf(invoice([{ ...once, startDate: at(start) }], { reason }));
    expect(lines).toHaveLength(billed ? 1 : 0);
  });

  it('charges a one-time item whole, for one second', () => {
    expect(brief(linesOf(invoice([once])))).toEqual([['once', '2026-02-10', '2026-02-10T00:00:01.000Z', '1', '99.00']]);
  });

  it('leaves out what a live line of the same item charges already', () => {
    const billed = [
      { subscriptionLineItemId: 'advance', periodStart: at('2026-03-15'), periodEnd: at('2026-03-16') },
      { subscriptionLineItemId: 'arrear', periodStart: at('2026-01-01'), periodEnd: at('2026-02-01') },
      { subscriptionLineItemId: 'once', periodStart: at('2026-02-10'), periodEnd: at('2026-02-10T00:00:01Z') },
    ];
    const lines = linesOf(invoice([advance, arrear, once, usage], { billed }));
    expect(lines.map((line) => line.subscriptionLineItemId)).toEqual(['arrear', 'usage']);
  });

  it('has nothing for an empty period', () => {
    const lines = linesOf(
      invoice([arrear, usage], { reason: 'closing', elapsed: period('2026-02-01', '2026-02-01'), next: null }),
    );
    expect(lines).toEqual([]);
  });

  it('orders fixed before usage, each by start and id', () => {
    const items = [
      usageItem('u2', { startDate: at('2026-01-02') }),
      usageItem('u1', { startDate: at('2026-01-02') }),
      item('b'),
      item('a'),
      item('z', { startDate: at('2025-12-01') }),
      usageItem('u0', { startDate: at('2026-01-03') }),
    ];
    expect(linesOf(invoice(items)).map((line) => line.subscriptionLineItemId)).toEqual([
      'z',
      'a',
      'b',
      'u1',
      'u2',
      'u0',
    ]);
  });
});

describe('amounts by time (subscriptions-and-invoicing §2.6.2, §2.2.4)', () => {
  it('prorates the part of a period in which an item is active; the quantity stays whole', () => {
    const ended = item('ended', {
      invoiceCadence: 'ARREAR',
      endDate: at('2026-02-15'),
      quantity: '2',
      price: flat('56'),
    });
    const begun = item('begun', { invoiceCadence: 'ARREAR', startDate: at('2026-02-15'), price: flat('56') });
    const lines = linesOf(invoice([ended, begun]));
    expect(brief(lines)).toEqual([
      ['ended', '2026-02-01', '2026-02-15', '2', '56.00'],
      ['begun', '2026-02-15', '2026-03-01', '1', '28.00'],
    ]);
    expect(lines[0]!.metadata).toEqual({ is_prorated: 'true' });
    expect(lines[0]!.derivation.parts[0]!.proration).toEqual({
      numeratorMs: 14 * 86_400_000,
      denominatorMs: 28 * 86_400_000,
      fullStart: at('2026-02-01'),
      fullEnd: at('2026-03-01'),
      why: 'partly_active',
    });
  });

  it('charges the first calendar period its share of the full one', () => {
    const next = period('2026-03-17', '2026-04-01', '2026-03-01');
    const fee = item('fee', { startDate: at('2026-03-17'), price: flat('310') });
    const [line] = linesOf(invoice([fee], { reason: 'opening', elapsed: null, next }));
    expect(line!.amount).toBe('150.00');
    expect(line!.derivation.parts[0]!.proration!.why).toBe('first_calendar_period');
  });

  it('charges the first calendar period in arrear the same share, and the whole of it without prorations', () => {
    const start = at('2026-03-17');
    const elapsed = period('2026-03-17', '2026-04-01');
    const fee = item('fee', { invoiceCadence: 'ARREAR', startDate: start, price: flat('310') });
    const on = (prorationBehavior: 'create_prorations' | 'none') => {
      const given = invoice([fee], { elapsed, next: null });
      const cycle = { billingCycle: 'calendar' as const, billingAnchor: at('2026-04-01'), startDate: start };
      return linesOf({ ...given, subscription: { ...given.subscription, ...cycle, prorationBehavior } })[0]!;
    };
    expect(on('create_prorations').amount).toBe('150.00');
    expect(on('create_prorations').derivation.parts[0]!.proration!.why).toBe('first_calendar_period');
    expect(on('none').amount).toBe('310.00');
  });

  it('charges arrears of a period cut short by its duration, usage not', () => {
    const elapsed = period('2026-03-01', '2026-03-20', '2026-03-01', '2026-04-01');
    const lines = linesOf(
      invoice([item('fee', { invoiceCadence: 'ARREAR', price: flat('31') }), usage], {
        reason: 'last',
        elapsed,
        next: null,
      }),
      () => '5',
    );
    expect(lines.map((line) => line.amount)).toEqual(['19.00', '5.00']);
    expect(lines[0]!.derivation.parts[0]!.proration!.why).toBe('period_cut_short');
    expect(lines[1]!.derivation.parts[0]!.proration).toBeNull();
  });

  it('measures usage on the item’s own part of the period', () => {
    const questions = usageQuestions(
      planCharges(invoice([usageItem('u', { startDate: at('2026-02-10'), endDate: at('2026-02-20') })])),
    );
    expect(questions.map(({ from, to }) => [from, to])).toEqual([[at('2026-02-10'), at('2026-02-20')]]);
  });
});

describe('shorter cadence (subscriptions-and-invoicing §2.6.3)', () => {
  const elapsed = period('2026-01-01', '2026-04-01');
  const seats = item('seats', { invoiceCadence: 'ARREAR', quantity: '5', price: flat('10') });
  const input = invoice([seats], { subscription: quarterly, elapsed, next: period('2026-04-01', '2026-07-01') });

  it('bills every window', () => {
    expect(brief(linesOf(input))).toEqual([
      ['seats', '2026-01-01', '2026-02-01', '5', '50.00'],
      ['seats', '2026-02-01', '2026-03-01', '5', '50.00'],
      ['seats', '2026-03-01', '2026-04-01', '5', '50.00'],
    ]);
  });

  it('folds the windows into one line when grouped, adding rounded amounts', () => {
    const grouped = { ...quarterly, lineItemGrouping: 'per_billing_period' as const };
    const metered = usageItem('metered', { price: flat('0.015') });
    const quantities: Record<string, string> = { '2026-01-01': '101', '2026-02-01': '33', '2026-03-01': '7' };
    const lines = linesOf(
      { ...input, items: [seats, metered], subscription: grouped },
      ({ from }) => quantities[from.slice(0, 10)]!,
    );
    expect(brief(lines)).toEqual([
      ['seats', '2026-01-01', '2026-04-01', '15', '150.00'],
      ['metered', '2026-01-01', '2026-04-01', '141', '2.13'],
    ]);
    expect(lines[1]!.metadata).toEqual({ charge_periods: '3' });
    expect(lines[1]!.derivation.parts.map((part) => part.amount)).toEqual(['1.52', '0.50', '0.11']);
  });

  it('steps from the subscription’s anchor, so day 31 returns', () => {
    const subscription = { ...quarterly, billingAnchor: at('2026-01-31') };
    const lines = linesOf({ ...input, subscription, elapsed: period('2026-01-31', '2026-04-30') });
    expect(lines.map((line) => line.periodEnd.slice(0, 10))).toEqual(['2026-02-28', '2026-03-31', '2026-04-30']);
  });

  it('prorates a cut window by its own full one', () => {
    const cut = { ...input, elapsed: period('2026-01-17', '2026-03-15', '2026-01-01', '2026-04-01') };
    const lines = linesOf(cut);
    expect(brief(lines)).toEqual([
      ['seats', '2026-01-17', '2026-02-01', '5', '24.19'],
      ['seats', '2026-02-01', '2026-03-01', '5', '50.00'],
      ['seats', '2026-03-01', '2026-03-15', '5', '22.58'],
    ]);
    expect(lines[0]!.derivation.parts[0]!.proration!.why).toBe('charge_window_cut');
  });

  it('bills only the windows in which the item is active', () => {
    const lines = linesOf({ ...input, items: [{ ...seats, startDate: at('2026-02-15') }] });
    expect(brief(lines)).toEqual([
      ['seats', '2026-02-15', '2026-03-01', '5', '25.00'],
      ['seats', '2026-03-01', '2026-04-01', '5', '50.00'],
    ]);
  });

  it('days inside months are one line a billing period', () => {
    const daily = item('daily', { billingPeriod: 'DAILY', invoiceCadence: 'ARREAR' });
    expect(brief(linesOf(invoice([daily])))).toEqual([['daily', '2026-02-01', '2026-03-01', '1', '30.00']]);
  });
});

describe('longer cadence (subscriptions-and-invoicing §2.6.3)', () => {
  const fee = (invoiceCadence: 'ADVANCE' | 'ARREAR', members = {}) =>
    item('fee', {
      billingPeriod: 'QUARTERLY',
      invoiceCadence,
      startDate: at('2026-01-15'),
      price: flat('300'),
      ...members,
    });
  const boundaries = ['2026-01-15', '2026-02-15', '2026-03-15', '2026-04-15', '2026-05-15'];
  const bill = (cadence: 'ADVANCE' | 'ARREAR', position: number, members = {}, more = {}) =>
    brief(
      linesOf(
        invoice([fee(cadence, members)], {
          subscription: { ...monthly, billingAnchor: at('2026-01-15') },
          reason: position === 0 ? 'opening' : 'cycle',
          elapsed: position === 0 ? null : period(boundaries[position - 1]!, boundaries[position]!),
          next: period(boundaries[position]!, boundaries[position + 1] ?? '2026-06-15'),
          ...more,
        }),
      ),
    );

  it('in advance appears when its own period begins', () => {
    expect(boundaries.map((_, position) => bill('ADVANCE', position).length)).toEqual([1, 0, 0, 1, 0]);
    expect(bill('ADVANCE', 3)).toEqual([['fee', '2026-04-15', '2026-07-15', '1', '300.00']]);
  });

  it('in arrear appears when its own period ends', () => {
    expect(boundaries.map((_, position) => bill('ARREAR', position).length)).toEqual([0, 0, 0, 1, 0]);
    expect(bill('ARREAR', 3)).toEqual([['fee', '2026-01-15', '2026-04-15', '1', '300.00']]);
  });

  it('of an ended item closes its own period by duration', () => {
    expect(bill('ARREAR', 2, { endDate: at('2026-03-01') })).toEqual([
      ['fee', '2026-01-15', '2026-03-01', '1', '150.00'],
    ]);
    expect(bill('ARREAR', 3, { endDate: at('2026-03-01') })).toEqual([]);
  });

  it('of a closing subscription bills the open own period by duration', () => {
    const closing = {
      reason: 'closing',
      elapsed: period('2026-02-15', '2026-03-01', '2026-02-15', '2026-03-15'),
      next: null,
    };
    expect(bill('ARREAR', 2, {}, closing)).toEqual([['fee', '2026-01-15', '2026-03-01', '1', '150.00']]);
  });

  it('bills neither twice nor for a pause', () => {
    const billed = [{ subscriptionLineItemId: 'fee', periodStart: at('2026-01-15'), periodEnd: at('2026-03-01') }];
    const paused = [{ start: at('2026-03-01'), end: at('2026-03-16') }];
    expect(bill('ARREAR', 3, {}, { billed, paused })).toEqual([['fee', '2026-03-16', '2026-04-15', '1', '100.00']]);
  });

  it('begins after the trial', () => {
    const subscription = { ...monthly, billingAnchor: at('2026-01-15'), trialEnd: at('2026-01-15') };
    expect(bill('ADVANCE', 0, { startDate: at('2026-01-01') }, { subscription })).toEqual([
      ['fee', '2026-01-15', '2026-04-15', '1', '300.00'],
    ]);
  });
});
