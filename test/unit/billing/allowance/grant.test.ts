import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  type GrantConfiguration,
  type GrantingPart,
  type MeterGrants,
  meterGrants,
} from '../../../../billing/allowance/grant.ts';
import { type GrantQuestion, grantFolding, type MeteredEvent } from '../../../../billing/allowance/grant-usage.ts';
import { grantWindows, toMicrosecond } from '../../../../billing/allowance/grant-window.ts';
import { decimal, decimalString, greatest, sum, zero } from '../../../../billing/money/money.ts';

const april = { start: '2026-04-01T00:00:00.000Z', end: '2026-05-01T00:00:00.000Z' };
const hourly: GrantConfiguration = {
  entitlementId: 'ent_1',
  measure: 'quantity',
  quota: '10',
  durationUnit: 'hour',
  durationValue: 5,
  allocation: 'first_usage',
};
const wholePeriod: GrantConfiguration = { ...hourly, durationUnit: 'subscription_period', durationValue: null };

const event = (at: string, value = '1', id = at): MeteredEvent => ({ at: toMicrosecond(at), id, value, isOwn: true });
const grants = (...configurations: GrantConfiguration[]): MeterGrants => ({
  mode: configurations.length > 1 ? 'parallel' : 'additive',
  measure: configurations[0]!.measure,
  configurations,
});
const question = (...configurations: GrantConfiguration[]): GrantQuestion => ({
  tenures: [{ grants: grants(...configurations), cycle: april }],
  billed: april,
  timezone: 'UTC',
  costOf: (quantity) => quantity.times('0.5'),
});
const windowsAt = (grant: Partial<GrantConfiguration>, timezone: string, ...instants: string[]) => {
  const windows = grantWindows({ ...hourly, ...grant }, april, timezone);
  for (const instant of instants) windows.meet(toMicrosecond(instant));
  return windows.opened.map(({ start, end }) => [start, end]);
};
const measureGrants = (asked: GrantQuestion, events: readonly MeteredEvent[], billed = asked.billed) => {
  const fold = grantFolding({ ...asked, billed })(null);
  for (const one of events) fold.add(one);
  return fold.measured().cycles[0]!;
};

describe('windows', () => {
  it('of a whole period are there without usage; the others are opened by it', () => {
    expect(windowsAt({ durationUnit: 'subscription_period' }, 'UTC')).toHaveLength(1);
    expect(windowsAt({}, 'UTC')).toEqual([]);
  });

  it('begin at the microsecond of the event, and the next event at their very end opens another', () => {
    expect(windowsAt({}, 'UTC', '2026-04-03T01:02:03.000004Z', '2026-04-03T06:02:03.000004Z')).toEqual([
      ['2026-04-03T01:02:03.000004Z', '2026-04-03T06:02:03.000004Z'],
      ['2026-04-03T06:02:03.000004Z', '2026-04-03T11:02:03.000004Z'],
    ]);
  });

  it('step by local midnights and last their elapsed length, so that a day of 25 hours needs two', () => {
    const cycle = { start: '2026-10-20T00:00:00.000Z', end: '2026-11-20T00:00:00.000Z' };
    const day = { ...hourly, durationUnit: 'day' as const, durationValue: 1, allocation: 'unit_start' as const };
    const windows = grantWindows(day, cycle, 'Europe/Berlin');
    windows.meet(toMicrosecond('2026-10-25T22:30:00Z'));
    expect(windows.opened).toEqual([
      { start: '2026-10-24T22:00:00.000000Z', end: '2026-10-25T22:00:00.000000Z' },
      { start: '2026-10-25T22:00:00.000000Z', end: '2026-10-26T22:00:00.000000Z' },
    ]);
  });

  it('reach the end of the period where less than an hour would remain, and only then', () => {
    expect(windowsAt({}, 'UTC', '2026-04-30T18:00:00Z')[0]?.[1]).toBe('2026-04-30T23:00:00.000000Z');
    expect(windowsAt({}, 'UTC', '2026-04-30T18:00:00.000001Z')[0]?.[1]).toBe('2026-05-01T00:00:00.000000Z');
  });

  it('of a length that is not shorter than the period are one, under both behaviours', () => {
    const at = '2026-04-07T12:00:00Z';
    const whole = [[toMicrosecond(at), '2026-05-01T00:00:00.000000Z']];
    for (const allocation of ['first_usage', 'unit_start'] as const) {
      expect(windowsAt({ durationUnit: 'day', durationValue: 30, allocation }, 'UTC', at)).toEqual(whole);
      expect(windowsAt({ durationUnit: 'week', durationValue: 2_147_483_647, allocation }, 'UTC', at)).toEqual(whole);
    }
  });
});

describe('measuring', () => {
  it('tells the crossing at the event that reached the quota, also when a late event reached it first', () => {
    const late = event('2026-04-02T01:00:00Z', '6');
    const [first] = measureGrants(question(hourly), [
      event('2026-04-02T00:30:00Z', '4'),
      late,
      event('2026-04-02T02:00:00Z'),
    ]).windows;
    expect(first).toMatchObject({ usage: '11', overage: '1', crossedAt: '2026-04-02T01:00:00.000Z' });
  });

  it('opens a budget again for a correction below the quota, and crosses anew', () => {
    const at = (hour: number, value: string) => event(`2026-04-02T0${hour}:00:00Z`, value);
    const crossed = (...events: MeteredEvent[]) => measureGrants(question(hourly), events).windows[0];
    expect(crossed(at(0, '12'), at(1, '-5'))).toMatchObject({ usage: '7', overage: '0', crossedAt: null });
    expect(crossed(at(0, '12'), at(1, '-5'), at(2, '3'))).toMatchObject({ crossedAt: '2026-04-02T02:00:00.000Z' });
  });

  it('of money compares the price of the usage with the quota and bills the rest unrounded', () => {
    const money = { ...wholePeriod, measure: 'amount' as const, quota: '2.25' };
    const { windows, billable } = measureGrants(question(money), [event('2026-04-02T00:00:00Z', '5')]);
    expect(windows[0]).toMatchObject({ quota: '2.25', usage: '2.5', overage: '0.25' });
    expect(decimalString(billable)).toBe('0.25');
  });

  it('bills a line for its own events in its own time, of windows that all events open', () => {
    const own = event('2026-04-02T02:00:00Z', '8');
    const events = [{ ...event('2026-04-02T00:00:00Z', '9'), isOwn: false }, own, event('2026-04-03T00:00:00Z', '30')];
    const untilThird = { start: april.start, end: '2026-04-03T00:00:00.000Z' };
    expect(decimalString(measureGrants(question(hourly), events, untilThird).billable)).toBe('7');
    expect(decimalString(measureGrants(question(hourly), events).billable)).toBe('27');
  });
});

describe('the budgets of a meter', () => {
  const part = (id: string, fields: Partial<GrantingPart> = {}): GrantingPart => {
    const { entitlementId: _, ...grant } = hourly;
    return { id, isEnabled: true, grant, ...fields };
  };

  it('of additive parts are one, with the summed quota on the lowest id', () => {
    expect(meterGrants([part('ent_b'), part('ent_a'), part('ent_b')])).toEqual({
      mode: 'additive',
      measure: 'quantity',
      configurations: [{ ...hourly, entitlementId: 'ent_a', quota: '30' }],
    });
  });

  it('of parallel parts stand beside each other, each once', () => {
    const parallel = { aggregationMode: 'parallel' };
    const made = meterGrants([part('ent_b', parallel), part('ent_a', parallel), part('ent_b', parallel)]);
    expect(made?.configurations.map(({ entitlementId }) => entitlementId)).toEqual(['ent_b', 'ent_a']);
  });

  it('are none where every part is disabled or has only a limit', () => {
    expect(meterGrants([part('ent_a', { isEnabled: false }), part('ent_b', { grant: null })])).toBeNull();
  });
});

const anyEvents = fc
  .array(fc.record({ minute: fc.integer({ min: 0, max: 30 * 24 * 60 - 1 }), value: fc.integer({ min: -3, max: 9 }) }), {
    maxLength: 60,
  })
  .map((list) =>
    list
      .sort((a, b) => a.minute - b.minute)
      .map(({ minute, value }, index) => {
        const at = new Date(Date.parse(april.start) + minute * 60_000).toISOString();
        return event(at, String(value), String(index).padStart(3, '0'));
      }),
  );
const anyGrant = fc.record({
  quota: fc.constantFrom('1', '2.5', '10'),
  durationUnit: fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'subscription_period' as const),
  durationValue: fc.integer({ min: 1, max: 30 }),
  allocation: fc.constantFrom('first_usage' as const, 'unit_start' as const),
});

test('every event is in one window of each budget, windows never overlap, and their usage is all usage', () => {
  fc.assert(
    fc.property(
      anyEvents,
      anyGrant,
      fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
      (events, grant, timezone) => {
        const asked = { ...question({ ...hourly, ...grant }), timezone };
        const { windows, billable } = measureGrants(asked, events);
        const bounds = windows.map(({ start, end }) => [toMicrosecond(start), toMicrosecond(end)] as const);
        for (const [index, [start, end]] of bounds.entries()) {
          expect(start < end && end <= toMicrosecond(april.end)).toBe(true);
          if (index > 0) expect(bounds[index - 1]![1] <= start).toBe(true);
        }
        const holding = ({ at }: MeteredEvent) => bounds.filter(([start, end]) => start <= at && at < end).length;
        expect(events.every((one) => holding(one) === 1)).toBe(true);
        expect(decimalString(billable)).toBe(decimalString(sum(windows.map(({ overage }) => decimal(overage)))));
      },
    ),
  );
});

test('parallel budgets bill at least the largest overage and at most their sum, and a split bills what the whole does', () => {
  const positive = anyEvents.map((events) => events.map((one) => ({ ...one, value: one.value.replace('-', '') })));
  fc.assert(
    fc.property(positive, fc.array(anyGrant, { minLength: 2, maxLength: 3 }), (events, configured) => {
      const asked = question(
        ...configured.map((grant, index) => ({ ...hourly, ...grant, entitlementId: `ent_${index}` })),
      );
      const { windows, billable } = measureGrants(asked, events);
      const overages = [...Map.groupBy(windows, ({ entitlementId }) => entitlementId).values()].map((own) =>
        sum(own.map(({ overage }) => decimal(overage))),
      );
      const most = overages.reduce(greatest, zero);
      expect(billable.gte(most) && billable.lte(sum(overages))).toBe(true);
      const middle = '2026-04-16T00:00:00.000Z';
      const parts = [
        { start: april.start, end: middle },
        { start: middle, end: april.end },
      ].map((part) => measureGrants(asked, events, part).billable);
      expect(decimalString(sum(parts))).toBe(decimalString(billable));
    }),
  );
});
