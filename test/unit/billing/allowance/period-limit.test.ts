import { describe, expect, it, test } from 'vitest';
import { limitOfPart, limitOfShares, limitPeriodOf, limitShares } from '../../../../billing/allowance/period-limit.ts';
import {
  type LimitTimeline,
  type MeteredPart,
  periodTerms,
  termsOfPeriod,
} from '../../../../billing/line/period-allowance.ts';
import { shownParts } from '../../../../billing/line/shown-limit.ts';

const at = (text: string) => new Date(text).toISOString();
const period = (start: string, end: string, fullStart = start) => ({
  start: at(start),
  end: at(end),
  full: { start: at(fullStart), end: at(end) },
});

describe('limit of a first calendar period (subscriptions-and-invoicing §2.3.6)', () => {
  const cut = period('2026-03-17', '2026-04-01', '2026-03-01');

  it.each([
    ['31', '15'],
    ['1', '0'],
    ['0', '0'],
    [null, null],
  ])('%s becomes %s', (whole, part) => {
    expect(limitOfPart(whole, cut)).toBe(part);
  });

  it('a full period keeps it', () => {
    expect(limitOfPart('31.5', period('2026-03-01', '2026-04-01'))).toBe('31.5');
  });
});

const timeline: LimitTimeline = {
  startDate: at('2026-01-01'),
  trialEnd: null,
  billingAnchor: at('2026-01-01'),
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  timezone: 'UTC',
  prorationBehavior: 'create_prorations',
};
const changed = at('2026-04-11');

test('terms of a plan are those of a period: in a first calendar period its share of the limit', () => {
  const calendar = {
    ...timeline,
    startDate: at('2026-04-16'),
    billingAnchor: at('2026-05-01'),
    billingCycle: 'calendar' as const,
  };
  const terms = { allowances: { meter_1: { usageLimit: '100', usageResetPeriod: null } }, grants: {} };
  const { shared } = termsOfPeriod(terms, calendar, at('2026-04-16')).allowances.meter_1!;
  expect(limitOfShares(limitShares(shared!.portions, shared!.period))).toBe('50');
  expect(termsOfPeriod(terms, calendar, at('2026-05-01'))).toBe(terms);
  expect(termsOfPeriod(terms, { ...calendar, prorationBehavior: 'none' }, at('2026-04-16'))).toBe(terms);
});

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
    timeline,
    ...fields,
  };
}
const left = (fields: Partial<MeteredPart> = {}, end = changed) =>
  part('old', { tenure: { start: null, end }, ...fields });
const held = (fields: Partial<MeteredPart> = {}, start = changed) =>
  part('new', { tenure: { start, end: null }, usageLimit: '200', ...fields });

/** The limit of April as it is billed, and as it is shown on its 20th. */
function april(...parts: MeteredPart[]) {
  const { shared, usageLimit } = periodTerms(parts, at('2026-05-01')).allowances.meter_1 ?? {};
  const billed = shared ? limitOfShares(limitShares(shared.portions, shared.period)) : usageLimit;
  const shown = shownParts(parts, at('2026-04-20')).map(({ usageLimit: limit }) => limit);
  return { billed, shown };
}

describe('limit of a period with a change of plan (subscriptions-and-invoicing §2.3.6)', () => {
  test('the old limit for the used share and the new one for the rest, each rounded half up', () => {
    expect(april(left(), held())).toEqual({ billed: '166', shown: ['33', '133'] });
    expect(april(left({ usageLimit: '1' }), held({ usageLimit: '1' }))).toEqual({ billed: '1', shown: ['0', '1'] });
    expect(april(left({}, at('2026-04-16')), held({ usageLimit: '5' }, at('2026-04-16'))).shown).toEqual(['50', '3']);
  });

  test('each of two changes counts for its time', () => {
    const [first, second] = [at('2026-04-07'), at('2026-04-16')];
    const middle = part('middle', { tenure: { start: first, end: second }, usageLimit: '1000' });
    expect(april(left({}, first), middle, held({}, second))).toEqual({ billed: '420', shown: ['20', '300', '100'] });
  });

  test('unlimited before or after is unlimited for the period; nothing before or after counts as nothing', () => {
    expect(april(left({ usageLimit: null }), held()).billed).toBeNull();
    expect(april(left(), held({ usageLimit: null })).billed).toBeNull();
    expect(april(left())).toEqual({ billed: '33', shown: ['33'] });
    expect(april(held())).toEqual({ billed: '133', shown: ['133'] });
  });

  test('a change at the boundary leaves the period before it to the old plan, and the next to the new one', () => {
    const [old, next] = [left({}, at('2026-05-01')), held({}, at('2026-05-01'))];
    expect(april(old, next)).toEqual({ billed: '100', shown: ['100'] });
    const may = periodTerms([old, next], at('2026-06-01')).allowances.meter_1!;
    expect(limitOfShares(limitShares(may.shared!.portions, may.shared!.period))).toBe('200');
    expect(shownParts([old, next], at('2026-05-01')).map(({ id }) => id)).toEqual(['new']);
    expect(periodTerms([old], at('2026-06-01')).allowances).toEqual({});
  });

  test('an override goes with the plan it is of, and add-ons stay whole', () => {
    const override = part('own', { entityType: 'SUBSCRIPTION', parentEntitlementId: 'old', usageLimit: '300' });
    const addon = part('addon', { entityType: 'ADDON', usageLimit: '7' });
    expect(april(left(), held(), override, addon)).toEqual({ billed: '240', shown: ['133', '100', '7'] });
    const [later] = shownParts([left(), held(), override], at('2026-05-20'));
    expect(later).toMatchObject({ id: 'new', usageLimit: '200' });
  });

  test('a reset window inside the period counts by itself, and one that never ends by the plan in force', () => {
    const daily = { usageResetPeriod: 'DAILY' };
    const { shared } = periodTerms([left(daily), held(daily)], at('2026-05-01')).allowances.meter_1!;
    const of = (start: string, end: string) => {
      const window = { start: at(start), end: at(end) };
      const charge = { period: shared!.period, relation: 'equal' as const, cadence: timeline };
      return limitOfShares(
        limitShares(shared!.portions, limitPeriodOf(window, { usageResetPeriod: 'DAILY' }, charge)!),
      );
    };
    expect([of('2026-04-10', '2026-04-11'), of('2026-04-11', '2026-04-12')]).toEqual(['100', '200']);
    expect(shownParts([left(daily), held(daily)], at('2026-04-20')).map(({ id }) => id)).toEqual(['new']);
    const never = { usageResetPeriod: 'NEVER' };
    expect(shownParts([left(never), held(never)], at('2026-04-20'))).toMatchObject([{ id: 'new', usageLimit: '200' }]);
  });

  test('where the rhythm is another one, the new limit stands for the whole period', () => {
    expect(april(left({ usageResetPeriod: 'DAILY' }), held())).toEqual({ billed: '200', shown: ['200'] });
  });

  test('a limit that is written as resetting in the billing period is the same rhythm', () => {
    expect(april(left({ usageResetPeriod: 'MONTHLY' }), held()).billed).toBe('166');
  });
});

describe('budgets across a change of plan (catalogue-and-metering §9.2)', () => {
  const budget = (durationUnit: 'day' | 'subscription_period', quota: string) => ({
    grant: {
      measure: 'quantity' as const,
      quota,
      durationUnit,
      durationValue: durationUnit === 'day' ? 1 : null,
      allocation: 'first_usage' as const,
    },
  });
  const grants = (...parts: MeteredPart[]) => periodTerms(parts, at('2026-05-01')).grants.meter_1;

  test('each plan has its own for its time', () => {
    expect(grants(left(budget('day', '10')), held(budget('day', '20')))).toMatchObject({
      configurations: [{ entitlementId: 'new', quota: '20' }],
      tenures: [
        { start: null, end: changed, configurations: [{ entitlementId: 'old', quota: '10' }] },
        { start: changed, end: null, configurations: [{ entitlementId: 'new', quota: '20' }] },
      ],
    });
  });

  test('of another kind than before, the new ones stand for the whole period', () => {
    expect(grants(left(), held(budget('day', '20')))?.tenures).toBeUndefined();
    expect(grants(left(budget('day', '10')), held())).toBeUndefined();
    expect(april(left(budget('day', '10')), held()).billed).toBe('200');
  });
});
