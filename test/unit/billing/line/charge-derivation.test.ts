import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChargeItem, ChargeLine, ChargePlanInput } from '../../../../billing/line/charge.ts';
import { planCharges } from '../../../../billing/line/charge.ts';
import {
  currencyPrecision,
  decimal,
  decimalString,
  fractionOf,
  moneyString,
  roundToCurrency,
  sum,
} from '../../../../billing/money/money.ts';
import { decimals, prices } from '../arbitraries.ts';
import { at, flat, invoice, item, linesOf, meterOf, period, quarterly, usageItem } from './charge-fixture.ts';

/** Redoes a line's sum from its derivation alone, as a person with a calculator would. */
function redone(line: ChargeLine): string {
  const { parts, currency } = line.derivation;
  const amounts = parts.map((part) => {
    const cost = part.buckets
      ? sum(part.buckets.map((bucket) => decimal(bucket.cost)))
      : sum(part.steps.map((step) => decimal(step.quantity).times(step.unit_amount).plus(step.flat_amount)));
    expect(decimalString(cost)).toBe(part.cost);
    const share = part.proration;
    const exact = share ? fractionOf(cost, share.numeratorMs, share.denominatorMs) : cost;
    expect(part.rounding).toEqual({ precision: currencyPrecision(currency), mode: 'half_away_from_zero' });
    const amount = roundToCurrency(exact, currency);
    expect(moneyString(amount, currency)).toBe(part.amount);
    return amount;
  });
  return moneyString(sum(amounts), currency);
}

const cuts = fc
  .integer({ min: 1, max: 27 * 24 })
  .map((hours) => new Date(Date.parse(at('2026-02-01')) + hours * 3_600_000).toISOString());
const amounts = decimals(4, 4);

describe('derivation of a line (architecture §7)', () => {
  it('is enough to redo the amount: any price, cadence, part of a period, allowance and grouping', () => {
    const inputs = fc.record({
      price: prices,
      quantity: decimals(3, 2),
      starts: cuts,
      longer: fc.boolean(),
      grouped: fc.boolean(),
      limit: fc.option(fc.nat(100)),
      reset: fc.constantFrom('DAILY' as const, 'MONTHLY' as const, 'ANNUAL' as const, 'NEVER' as const, null),
      measured: fc.array(fc.tuple(cuts, fc.nat(50)), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(inputs, ({ price, quantity, starts, longer, grouped, limit, reset, measured }) => {
        const priced = { ...price, currency: 'usd' };
        const items: ChargeItem[] = [
          item('fee', { invoiceCadence: 'ARREAR', price: priced, quantity, startDate: starts }),
          usageItem('metered', { price: priced, startDate: starts }),
        ];
        const input: ChargePlanInput = invoice(items, {
          next: null,
          reason: 'last',
          allowances: limit === null ? {} : { meter: { usageLimit: String(limit), usageResetPeriod: reset } },
          ...(longer && {
            subscription: { ...quarterly, lineItemGrouping: grouped ? 'per_billing_period' : 'per_charge_period' },
            elapsed: period('2026-01-01', '2026-04-01'),
          }),
        });
        for (const line of linesOf(input, meterOf(measured.map(([instant, value]) => ({ at: instant, value }))))) {
          expect(redone(line)).toBe(line.amount);
          expect(decimalString(sum(line.derivation.parts.map((part) => decimal(part.quantity))))).toBe(line.quantity);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is plain JSON, like the plan it comes from', () => {
    const input = invoice([item('a', { startDate: at('2026-03-10') }), usageItem('u')], {
      allowances: { meter: { usageLimit: '1', usageResetPeriod: 'DAILY' } },
    });
    const planned = planCharges(input);
    expect(JSON.parse(JSON.stringify(planned))).toEqual(planned);
    const lines = linesOf(input, () => '3');
    expect(JSON.parse(JSON.stringify(lines))).toEqual(lines);
  });

  it('tells what was asked of the meter and how fresh the answer was', () => {
    const [line] = linesOf(invoice([usageItem('u')], { next: null, reason: 'last' }), () => ({
      quantity: '12.50',
      watermark: '42',
    }));
    expect(line!.derivation.parts[0]!.usage).toEqual({
      bucketing: null,
      meterId: 'meter',
      from: at('2026-02-01'),
      to: at('2026-03-01'),
      quantity: '12.5',
      watermark: '42',
    });
  });
});

describe('split and whole', () => {
  it('an item replaced within a period costs what one item would, before rounding', () => {
    fc.assert(
      fc.property(cuts, amounts, (cut, amount) => {
        const arrear = { invoiceCadence: 'ARREAR' as const, price: flat(amount) };
        const exact = (items: ChargeItem[]): string => {
          const parts = linesOf(invoice(items, { next: null, reason: 'last' })).flatMap(
            (line) => line.derivation.parts,
          );
          return decimalString(sum(parts.map((part) => decimal(part.exactAmount))).toDecimalPlaces(20));
        };
        const split = [item('old', { ...arrear, endDate: cut }), item('new', { ...arrear, startDate: cut })];
        expect(exact(split)).toBe(exact([item('whole', arrear)]));
      }),
    );
  });

  it('a folded line is the sum of its lines', () => {
    fc.assert(
      fc.property(amounts, decimals(2, 2), cuts, (amount, quantity, starts) => {
        const fee = item('fee', { invoiceCadence: 'ARREAR', price: flat(amount), quantity, startDate: starts });
        const lines = (lineItemGrouping: 'per_charge_period' | 'per_billing_period'): ChargeLine[] =>
          linesOf(
            invoice([fee], {
              subscription: { ...quarterly, lineItemGrouping },
              elapsed: period('2026-01-01', '2026-04-01'),
              next: null,
              reason: 'last',
            }),
          );
        const single = lines('per_charge_period');
        const [folded, ...more] = lines('per_billing_period');
        expect(more).toEqual([]);
        expect(folded!.amount).toBe(moneyString(sum(single.map((line) => decimal(line.amount))), 'usd'));
        expect(folded!.quantity).toBe(decimalString(sum(single.map((line) => decimal(line.quantity)))));
      }),
    );
  });

  it('usage of consecutive invoices tiles: every event is billed once, whatever the cut', () => {
    const events = fc.array(fc.tuple(cuts, fc.nat(20)), { maxLength: 10 });
    fc.assert(
      fc.property(events, cuts, fc.nat(60), (measured, cut, included) => {
        const meter = meterOf(measured.map(([instant, value]) => ({ at: instant, value })));
        const bill = (start: string, end: string): string => {
          const allowances = { meter: { usageLimit: String(included), usageResetPeriod: 'ANNUAL' as const } };
          const elapsed = { start, end, full: { start, end } };
          return linesOf(invoice([usageItem('u')], { allowances, elapsed, next: null, reason: 'last' }), meter)[0]!
            .quantity;
        };
        const parts = decimal(bill(at('2026-02-01'), cut)).plus(bill(cut, at('2026-03-01')));
        expect(decimalString(parts)).toBe(bill(at('2026-02-01'), at('2026-03-01')));
      }),
    );
  });
});
