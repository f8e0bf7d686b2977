import { expect, it } from 'vitest';
import { type MeteredPart, periodTerms } from '../../../../billing/line/period-allowance.ts';

const end = '2026-05-01T00:00:00.000Z';

function part(id: string, fields: Partial<MeteredPart> = {}): MeteredPart {
  return {
    id,
    subscriptionId: 'subs_1',
    entityType: 'PLAN',
    parentEntitlementId: null,
    isEnabled: true,
    isSoftLimit: false,
    usageLimit: '100',
    usageResetPeriod: null,
    staticValue: null,
    configValue: null,
    startDate: null,
    endDate: null,
    meterId: 'meter_1',
    ...fields,
  };
}

const limitOf = (...parts: MeteredPart[]) => periodTerms(parts, end).allowances.meter_1?.usageLimit;

it('adds up the parts of a meter, and keeps meters apart', () => {
  const parts = [part('p'), part('a', { entityType: 'ADDON', usageLimit: '25' }), part('b', { meterId: 'meter_2' })];
  expect(periodTerms(parts, end).allowances).toEqual({
    meter_1: { usageLimit: '125', usageResetPeriod: null },
    meter_2: { usageLimit: '100', usageResetPeriod: null },
  });
});

it('counts what is in force when the period ends', () => {
  expect(limitOf(part('p'), part('a', { usageLimit: '25', endDate: end }))).toBe('125');
  expect(limitOf(part('p'), part('a', { usageLimit: '25', endDate: '2026-04-30T23:59:59.999Z' }))).toBe('100');
  expect(limitOf(part('p'), part('a', { usageLimit: '25', startDate: '2026-04-30T00:00:00.000Z' }))).toBe('125');
  expect(limitOf(part('p'), part('a', { usageLimit: '25', startDate: end }))).toBe('100');
});

it('lets an override decide, and leaves a meter without an enabled part to be billed whole', () => {
  const override = { entityType: 'SUBSCRIPTION', parentEntitlementId: 'p' } as const;
  expect(limitOf(part('p'), part('o', { ...override, usageLimit: '7' }))).toBe('7');
  expect(limitOf(part('p'), part('o', { ...override, isEnabled: false }))).toBeUndefined();
  expect(limitOf(part('p', { isEnabled: false }))).toBeUndefined();
  expect(limitOf(part('p'), part('a', { usageLimit: null }))).toBeNull();
});
