import { describe, expect, it } from 'vitest';
import { type CouponLink, couponsOfInvoice, type DiscountableInvoice } from '../../../../billing/invoice/coupon.ts';

const february = { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' };
const inFebruary = { periodStart: february.start, periodEnd: february.end };
const anything = { minSubtotal: null, planIds: null, priceIds: null, customerIds: null };

function link(id: string, members: Partial<CouponLink> = {}): CouponLink {
  return {
    associationId: id,
    couponId: `coupon_${id}`,
    type: 'percentage',
    cadence: 'forever',
    amountOff: null,
    percentageOff: '10',
    currency: null,
    rules: anything,
    start: '2026-01-01T00:00:00.000Z',
    end: null,
    subscriptionLineItemId: null,
    usedBy: [],
    ...members,
  };
}

const invoice: DiscountableInvoice = {
  id: 'inv_1',
  invoiceType: 'SUBSCRIPTION',
  currency: 'usd',
  period: february,
  planId: 'plan_1',
  customerId: 'cust_1',
  lines: [
    { id: 'a', amount: '20', priceId: 'price_seat', subscriptionLineItemId: 'item_seat', ...inFebruary },
    { id: 'b', amount: '10.005', priceId: 'price_call', subscriptionLineItemId: 'item_call', ...inFebruary },
    { id: 'c', amount: '5', priceId: 'price_seat', subscriptionLineItemId: 'item_seat', ...inFebruary },
  ],
};

const given = (links: CouponLink[], changes: Partial<DiscountableInvoice> = {}) =>
  couponsOfInvoice(links, { ...invoice, ...changes }).map(({ id, lineId }) => [id, lineId]);

describe('the coupons of an invoice (subscriptions-and-invoicing §2.17)', () => {
  it('come by start, then by id', () => {
    const links = [link('b'), link('c', { start: '2025-12-01T00:00:00.000Z' }), link('a')];
    expect(given(links)).toEqual([
      ['c', null],
      ['a', null],
      ['b', null],
    ]);
  });

  it('are in force in the period of the invoice, the end included', () => {
    expect(given([link('a', { start: february.end })])).toEqual([]);
    expect(given([link('a', { end: february.start })])).toHaveLength(1);
    expect(given([link('a', { end: '2026-01-31T23:59:59.999Z' })])).toEqual([]);
  });

  it('cover the lines whose own time they are in force in, wherever those are invoiced', () => {
    const [seat, call, other] = invoice.lines;
    const inMarch = { periodStart: february.end, periodEnd: '2026-04-01T00:00:00.000Z' };
    const withMarch = { ...invoice, lines: [{ ...seat!, ...inMarch }, call!, { ...other!, ...inMarch }] };
    const covered = (members: Partial<CouponLink>) =>
      couponsOfInvoice([link('x', members)], withMarch).map(({ lineId, lineIds }) => lineIds ?? lineId);
    const untilMarch = { end: '2026-02-28T23:59:59.000Z' };
    expect(covered(untilMarch)).toEqual([['b']]);
    expect(covered({ start: '2026-03-15T00:00:00.000Z' })).toEqual([['a', 'c']]);
    expect(covered({})).toEqual([null]);
    expect(covered({ subscriptionLineItemId: 'item_seat', ...untilMarch })).toEqual([]);
    expect(covered({ subscriptionLineItemId: 'item_call', ...untilMarch })).toEqual(['b']);
    expect(covered({ cadence: 'once', ...untilMarch })).toEqual([null]);
    expect(covered({ rules: { ...anything, priceIds: ['price_seat'] }, ...untilMarch })).toEqual([]);
  });

  it('that are for once are consumed by another invoice, not by this one', () => {
    const once = { cadence: 'once' as const };
    expect(given([link('a', { ...once, usedBy: ['inv_0'] })])).toEqual([]);
    expect(given([link('a', { ...once, usedBy: ['inv_1'] })])).toHaveLength(1);
    expect(given([link('a', { usedBy: ['inv_0'] })])).toHaveLength(1);
  });

  it('that are fixed are in the currency of the invoice', () => {
    const fixed = { type: 'fixed' as const, amountOff: '5', percentageOff: null };
    expect(given([link('a', { ...fixed, currency: 'eur' })])).toEqual([]);
    expect(given([link('a', { ...fixed, currency: 'usd' })])).toHaveLength(1);
  });

  it('of a line item discount each of its lines', () => {
    expect(given([link('a', { subscriptionLineItemId: 'item_seat' })])).toEqual([
      ['a', 'a'],
      ['a', 'c'],
    ]);
    expect(given([link('a', { subscriptionLineItemId: 'item_other' })])).toEqual([]);
  });

  it('leave the one-off invoice of a change in mid-period alone', () => {
    expect(given([link('a')], { invoiceType: 'ONE_OFF' })).toEqual([]);
  });
});

describe('rules (subscriptions-and-invoicing §2.17.4)', () => {
  const ruled = (rules: Partial<CouponLink['rules']>, members: Partial<CouponLink> = {}) =>
    given([link('a', { rules: { ...anything, ...rules }, ...members })]).length > 0;

  it('compare the subtotal of rounded lines', () => {
    expect(ruled({ minSubtotal: '35.01' })).toBe(true);
    expect(ruled({ minSubtotal: '35.02' })).toBe(false);
  });

  it('name plans, customers and prices', () => {
    expect([ruled({ planIds: ['plan_1'] }), ruled({ planIds: ['plan_2'] }), ruled({ planIds: [] })]).toEqual([
      true,
      false,
      false,
    ]);
    expect([ruled({ customerIds: ['cust_1'] }), ruled({ customerIds: ['cust_2'] })]).toEqual([true, false]);
    expect([ruled({ priceIds: ['price_call'] }), ruled({ priceIds: ['price_x'] })]).toEqual([true, false]);
    expect(ruled({ priceIds: ['price_call'] }, { subscriptionLineItemId: 'item_seat' })).toBe(false);
  });
});
