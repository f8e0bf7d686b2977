import { expect, test } from 'vitest';
import type { GrantConfiguration, MeterGrants } from '../../../../billing/allowance/grant.ts';
import { grantTenures } from '../../../../billing/line/grant-tenure.ts';

const at = (text: string) => new Date(text).toISOString();
const april = { start: at('2026-04-01'), end: at('2026-05-01') };
const changed = at('2026-04-11');

function grants(
  durationUnit: GrantConfiguration['durationUnit'],
  quotas: [string, string],
  measure = 'quantity',
): MeterGrants {
  const of = (entitlementId: string, quota: string): Pick<MeterGrants, 'mode' | 'measure' | 'configurations'> => ({
    mode: 'additive',
    measure: measure as MeterGrants['measure'],
    configurations: [
      {
        entitlementId,
        quota,
        measure: measure as MeterGrants['measure'],
        durationUnit,
        durationValue: null,
        allocation: 'first_usage',
      },
    ],
  });
  const [old, next] = [of('old', quotas[0]), of('new', quotas[1])];
  return {
    ...next,
    tenures: [
      { ...old, start: null, end: changed },
      { ...next, start: changed, end: null },
    ],
  };
}
const quotasOf = (of: ReturnType<typeof grantTenures>) => of.map(({ grants: held }) => held.configurations[0]?.quota);

test('without a change of plan the budgets are those of the billing period', () => {
  const { tenures: _, ...whole } = grants('day', ['10', '20']);
  expect(grantTenures(whole, april)).toEqual([{ grants: whole, cycle: april }]);
});

test('windows of each plan lie in its own time, with their whole quota', () => {
  const tenures = grantTenures(grants('day', ['10', '20']), april);
  expect(tenures.map(({ cycle }) => cycle)).toEqual([
    { start: april.start, end: changed },
    { start: changed, end: april.end },
  ]);
  expect(quotasOf(tenures)).toEqual(['10', '20']);
});

test('a budget of the whole period is shared out by time: units to whole ones, money to hundredths, never to nothing', () => {
  expect(quotasOf(grantTenures(grants('subscription_period', ['100', '200']), april))).toEqual(['33', '133']);
  expect(quotasOf(grantTenures(grants('subscription_period', ['10', '0.01'], 'amount'), april))).toEqual([
    '3.33',
    '0.01',
  ]);
  expect(quotasOf(grantTenures(grants('subscription_period', ['1', '3']), april))).toEqual(['0.333333333333333', '2']);
});

test('a period that is closed early shares as the whole one does', () => {
  const closed = { start: april.start, end: at('2026-04-21'), fullEnd: april.end };
  expect(quotasOf(grantTenures(grants('subscription_period', ['100', '200']), closed))).toEqual(['33', '133']);
  expect(grantTenures(grants('day', ['1', '2']), { ...closed, end: changed })).toHaveLength(1);
});
