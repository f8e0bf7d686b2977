import { describe, expect, it } from 'vitest';
import type { ChargeLine, IntermediateInvoice } from '../../../../billing/line/charge.ts';
import { commitCharges } from '../../../../billing/line/charge-overage.ts';
import { cutPeriodStart, effectiveThreshold, thresholdOutcome } from '../../../../billing/line/intermediate-invoice.ts';
import { at, brief, flat, invoice, item, linesOf, meterOf, period, quarterly, usageItem } from './charge-fixture.ts';

const usage = usageItem('usage');
const events = Array.from({ length: 27 }, (_, day) => ({
  at: `2026-02-${String(day + 1).padStart(2, '0')}`,
  value: 10,
}));
const meter = meterOf(events);

/** What lines of an intermediate invoice tell the next one. */
const cut = (start: string, end: string, lines: ChargeLine[]): IntermediateInvoice => ({
  start: at(start),
  end: at(end),
  parts: lines.flatMap((line) =>
    line.derivation.parts.map((part) => ({
      subscriptionLineItemId: line.subscriptionLineItemId ?? '',
      start: part.periodStart,
      end: part.periodEnd,
      quantity: line.derivation.parts.length === 1 ? line.quantity : part.quantity,
      amount: part.amount,
      base: part.amount,
    })),
  ),
});
const ofThreshold = (items: Parameters<typeof invoice>[0], start: string, end: string, members = {}) =>
  linesOf(
    invoice(items, { reason: 'threshold', elapsed: period(start, end, start, '2026-03-01'), next: null, ...members }),
    meter,
  );

describe('an intermediate invoice (subscriptions-and-invoicing §2.14.1)', () => {
  it('bills usage alone, and nothing in arrear or once', () => {
    const fixed = item('arrear', { invoiceCadence: 'ARREAR' });
    const once = item('once', { billingPeriod: 'ONETIME', startDate: at('2026-02-02') });
    expect(brief(ofThreshold([fixed, once, item('advance'), usage], '2026-02-01', '2026-02-11'))).toEqual([
      ['usage', '2026-02-01', '2026-02-11', '100', '100.00'],
    ]);
  });

  it('goes on with the tiers of the whole period, and bills what no earlier one has', () => {
    const tiers = [
      { up_to: '120', unit_amount: '1', flat_amount: '5' },
      { up_to: null, unit_amount: '0.5', flat_amount: '0' },
    ];
    const tiered = usageItem('usage', {
      price: { billing_model: 'TIERED', currency: 'usd', tier_mode: 'SLAB', tiers } as unknown as ReturnType<
        typeof flat
      >,
    });
    const first = ofThreshold([tiered], '2026-02-01', '2026-02-11');
    expect(brief(first)).toEqual([['usage', '2026-02-01', '2026-02-11', '100', '105.00']]);
    const intermediate = [cut('2026-02-01', '2026-02-11', first)];
    const second = ofThreshold([tiered], '2026-02-11', '2026-02-21', { intermediate });
    expect(brief(second)).toEqual([['usage', '2026-02-11', '2026-02-21', '100', '60.00']]);
    intermediate.push(cut('2026-02-11', '2026-02-21', second));
    const rest = linesOf(invoice([tiered], { elapsed: period('2026-02-21', '2026-03-01'), intermediate }), meter);
    expect(brief(rest)).toEqual([['usage', '2026-02-21', '2026-03-01', '70', '35.00']]);
  });

  it('leaves the boundary what is due in arrear and once for the whole period', () => {
    const arrear = item('arrear', { invoiceCadence: 'ARREAR', price: flat('28'), startDate: at('2026-02-08') });
    const once = item('once', { billingPeriod: 'ONETIME', startDate: at('2026-02-03'), price: flat('9') });
    const intermediate = [cut('2026-02-01', '2026-02-15', ofThreshold([usage], '2026-02-01', '2026-02-15'))];
    const lines = linesOf(
      invoice([arrear, once, usage], { elapsed: period('2026-02-15', '2026-03-01'), intermediate }),
      meter,
    );
    expect(brief(lines)).toEqual([
      ['once', '2026-02-03', '2026-02-03T00:00:01.000Z', '1', '9.00'],
      ['arrear', '2026-02-08', '2026-03-01', '1', '21.00'],
      ['usage', '2026-02-15', '2026-03-01', '130', '130.00'],
    ]);
  });

  it('bills a window of a shorter cadence that it cuts for the rest, and one that is over no more', () => {
    const monthly = usageItem('usage', { startDate: at('2026-01-01') });
    const quarter = { subscription: quarterly, billed: [] };
    const first = linesOf(
      invoice([monthly], {
        ...quarter,
        reason: 'threshold',
        elapsed: period('2026-01-01', '2026-02-11', '2026-01-01', '2026-04-01'),
        next: null,
      }),
      meter,
    );
    expect(brief(first).map(([, from, to, quantity]) => [from, to, quantity])).toEqual([
      ['2026-01-01', '2026-02-01', '0'],
      ['2026-02-01', '2026-02-11', '100'],
    ]);
    const intermediate = [{ ...cut('2026-01-01', '2026-02-11', first) }];
    const rest = linesOf(
      invoice([monthly], {
        ...quarter,
        elapsed: period('2026-02-11', '2026-04-01'),
        next: null,
        reason: 'last',
        intermediate,
      }),
      meter,
    );
    expect(brief(rest).map(([, from, to, quantity]) => [from, to, quantity])).toEqual([
      ['2026-02-11', '2026-03-01', '170'],
      ['2026-03-01', '2026-04-01', '0'],
    ]);
  });

  it('is never a charge below zero when the usage of the period falls', () => {
    const intermediate = [cut('2026-02-01', '2026-02-11', ofThreshold([usage], '2026-02-01', '2026-02-11'))];
    const rest = linesOf(invoice([usage], { elapsed: period('2026-02-11', '2026-03-01'), intermediate }), () => '40');
    expect(brief(rest)).toEqual([['usage', '2026-02-11', '2026-03-01', '0', '0.00']]);
  });

  it('counts for the commitment of the subscription as what was used before', () => {
    const intermediate = [cut('2026-02-01', '2026-02-11', ofThreshold([usage], '2026-02-01', '2026-02-11'))];
    const lines = linesOf(invoice([usage], { elapsed: period('2026-02-11', '2026-03-01'), intermediate }), meter);
    const commitment = {
      amount: '120',
      overageFactor: '2',
      trueUp: false,
      prior: '100',
      cumulative: false,
      last: true,
    };
    const committed = commitCharges(lines, {
      commitment,
      currency: 'usd',
      planName: 'Plan',
      periodStart: at('2026-02-11'),
      periodEnd: at('2026-03-01'),
    });
    expect(committed.map(({ quantity, amount }) => [quantity, amount])).toEqual([
      ['20', '20.00'],
      ['150', '300.00'],
    ]);
  });

  it('cuts only the period that begins where it ends', () => {
    const chain = [cut('2026-02-01', '2026-02-11', []), cut('2026-02-11', '2026-02-21', [])];
    expect(cutPeriodStart(at('2026-02-21'), chain)).toBe(at('2026-02-01'));
    expect(cutPeriodStart(at('2026-02-20'), chain)).toBeNull();
    expect(cutPeriodStart(at('2026-02-21'), chain.slice(1))).toBe(at('2026-02-11'));
  });
});

describe('the threshold', () => {
  it.each([
    ['5', '7', '5'],
    ['', '7', '7'],
    [null, '7', '7'],
    ['0', '7', '0'],
    ['', '', null],
    [null, null, null],
  ])('%j over the %j of the plan is %j', (own, ofPlan, effective) => {
    expect(effectiveThreshold(own, ofPlan)).toBe(effective);
  });

  const february = { start: at('2026-02-01'), end: at('2026-03-01') };
  it.each([
    ['reached exactly', '100', '100', '2026-02-10', true],
    ['not reached', '100', '99.99', '2026-02-10', false],
    ['off', '0', '99', '2026-02-10', false],
    ['none', null, '99', '2026-02-10', false],
    ['at the start of the period', '1', '99', '2026-02-01', false],
    ['at its end, where the boundary bills', '1', '99', '2026-03-01', false],
  ])('%s', (_, threshold, usageAmount, now, isReached) => {
    expect(thresholdOutcome({ threshold, usageAmount, period: february, now: at(now) }).isReached).toBe(isReached);
  });
});
