import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GrantConfiguration } from '../../../../billing/allowance/grant.ts';
import {
  type GrantQuestion,
  grantFolding,
  type MeteredEvent,
  meteredValue,
} from '../../../../billing/allowance/grant-usage.ts';
import { fromMicrosecond, grantWindows, toMicrosecond } from '../../../../billing/allowance/grant-window.ts';
import { type Decimal, decimal, decimalString, greatest, sum, zero } from '../../../../billing/money/money.ts';
import { earlier, type Interval, later } from '../../../../billing/time/calendar.ts';

const cycles = [
  { start: '2026-02-27T05:00:00.000Z', end: '2026-03-27T05:00:00.000Z' },
  { start: '2026-03-27T05:00:00.000Z', end: '2026-04-27T05:00:00.000Z' },
];
const start = Date.parse(cycles[0]!.start);
const minutes = (Date.parse(cycles[1]!.end) - start) / 60_000;

const anyEvents = fc
  .array(
    fc.record({
      minute: fc.integer({ min: -60, max: minutes + 60 }),
      value: fc.constantFrom('-3', '-0.5', '0', '0.000000000000001', '1', '2.25', '9'),
      isOwn: fc.boolean(),
    }),
    { maxLength: 80 },
  )
  .map((list) =>
    list
      .sort((a, b) => a.minute - b.minute)
      .map(({ minute, ...event }, index): MeteredEvent => {
        const at = toMicrosecond(new Date(start + minute * 60_000).toISOString());
        return { ...event, at, id: String(index).padStart(3, '0') };
      }),
  );

const anyConfiguration = fc.record({
  quota: fc.constantFrom('0.5', '1', '2.5', '10'),
  durationUnit: fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'subscription_period' as const),
  durationValue: fc.integer({ min: 1, max: 30 }),
  allocation: fc.constantFrom('first_usage' as const, 'unit_start' as const),
});
const anyQuestion = fc
  .record({
    measure: fc.constantFrom('quantity' as const, 'amount' as const),
    configurations: fc.array(anyConfiguration, { minLength: 1, maxLength: 3 }),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
    billed: fc.tuple(fc.integer({ min: 0, max: minutes }), fc.integer({ min: 0, max: minutes })),
  })
  .map(({ measure, configurations, timezone, billed }): GrantQuestion => {
    const [from, to] = billed.sort((a, b) => a - b).map((minute) => new Date(start + minute * 60_000).toISOString());
    const named = configurations.map(
      (one, index): GrantConfiguration => ({ ...one, measure, entitlementId: `ent_${index}` }),
    );
    const grants = { mode: 'parallel' as const, measure, configurations: named };
    return {
      tenures: cycles.map((cycle) => ({ grants, cycle })),
      billed: { start: from!, end: to! },
      timezone,
      costOf: (units) => units.times('0.3'),
    };
  });

/** The text read literally, with all events at hand: windows first, then every event with what came before it in its window. */
function measuredWhole(asked: GrantQuestion, events: readonly MeteredEvent[], multiplier: string | null) {
  const within = ({ at }: MeteredEvent, span: Interval) =>
    at >= toMicrosecond(span.start) && at < toMicrosecond(span.end);
  return asked.tenures.map(({ grants, cycle }) => {
    const inCycle = events.filter((event) => within(event, cycle));
    const billed = { start: later(asked.billed.start, cycle.start), end: earlier(asked.billed.end, cycle.end) };
    const windows = grants.configurations.flatMap((configuration) => {
      const sequence = grantWindows(configuration, cycle, asked.timezone);
      for (const { at } of inCycle) sequence.meet(at);
      return sequence.opened.map((window) => ({ ...window, configuration }));
    });
    const usageOf = (some: readonly MeteredEvent[]): Decimal => {
      const units = meteredValue(sum(some.map(({ value }) => decimal(value))), multiplier);
      return grants.measure === 'amount' ? asked.costOf(units) : units;
    };
    const over = (quota: string, usage: Decimal) => greatest(usage.minus(quota), zero);
    const growths = inCycle.map((event, position) => {
      const holding = windows.filter((window) => window.start <= event.at && event.at < window.end);
      const grown = holding.map((window) => {
        const before = inCycle.slice(0, position).filter((one) => within(one, window));
        const { quota } = window.configuration;
        return over(quota, usageOf([...before, event])).minus(over(quota, usageOf(before)));
      });
      return event.isOwn && within(event, billed) && grown.length > 0 ? grown.reduce(greatest) : zero;
    });
    return {
      grants,
      cycle,
      billable: decimalString(greatest(sum(growths), zero)),
      windows: windows.map(({ start: opens, end, configuration: { entitlementId, quota } }) => {
        const held = inCycle.filter((one) => within(one, { start: opens, end }));
        const reached = held.map((_, index) => usageOf(held.slice(0, index + 1)).gte(quota));
        const crossing = reached.lastIndexOf(false) + 1;
        return {
          entitlementId,
          start: fromMicrosecond(opens),
          end: fromMicrosecond(end),
          quota,
          usage: decimalString(usageOf(held)),
          overage: decimalString(over(quota, usageOf(held))),
          crossedAt: held[crossing] ? fromMicrosecond(held[crossing].at) : null,
        };
      }),
    };
  });
}

test('events that pass one by one are measured as they are when all are at hand', () => {
  fc.assert(
    fc.property(anyEvents, anyQuestion, fc.constantFrom(null, '0.1', '3'), (events, asked, multiplier) => {
      const fold = grantFolding(asked)(multiplier);
      for (const event of events) fold.add(event);
      const { cycles: measured, ownUsage } = fold.measured();
      const told = measured.map(({ billable, ...cycle }) => ({ ...cycle, billable: decimalString(billable) }));
      expect(told).toEqual(measuredWhole(asked, events, multiplier));
      const own = events.filter(
        ({ at, isOwn }) => isOwn && at >= toMicrosecond(asked.billed.start) && at < toMicrosecond(asked.billed.end),
      );
      const added = sum(own.map(({ value }) => decimal(value)));
      expect(decimalString(ownUsage)).toBe(decimalString(meteredValue(added, multiplier)));
    }),
  );
});

const dense = fc
  .array(
    fc.record({
      minute: fc.integer({ min: 0, max: 6 * 24 * 60 }),
      value: fc.constantFrom('-3', '0', '0.000000000000001', '1', '1', '2.25', '2.25', '9'),
    }),
    { minLength: 40, maxLength: 120 },
  )
  .map((list) =>
    list
      .sort((a, b) => a.minute - b.minute)
      .map(({ minute, value }, index): MeteredEvent => {
        const at = toMicrosecond(new Date(start + minute * 60_000).toISOString());
        return { at, value, isOwn: true, id: String(index).padStart(3, '0') };
      }),
  );

test('events that are added by the hour are measured as they are one by one', () => {
  let together = 0;
  fc.assert(
    fc.property(
      dense,
      anyQuestion,
      fc.constantFrom(null, '0.1', '3'),
      fc.constantFrom('1', '40', '300'),
      (events, asked, multiplier, scale) => {
        for (const { grants } of asked.tenures)
          for (const configuration of grants.configurations)
            configuration.quota = decimalString(decimal(configuration.quota).times(scale));
        const [single, hourly] = [grantFolding(asked)(multiplier), grantFolding(asked)(multiplier)];
        for (const event of events) single.add(event);
        for (const [hour, held] of Map.groupBy(events, ({ at }) => at.slice(0, 13))) {
          const opens = `${hour}:00:00.000Z`;
          const values = held.map(({ value }) => decimal(value));
          const stretch = {
            start: toMicrosecond(opens),
            end: toMicrosecond(new Date(Date.parse(opens) + 3_600_000).toISOString()),
            sum: decimalString(sum(values)),
            least: decimalString(values.reduce((a, b) => (a.lt(b) ? a : b))),
          };
          if (hourly.addTogether(stretch)) together += 1;
          else for (const event of held) hourly.add(event);
        }
        expect(JSON.stringify(hourly.measured())).toBe(JSON.stringify(single.measured()));
      },
    ),
    { numRuns: 60 },
  );
  expect(together).toBeGreaterThan(0);
});
