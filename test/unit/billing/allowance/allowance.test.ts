import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Allowance, allowanceOf, billableQuantity } from '../../../../billing/allowance/allowance.ts';
import type { ChargeItem, ChargePlanInput } from '../../../../billing/line/charge.ts';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { at, brief, flat, invoice, linesOf, meterOf, monthly, period, usageItem } from '../line/charge-fixture.ts';

const limit = (usageLimit: string | null, usageResetPeriod: Allowance['usageResetPeriod'] = null): Allowance => ({
  usageLimit,
  usageResetPeriod,
});

describe('billable quantity (catalogue-and-metering §8.4)', () => {
  it.each([
    ['everything without an entitlement', null, '1250', '1250', '0'],
    ['nothing when unlimited', limit(null), '1250', '0', '1250'],
    ['what exceeds the limit', limit('1000'), '1250', '250', '1000'],
    ['nothing below the limit', limit('1000'), '999.5', '0', '999.5'],
    ['everything with a limit of 0', limit('0'), '3', '3', '0'],
  ] as [string, Allowance | null, string, string, string][])('%s', (_, allowance, raw, billable, adjusted) => {
    const result = billableQuantity(allowance, decimal(raw), [{ before: decimal(0), total: decimal(raw) }]);
    expect([decimalString(result.billable), decimalString(result.adjusted)]).toEqual([billable, adjusted]);
  });

  it('counts what the window held before: a lifetime allowance is used up across periods', () => {
    const result = (before: string, usage: string): string =>
      decimalString(
        billableQuantity(limit('1000'), decimal(usage), [
          { before: decimal(before), total: decimal(before).plus(usage) },
        ]).billable,
      );
    expect([result('800', '500'), result('1300', '500'), result('0', '500')]).toEqual(['300', '500', '0']);
  });

  it('of consecutive stretches adds up to the window’s overage, however it is cut', () => {
    const stretches = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(stretches, fc.integer({ min: 0, max: 3000 }), (usages, included) => {
        let before = decimal(0);
        let billed = decimal(0);
        for (const usage of usages) {
          const total = before.plus(usage);
          billed = billed.plus(billableQuantity(limit(String(included)), decimal(usage), [{ before, total }]).billable);
          before = total;
        }
        const overage = Math.max(0, usages.reduce((all, usage) => all + usage, 0) - included);
        expect(decimalString(billed)).toBe(String(overage));
      }),
    );
  });

  it('of several lines adds up to the meter’s overage and is never negative', () => {
    const lines = fc.array(fc.tuple(fc.nat(400), fc.nat(400)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lines, fc.nat(1500), (usages, included) => {
        let aheadBefore = decimal(0);
        let aheadTotal = decimal(0);
        let billed = decimal(0);
        for (const [before, more] of usages) {
          const window = { before: decimal(before), total: decimal(before + more), aheadBefore, aheadTotal };
          const { billable } = billableQuantity(limit(String(included)), decimal(more), [window]);
          expect(billable.greaterThanOrEqualTo(0)).toBe(true);
          billed = billed.plus(billable);
          aheadBefore = aheadBefore.plus(before);
          aheadTotal = aheadTotal.plus(before + more);
        }
        const over = (usage: number): number => Math.max(0, usage - included);
        const before = usages.reduce((all, [first]) => all + first, 0);
        const total = usages.reduce((all, [first, more]) => all + first + more, 0);
        expect(decimalString(billed)).toBe(String(over(total) - over(before)));
      }),
    );
  });

  it('a disabled entitlement is none', () => {
    expect(allowanceOf({ ...limit('5'), isEnabled: false })).toBeNull();
    expect(allowanceOf(null)).toBeNull();
    expect(allowanceOf({ ...limit('5', 'DAILY'), isEnabled: true })).toEqual(limit('5', 'DAILY'));
  });
});

describe('allowance of an invoice’s usage lines', () => {
  const bill = (
    items: ChargeItem[],
    allowance: Allowance,
    events: Parameters<typeof meterOf>[0],
    members: Partial<ChargePlanInput> = {},
  ) =>
    linesOf(
      invoice(items, { allowances: { meter: allowance }, next: null, reason: 'last', ...members }),
      meterOf(events),
    );
  const day = (text: string, value: number) => ({ at: text, value });

  it('resets with the billing period and says what it forgave', () => {
    const [line] = bill([usageItem('u')], limit('10', 'MONTHLY'), [day('2026-01-31', 50), day('2026-02-10', 25)]);
    expect([line!.quantity, line!.amount, line!.adjustedEntitlementQuantity]).toEqual(['15', '15.00', '10']);
    expect(line!.metadata).toEqual({ usage_reset_period: 'MONTHLY' });
    expect(line!.derivation.parts[0]!.allowance).toEqual({
      limit: '10',
      resetPeriod: 'MONTHLY',
      windows: [
        {
          start: at('2026-02-01'),
          end: at('2026-03-01'),
          usageBefore: '0',
          usageTotal: '25',
          aheadBefore: '0',
          aheadTotal: '0',
          billable: '15',
        },
      ],
      billable: '15',
      adjusted: '10',
    });
  });

  it('without an entitlement says nothing of one', () => {
    const [line] = linesOf(invoice([usageItem('u')], { next: null, reason: 'last' }), meterOf([day('2026-02-10', 25)]));
    expect([line!.quantity, line!.adjustedEntitlementQuantity, line!.derivation.parts[0]!.allowance]).toEqual([
      '25',
      null,
      null,
    ]);
  });

  it('forgives per local day', () => {
    const events = [
      day('2026-02-01T04:59Z', 150),
      day('2026-02-01T05:00Z', 20),
      day('2026-02-02T04:59Z', 90),
      day('2026-02-03', 100),
    ];
    const subscription = { ...monthly, timezone: 'America/New_York' };
    const [line] = bill([usageItem('u')], limit('100', 'DAILY'), events, { subscription });
    expect([line!.quantity, line!.adjustedEntitlementQuantity]).toEqual(['60', '300']);
  });

  it('shares a day cut by the boundary between two invoices', () => {
    const noon = (start: string, end: string) => period(`${start}T12:00Z`, `${end}T12:00Z`);
    const events = [day('2026-02-28T18:00Z', 5), day('2026-03-01T06:00Z', 70), day('2026-03-01T18:00Z', 70)];
    const billed = ['2026-02-01', '2026-03-01'].map((start, month) => {
      const [line] = bill([usageItem('u')], limit('100', 'DAILY'), events, {
        elapsed: noon(start, `2026-0${month + 3}-01`),
      });
      return line!.quantity;
    });
    expect(billed).toEqual(['0', '40']);
  });

  it('NEVER counts from the first line, also through a replaced one', () => {
    const old = usageItem('a', { endDate: at('2026-02-15') });
    const events = [day('2026-01-10', 800), day('2026-02-10', 150), day('2026-02-20', 100)];
    const lines = bill(
      [old, usageItem('b', { startDate: at('2026-02-15'), price: flat('2') })],
      limit('1000', 'NEVER'),
      events,
    );
    expect(brief(lines)).toEqual([
      ['a', '2026-02-01', '2026-02-15', '0', '0.00'],
      ['b', '2026-02-15', '2026-03-01', '50', '100.00'],
    ]);
    expect(lines[1]!.derivation.parts[0]!.allowance!.windows[0]).toMatchObject({
      start: at('2026-01-01'),
      aheadTotal: '950',
    });
  });

  it('is used first by the line that began first, within one period', () => {
    const items = [usageItem('new', { startDate: at('2026-02-15') }), usageItem('old', { endDate: at('2026-02-15') })];
    const lines = bill(items, limit('100'), [day('2026-02-10', 70), day('2026-02-20', 70)]);
    expect(brief(lines).map(([id, , , quantity]) => [id, quantity])).toEqual([
      ['old', '0'],
      ['new', '40'],
    ]);
  });

  it('is used first by the smaller id of lines that begin together', () => {
    const lines = bill([usageItem('b'), usageItem('a')], limit('100'), [day('2026-02-10', 70)]);
    expect(brief(lines).map(([id, , , quantity]) => [id, quantity])).toEqual([
      ['a', '0'],
      ['b', '40'],
    ]);
  });

  it('of a longer reset period is shared by its months', () => {
    const events = [day('2026-01-10', 90), day('2026-02-10', 30)];
    const [line] = bill([usageItem('u')], limit('100', 'ANNUAL'), events);
    expect([line!.quantity, line!.adjustedEntitlementQuantity]).toEqual(['20', '10']);
  });

  it('of a running meter is taken from the value at the period’s end', () => {
    const running = usageItem('u', { resetUsage: 'NEVER' });
    const [line] = bill([running], limit('100', 'MONTHLY'), [day('2026-01-10', 90), day('2026-02-10', 30)]);
    expect([line!.quantity, line!.adjustedEntitlementQuantity]).toEqual(['20', '100']);
    expect(line!.derivation.parts[0]!.usage).toMatchObject({
      from: at('2026-01-01'),
      quantity: '120',
      watermark: 'w1',
    });
  });

  it('walks the ladder from the bottom with what is left', () => {
    const price = {
      billing_model: 'TIERED' as const,
      tier_mode: 'SLAB' as const,
      currency: 'usd',
      tiers: [
        { up_to: '1000', unit_amount: '0.1' },
        { up_to: null, unit_amount: '0.05' },
      ],
    };
    const [line] = bill([usageItem('u', { price })], limit('1000'), [day('2026-02-10', 2500)]);
    expect(line!.amount).toBe('125.00');
  });

  it('a missing answer is a bug', () => {
    expect(() => linesOf(invoice([usageItem('u')]), () => undefined as never)).toThrow(/has no answer/);
  });
});
