import { describe, expect, it } from 'vitest';
import type { ChargeItem } from '../../../../billing/line/charge.ts';
import { changePlan, type PlanChangeInput } from '../../../../billing/subscription/plan-change.ts';
import { at, flat, item, monthly, period, usageItem } from '../line/charge-fixture.ts';

const startDate = at('2026-04-16');
const held = (own: ChargeItem, billed = '30') => ({ item: own, filters: null, billed, credited: '0' });
const offered = (own: ChargeItem, filters: Record<string, string[]> | null = null) => ({
  item: { ...own, startDate },
  filters,
});
const change = (members: Partial<PlanChangeInput>) =>
  changePlan({
    subscription: monthly,
    period: period('2026-04-01', '2026-05-01'),
    effectiveAt: startDate,
    behavior: 'create_prorations',
    present: [held(item('fee')), held(usageItem('calls'), '0')],
    offered: [offered(item('fee2', { price: flat('50') })), offered(usageItem('calls2', { price: flat('2') }))],
    charges: true,
    ...members,
  });
const ids = (items: readonly ChargeItem[]) => items.map(({ id }) => id);

describe('a change of plan', () => {
  it('ends the items of the old plan, begins those of the new one and settles the rest of the period once', () => {
    const result = change({});
    expect([ids(result.ended), ids(result.started), result.carried]).toEqual([
      ['fee', 'calls'],
      ['fee2', 'calls2'],
      [],
    ]);
    expect(result).toMatchObject({
      changeType: 'upgrade',
      proration: { credit: '15.00', charge: '25.00', net: '10.00' },
    });
  });

  it('carries what is identical in amount, model, cadence and meter, without a credit or a charge', () => {
    const result = change({ offered: [offered(usageItem('calls2')), offered(item('fee2', { price: flat('30.00') }))] });
    expect(result.carried.map(({ item: from, offered: to }) => [from.id, to.id])).toEqual([
      ['fee', 'fee2'],
      ['calls', 'calls2'],
    ]);
    expect(result).toMatchObject({ ended: [], started: [], changeType: 'lateral', proration: { lines: [] } });
  });

  it.each([
    ['another cadence', offered(item('x', { billingPeriod: 'QUARTERLY' }))],
    ['another invoice cadence', offered(item('x', { invoiceCadence: 'ARREAR' }))],
    ['another amount', offered(item('x', { price: flat('30.01') }))],
    [
      'another model',
      offered(item('x', { price: { ...flat('30'), billing_model: 'PACKAGE', transform_quantity: { divide_by: 1 } } })),
    ],
    ['other filters', offered(item('x'), { region: ['eu'] })],
  ])('does not carry to %s', (_name, other) => {
    const result = change({ present: [held(item('fee'))], offered: [other] });
    expect([ids(result.ended), ids(result.started)]).toEqual([['fee'], ['x']]);
  });

  it('carries two equal items to two, and a third ends', () => {
    const result = change({
      present: ['a', 'b', 'c'].map((id) => held(item(id))),
      offered: ['x', 'y'].map((id) => offered(item(id))),
    });
    expect([result.carried.length, ids(result.ended)]).toEqual([2, ['c']]);
  });

  it.each([
    ['upgrade', item('x', { price: flat('359'), billingPeriod: 'ANNUAL' }), item('y', { price: flat('30.01') })],
    ['downgrade', item('x'), item('y', { price: flat('80'), billingPeriod: 'QUARTERLY' })],
    ['lateral', item('x'), item('y', { price: flat('90'), billingPeriod: 'QUARTERLY' })],
    ['lateral', usageItem('x'), usageItem('y', { price: flat('9') })],
  ])('is an %s by its monthly fixed charges', (type, from, to) => {
    expect(change({ present: [held(from)], offered: [offered(to)] }).changeType).toBe(type);
  });

  it('settles nothing during a trial', () => {
    expect(change({ charges: false }).proration).toMatchObject({ lines: [], settlement: 'none' });
  });
});
