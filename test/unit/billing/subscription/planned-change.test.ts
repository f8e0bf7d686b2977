import { expect, test } from 'vitest';
import { conflictsWith, isOvertaken, type PlannedChange } from '../../../../billing/subscription/planned-change.ts';

const periodStart = '2026-04-01T00:00:00.000Z';
const found = { quantity: '2', priceId: 'price_1', startDate: periodStart, endDate: null };
const quantities: PlannedChange = {
  kind: 'quantity',
  periodStart,
  effectiveAt: '2026-04-16T00:00:00.000Z',
  items: [{ lineItemId: 'one', copyId: 'copy', quantity: '5', found }],
};
const addon: PlannedChange = {
  kind: 'addon',
  periodStart,
  associationId: 'assoc',
  addonId: 'addon_1',
  behavior: 'create_prorations',
};

test.each([
  [quantities, 'all', true],
  [addon, 'all', true],
  [quantities, 'nothing', false],
  [quantities, { lineItemIds: ['two', 'one'] }, true],
  [quantities, { lineItemIds: ['two'] }, false],
  [quantities, { addonIds: ['addon_1'] }, false],
  [addon, { addonIds: ['addon_1'] }, true],
  [addon, { addonIds: ['addon_2'] }, false],
  [addon, { lineItemIds: ['one'] }, false],
] as const)('%j and a command on %j conflict: %s', (plan, touched, expected) => {
  expect(conflictsWith(plan, touched)).toBe(expected);
});

test.each([
  ['as it was', {}, {}, false],
  ['the same quantity, written otherwise', {}, { quantity: '2.0' }, false],
  ['paused', { status: 'paused' }, {}, true],
  ['in its next period', { periodStart: '2026-05-01T00:00:00.000Z' }, {}, true],
  ['of another quantity', {}, { quantity: '3' }, true],
  ['of another price', {}, { priceId: 'price_2' }, true],
  ['ending', {}, { endDate: '2026-04-20T00:00:00.000Z' }, true],
])('an order on what is %s', (_what, subscription, item, expected) => {
  const present = { status: 'active', periodStart, items: new Map([['one', { ...found, ...item }]]), ...subscription };
  expect(isOvertaken(quantities, present)).toBe(expected);
  expect(isOvertaken(addon, present)).toBe(Object.keys(subscription).length > 0);
});

test('an order on an item that is gone is overtaken', () => {
  expect(isOvertaken(quantities, { status: 'active', periodStart, items: new Map() })).toBe(true);
});
