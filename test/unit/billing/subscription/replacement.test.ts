import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { movedTerms, type OwnTerms, replacementTerms } from '../../../../billing/invoice/own-terms.ts';
import type { ChargeLine } from '../../../../billing/line/charge-input.ts';
import { decimal, zero } from '../../../../billing/money/money.ts';
import { creditMember, lessCredit } from '../../../../billing/subscription/replacement.ts';
import { flat, invoice, item, linesOf, usageItem } from '../line/charge-fixture.ts';

/** Lines of an opening invoice by their prices; usage lines are written `usage`. */
const opening = (amounts: readonly string[]): ChargeLine[] =>
  linesOf(
    invoice(
      amounts.map((amount, index) =>
        amount === 'usage' ? usageItem(`i${index}`) : item(`i${index}`, { price: flat(amount) }),
      ),
    ),
    () => '5',
  );
const amountsOf = (lines: readonly ChargeLine[]) => lines.map(({ amount }) => Number(amount));
const total = (lines: readonly ChargeLine[]) => lines.reduce((sum, { amount }) => sum.plus(amount), zero);

describe('the credit of the plan that was left (subscriptions-and-invoicing §2.9.2)', () => {
  it('reduces the fixed lines in their order, each not below zero', () => {
    const lines = opening(['10', '20', '30']);
    expect(amountsOf(lessCredit(lines, '25', 'usd'))).toEqual([0, 5, 30]);
    expect(amountsOf(lessCredit(lines, '60', 'usd'))).toEqual([0, 0, 0]);
  });

  it('leaves for the wallet what no line takes', () => {
    const lines = opening(['10', '20']);
    const reduced = lessCredit(lines, '100', 'usd');
    expect(amountsOf(reduced)).toEqual([0, 0]);
    expect(total(lines).minus(total(reduced)).toFixed()).toBe('30');
  });

  it('leaves lines of usage alone', () => {
    const lines = opening(['10', 'usage', '20']);
    const usage = lines.findIndex(({ priceType }) => priceType === 'USAGE');
    expect(usage).toBeGreaterThanOrEqual(0);
    const reduced = lessCredit(lines, '100', 'usd');
    expect(reduced[usage]).toEqual(lines[usage]);
    expect(reduced.filter(({ priceType }) => priceType === 'FIXED').every(({ amount }) => Number(amount) === 0)).toBe(
      true,
    );
  });

  it('of nothing changes nothing', () => {
    const lines = opening(['10', '20']);
    expect(lessCredit(lines, '0', 'usd')).toEqual(lines);
  });

  it('is on the metadata of each line it reduces, and on no other', () => {
    const [first, second] = lessCredit(opening(['10', '20']), '10', 'usd');
    expect(first!.metadata).toMatchObject({ [creditMember]: '10' });
    expect(second!.metadata ?? {}).not.toHaveProperty(creditMember);
  });

  it('is a part of each derivation, and whatever it is the parts add up to the line', () => {
    const cents = fc.integer({ min: 0, max: 100_000 }).map((value) => (value / 100).toFixed(2));
    fc.assert(
      fc.property(fc.array(cents, { minLength: 1, maxLength: 6 }), cents, (prices, credit) => {
        const lines = opening(prices);
        const reduced = lessCredit(lines, credit, 'usd');
        const taken = total(lines).minus(total(reduced));
        const all = total(lines).lessThan(credit) ? total(lines) : decimal(credit);
        expect(taken.toFixed()).toBe(all.toFixed());
        for (const { amount, derivation } of reduced) {
          expect(decimal(amount).isNegative() && !decimal(amount).isZero()).toBe(false);
          const parts = derivation.parts.reduce((sum, part) => sum.plus(part.amount), zero);
          expect(parts.equals(decimal(amount)), JSON.stringify(derivation.parts)).toBe(true);
          expect(decimal(derivation.amount).equals(decimal(amount))).toBe(true);
        }
      }),
    );
  });
});

describe('the terms of an invoice that takes the place of another (subscriptions-and-invoicing §2.15.8)', () => {
  const coupon = (id: string, lineId: string | null) =>
    ({ id, lineId }) as unknown as NonNullable<OwnTerms['coupons']>[0];
  const terms: OwnTerms = {
    coupons: [coupon('whole', null), coupon('line', 'old_1'), coupon('gone', 'old_9')],
    taxes: [],
    importedCredits: '5',
    invoiceNumber: 'INV-1',
  };
  const newIds = new Map([['old_1', 'new_1']]);

  it('are the same coupons, each on the line that took the place of its own', () => {
    expect(movedTerms(terms, newIds).coupons).toMatchObject([
      { lineId: null },
      { lineId: 'new_1' },
      { lineId: 'old_9' },
    ]);
    expect(movedTerms(terms, newIds)).toMatchObject({ importedCredits: '5', invoiceNumber: 'INV-1' });
  });

  it('are the same taxes, without credits and without the number', () => {
    const replaced = replacementTerms(terms, newIds);
    expect(replaced).toMatchObject({ taxes: [], importedCredits: null, invoiceNumber: null });
    expect(replaced!.coupons).toEqual(movedTerms(terms, newIds).coupons);
  });

  it('follow the subscription where the original did', () => {
    expect(replacementTerms(null, newIds)).toBeNull();
    expect(replacementTerms({ ...terms, coupons: null, taxes: null }, newIds)).toMatchObject({
      coupons: null,
      taxes: null,
    });
  });
});
