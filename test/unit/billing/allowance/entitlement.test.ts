import { describe, expect, it } from 'vitest';
import {
  aggregateEntitlement,
  type EntitlementPart,
  partsInForce,
  resetConflicts,
} from '../../../../billing/allowance/entitlement.ts';

const now = '2026-03-15T00:00:00.000Z';

function part(id: string, fields: Partial<EntitlementPart> = {}): EntitlementPart {
  return {
    id,
    subscriptionId: 'subs_1',
    entityType: 'PLAN',
    parentEntitlementId: null,
    isEnabled: true,
    isSoftLimit: false,
    usageLimit: null,
    usageResetPeriod: null,
    staticValue: null,
    configValue: null,
    startDate: null,
    endDate: null,
    ...fields,
  };
}

const addon = (id: string, fields: Partial<EntitlementPart> = {}) => part(id, { entityType: 'ADDON', ...fields });
const override = (id: string, parentEntitlementId: string, fields: Partial<EntitlementPart> = {}) =>
  part(id, { entityType: 'SUBSCRIPTION', parentEntitlementId, ...fields });

describe('partsInForce', () => {
  const ids = (parts: EntitlementPart[]) => partsInForce(parts, now).map(({ id }) => id);

  it('puts plan parts first and keeps the age of the others', () => {
    expect(ids([addon('a1'), override('s', 'unknown'), part('p'), addon('a2')])).toEqual(['p', 'a1', 's', 'a2']);
  });

  it('leaves out a part before its start and from its end on', () => {
    const parts = [
      part('starts now', { startDate: now }),
      part('starts later', { startDate: '2026-03-15T00:00:00.001Z' }),
      part('ends now', { endDate: now }),
      part('ends later', { endDate: '2026-03-15T00:00:00.001Z' }),
    ];
    expect(ids(parts)).toEqual(['starts now', 'ends later']);
  });

  it('puts an override in the place of its plan part, with the members it cannot override', () => {
    const plan = part('p', { usageLimit: '100', isSoftLimit: true, usageResetPeriod: 'DAILY' });
    const own = override('o', 'p', { usageLimit: '250', usageResetPeriod: 'ANNUAL' });
    expect(partsInForce([addon('a'), plan, own], now)).toEqual([
      { ...own, isSoftLimit: true, usageResetPeriod: 'DAILY' },
      addon('a'),
    ]);
  });

  it('takes from the plan part what an override does not set, whatever it has become', () => {
    const plan = part('p', { usageLimit: '100', isEnabled: true });
    const off = override('o', 'p', { usageLimit: '7', isEnabled: false, overriddenMembers: ['is_enabled'] });
    expect(partsInForce([plan, off], now)).toMatchObject([{ id: 'o', usageLimit: '100', isEnabled: false }]);
    const limited = override('o', 'p', { usageLimit: null, isEnabled: false, overriddenMembers: ['usage_limit'] });
    expect(partsInForce([plan, limited], now)).toMatchObject([{ id: 'o', usageLimit: null, isEnabled: true }]);
  });

  it('overrides the part of its own subscription only', () => {
    const other = part('p', { subscriptionId: 'subs_2' });
    expect(ids([part('p'), other, override('o', 'p')])).toEqual(['o', 'p']);
  });

  it('keeps the plan part while its override is not in force', () => {
    expect(ids([part('p'), override('o', 'p', { endDate: now })])).toEqual(['p']);
  });

  it('lets an override stand for itself when its plan part is not in force', () => {
    expect(ids([part('p', { endDate: now }), override('o', 'p')])).toEqual(['o']);
  });

  it('counts an add-on that is attached twice as two parts', () => {
    expect(ids([addon('a'), addon('a')])).toEqual(['a', 'a']);
  });
});

describe('aggregateEntitlement of a metered feature', () => {
  const aggregate = (parts: EntitlementPart[]) => aggregateEntitlement('metered', parts);

  it('adds limits up, beyond what a float keeps', () => {
    const parts = [part('p', { usageLimit: '9007199254740991' }), addon('a', { usageLimit: '2' })];
    expect(aggregate(parts).usageLimit).toBe('9007199254740993');
  });

  it('is unlimited when one enabled part is', () => {
    expect(aggregate([part('p', { usageLimit: '100' }), addon('a')]).usageLimit).toBeNull();
    const disabled = addon('a', { isEnabled: false });
    expect(aggregate([part('p', { usageLimit: '100' }), disabled]).usageLimit).toBe('100');
  });

  it('is soft when any enabled part is', () => {
    expect(aggregate([part('p'), addon('a', { isSoftLimit: true })]).isSoftLimit).toBe(true);
    expect(aggregate([part('p'), addon('a', { isSoftLimit: true, isEnabled: false })]).isSoftLimit).toBe(false);
  });

  it('takes the most frequent reset period, on a tie the first part of those', () => {
    const reset = (...periods: (string | null)[]) =>
      aggregate(periods.map((usageResetPeriod, index) => part(`${index}`, { usageResetPeriod }))).usageResetPeriod;
    expect(reset('MONTHLY', 'DAILY', 'DAILY')).toBe('DAILY');
    expect(reset('MONTHLY', 'DAILY')).toBe('MONTHLY');
    expect(reset('NEVER', 'DAILY', 'WEEKLY', 'DAILY', 'WEEKLY')).toBe('DAILY');
    expect(reset(null, 'DAILY', null)).toBeNull();
  });

  it('grants nothing without an enabled part', () => {
    const nothing = {
      isEnabled: false,
      usageLimit: '0',
      isSoftLimit: false,
      usageResetPeriod: null,
      staticValues: [],
      configValues: [],
    };
    expect(aggregate([])).toEqual(nothing);
    expect(aggregate([part('p', { isEnabled: false, usageLimit: '5', isSoftLimit: true })])).toEqual(nothing);
  });

  it('switches the plan part off with a disabled override', () => {
    const parts = partsInForce([part('p', { usageLimit: '5' }), override('o', 'p', { isEnabled: false })], now);
    expect(aggregate(parts)).toMatchObject({ isEnabled: false, usageLimit: '0' });
  });
});

describe('aggregateEntitlement of the other types', () => {
  it('enables a boolean feature when any part does', () => {
    const parts = [part('p', { isEnabled: false }), addon('a')];
    expect(aggregateEntitlement('boolean', parts)).toMatchObject({ isEnabled: true, usageLimit: null });
    expect(aggregateEntitlement('boolean', parts.slice(0, 1)).isEnabled).toBe(false);
  });

  it('lists each static value once, by its exact text', () => {
    const values = ['Gold', 'eu', 'gold', 'Gold', null];
    const parts = values.map((staticValue, index) => part(`${index}`, { staticValue }));
    expect(aggregateEntitlement('static', parts).staticValues).toEqual(['Gold', 'eu', 'gold']);
  });

  it('lists the config object of every part', () => {
    const parts = [part('p', { configValue: { seats: 1 } }), addon('a', { configValue: { seats: 1 } }), addon('b')];
    expect(aggregateEntitlement('config', parts).configValues).toEqual([{ seats: 1 }, { seats: 1 }]);
  });
});

describe('resetConflicts', () => {
  const sameAsBilling = (period: string) => period === 'MONTHLY';
  const of = (usageResetPeriod: string | null, endDate: string | null = null) => [
    { ...part('p', { usageResetPeriod, endDate }), featureId: 'calls' },
  ];
  it.each([
    ['the same period', of('DAILY'), 'DAILY', []],
    ['another period', of('DAILY'), 'NEVER', ['calls']],
    ['none against the billing period', of(null), 'MONTHLY', []],
    ['none against another', of(null), 'DAILY', ['calls']],
    ['a part that has ended', of('DAILY', now), 'NEVER', []],
  ])('%s', (_case, parts, usageResetPeriod, conflicts) => {
    const added = [{ featureId: 'calls', usageResetPeriod }];
    expect(resetConflicts(parts, added, { from: now, sameAsBilling })).toEqual(conflicts);
    expect(resetConflicts(parts, [{ featureId: 'other', usageResetPeriod }], { from: now, sameAsBilling })).toEqual([]);
  });
});
