import { expect, test } from 'vitest';
import { newMeter } from '../../support/metering.ts';
import type { SuiteEngine } from './engine.ts';

const at = (day: number, time = '12:00:00') => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

/** How an engine adds up: aggregations, filters, expressions, buckets, windows and zones. spec: catalogue-and-metering §5, §7 */
export function aggregatesSuite(engine: SuiteEngine): void {
  const { database, scope } = engine;
  let number = 0;
  const newName = () => {
    number += 1;
    return `event ${number}`;
  };
  const meterOf = (
    aggregation: Parameters<typeof newMeter>[2],
    options: NonNullable<Parameters<typeof newMeter>[3]> & { eventName: string },
  ) => newMeter(database, scope, aggregation, options);

  test.each([
    ['COUNT', null, '5'],
    ['SUM', 'n', '4.25'],
    ['AVG', 'n', '0.85'],
    ['COUNT_UNIQUE', 'n', '4'],
    ['LATEST', 'n', '0.25'],
    ['SUM_WITH_MULTIPLIER', 'n', '0.00425'],
    ['MAX', 'n', '5'],
    // (5·20.5 − 1·19.5 + 0.25·0.5) ÷ 31 days.
    ['WEIGHTED_SUM', 'n', '2.681451612903226'],
  ] as const)('%s is exact over numbers, numeric texts and what is no number', async (type, field, value) => {
    const eventName = newName();
    const multiplier = type === 'SUM_WITH_MULTIPLIER' ? '0.001' : null;
    const meter = await meterOf({ type, field, multiplier }, { eventName });
    await engine.append([
      { event_name: eventName, timestamp: at(11), properties: { n: '5' } },
      { event_name: eventName, timestamp: at(12), properties: { n: -1 } },
      { event_name: eventName, timestamp: at(13), properties: { n: 'five' } },
      { event_name: eventName, timestamp: at(14), properties: {} },
    ]);
    await engine.settle();
    await engine.append([
      { event_name: eventName, timestamp: at(31), properties: { n: 0.25 } },
      { event_name: eventName, timestamp: at(31), external_customer_id: 'other', properties: { n: 100 } },
    ]);
    expect(await engine.usage({ meterId: meter.id })).toMatchObject({ value, eventCount: 5 });
  });

  test('sums keep every digit of numbers that no float holds', async () => {
    const eventName = newName();
    const meter = await meterOf({ type: 'SUM', field: 'n' }, { eventName });
    const huge = '999999999999999999999999999999.999999999999999';
    const events = [huge, huge, '0.000000000000001', '-0.0000000000000004'];
    await engine.append(events.map((n) => ({ event_name: eventName, timestamp: at(2), properties: { n } })));
    const { value } = await engine.usage({ meterId: meter.id });
    expect(value).toBe('1999999999999999999999999999999.999999999999999');
  });

  test('filters compare text forms: a number without its padding, a text as it is, nothing for what is absent', async () => {
    const eventName = newName();
    const filters = [{ key: "o'r\\d\n", values: ['1', 'true', "'; drop table usage_event_1; --"] }];
    const meter = await meterOf({ type: 'COUNT' }, { eventName, filters });
    const values = [1, 1.0, '1', '1.0', true, 'true', null, {}, "'; drop table usage_event_1; --", 'other'];
    await engine.append([
      ...values.map((value) => ({
        event_name: eventName,
        timestamp: at(3),
        properties: { "o'r\\d\n": value, n: value },
      })),
      { event_name: eventName, timestamp: at(3) },
    ]);
    expect((await engine.usage({ meterId: meter.id })).value).toBe('6');
    const narrower = await engine.usage({ meterId: meter.id, filters: { n: ['1', 'other'] } });
    expect(narrower.value).toBe('3');
    expect((await engine.usage({ meterId: meter.id, filters: { n: [] } })).value).toBe('0');
  });

  test('an expression that fails for an event leaves the event out, also of the divisor', async () => {
    const eventName = newName();
    const expression = 'a / b + 1';
    const meter = await meterOf({ type: 'AVG', expression, multiplier: '2' }, { eventName });
    await engine.append([
      { event_name: eventName, timestamp: at(4), properties: { a: 1, b: '3' } },
      { event_name: eventName, timestamp: at(4), properties: { a: 1, b: 0 } },
      { event_name: eventName, timestamp: at(4), properties: { a: 'x', b: 2 } },
      { event_name: eventName, timestamp: at(4), properties: { b: 2 } },
    ]);
    // (2·(1/3 + 1) + 2·(0/2 + 1)) ÷ 2, each rounded to 15 decimals.
    expect(await engine.usage({ meterId: meter.id })).toMatchObject({ value: '2.333333333333334', eventCount: 2 });
  });

  test('buckets and groups are rows of their own, each at least zero, in order of start and group', async () => {
    const eventName = newName();
    const sum = await meterOf({ type: 'SUM', field: 'n', bucket_size: 'DAY' }, { eventName });
    const greatest = await meterOf({ type: 'MAX', field: 'n', bucket_size: 'DAY', group_by: 'g' }, { eventName });
    const event = (time: string, n: number, g?: string) => {
      return { event_name: eventName, timestamp: time, properties: { n, ...(g === undefined ? {} : { g }) } };
    };
    await engine.append([
      event('2026-01-05T23:30:00Z', 3, 'é'),
      event('2026-01-05T20:00:00Z', 2, 'z'),
      event('2026-01-05T10:00:00Z', -9),
    ]);
    await engine.settle();
    await engine.append([event('2026-01-05T22:00:00Z', 7, 'z'), event('2026-01-07T00:00:00Z', -1)]);
    expect((await engine.usage({ meterId: sum.id })).rows).toEqual([
      '2026-01-05T00:00:00.000Z =3',
      '2026-01-07T00:00:00.000Z =0',
    ]);
    const grouped = await engine.usage({ meterId: greatest.id, timezone: 'Europe/Berlin' });
    expect(grouped).toMatchObject({ value: '10', eventCount: 5 });
    expect(grouped.rows).toEqual([
      '2026-01-04T23:00:00.000Z =0',
      '2026-01-04T23:00:00.000Z z=7',
      '2026-01-05T23:00:00.000Z é=3',
      '2026-01-06T23:00:00.000Z =0',
    ]);
  });

  test('windows follow the local clock through its changes and the billing anchor through months', async () => {
    const eventName = newName();
    const meter = await meterOf({ type: 'SUM', field: 'n' }, { eventName });
    const instants = [
      '2026-03-28T23:30:00Z',
      '2026-03-29T21:59:59.999999Z',
      '2026-03-29T22:00:00Z',
      '2026-04-02T00:00:00Z',
    ];
    await engine.append(
      instants.map((timestamp, n) => ({ event_name: eventName, timestamp, properties: { n: n + 1 } })),
    );
    const interval = { from: '2026-03-28T12:00:00.000Z', to: '2026-05-01T00:00:00.000Z' };
    const question = { meterId: meter.id, ...interval };
    const timezone = 'Europe/Berlin';
    expect(await engine.series(question, { windowSize: 'DAY', timezone })).toEqual({
      '2026-03-28T23:00:00.000Z': '3',
      '2026-03-29T22:00:00.000Z': '3',
      '2026-04-01T22:00:00.000Z': '4',
    });
    const billingAnchor = '2026-01-31T12:00:00.000Z';
    expect(await engine.series(question, { windowSize: 'MONTH', timezone, billingAnchor })).toEqual({
      '2026-02-27T23:00:00.000Z': '6',
      '2026-03-30T22:00:00.000Z': '4',
    });
    expect(await engine.series(question, { windowSize: 'HOUR', timezone: 'Asia/Kathmandu' })).toEqual({
      '2026-03-28T23:15:00.000Z': '1',
      '2026-03-29T21:15:00.000Z': '5',
      '2026-04-01T23:15:00.000Z': '4',
    });
    const bucketed = await engine.usage({ ...question, bucketSize: '12HOUR', timezone });
    expect(bucketed.rows).toEqual([
      '2026-03-28T23:00:00.000Z =1',
      '2026-03-29T10:00:00.000Z =2',
      '2026-03-29T22:00:00.000Z =3',
      '2026-04-01T22:00:00.000Z =4',
    ]);
  });

  test('the windows of a weighted sum add up to the whole', async () => {
    const eventName = newName();
    const meter = await meterOf({ type: 'WEIGHTED_SUM', field: 'n' }, { eventName });
    const event = (day: number, n: number) => ({
      event_name: eventName,
      timestamp: at(day, '00:00:00'),
      properties: { n },
    });
    await engine.append([event(1, 31), event(11, 31), event(31, 31)]);
    expect((await engine.usage({ meterId: meter.id })).value).toBe('53');
    const weeks = await engine.series({ meterId: meter.id }, { windowSize: 'WEEK' });
    expect(weeks).toEqual({
      '2025-12-29T00:00:00.000Z': '31',
      '2026-01-05T00:00:00.000Z': '21',
      '2026-01-26T00:00:00.000Z': '1',
    });
  });

  test('what has no meter is asked by its name, type and field', async () => {
    const eventName = newName();
    const event = (n: number, g: string) => ({ event_name: eventName, timestamp: at(6), properties: { n, g } });
    await engine.append([event(2, 'a'), event(5, 'a'), event(3, 'b')]);
    const measure = { eventName, field: 'n', multiplier: null };
    expect((await engine.usage({ ...measure, type: 'SUM' })).value).toBe('10');
    expect((await engine.usage({ ...measure, type: 'MAX', groupBy: 'g' })).value).toBe('8');
    expect((await engine.usage({ ...measure, type: 'SUM', bucketSize: 'MONTH' })).rows).toEqual([
      '2026-01-01T00:00:00.000Z =10',
    ]);
    await expect(engine.usage({ ...measure, type: 'AVG', bucketSize: 'DAY' })).rejects.toThrow('with MAX and SUM only');
  });

  test('breakdowns are by source, property and window, the total of a group before its windows', async () => {
    const eventName = newName();
    const meter = await meterOf({ type: 'SUM', field: 'n' }, { eventName });
    const bucketed = await meterOf({ type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'g' }, { eventName });
    const event = (day: number, n: number, source: string, g: string) => {
      return { event_name: eventName, timestamp: at(day), source, properties: { n, g } };
    };
    await engine.append([event(7, 1, 'web', 'a'), event(7, 2, 'cron', 'b')]);
    await engine.settle();
    await engine.append([event(8, 4, 'web', 'b'), event(8, 8, '', 'b')]);
    const interval = { from: '2026-01-07T00:00:00.000000Z', to: '2026-01-09T00:00:00.000000Z' };
    const day = (from: string, to: string) => ({ start: from.replace('000Z', 'Z'), from, to });
    const middle = '2026-01-08T00:00:00.000000Z';
    const windows = [day(interval.from, middle), day(middle, interval.to)];
    const questions = [{ key: 'q', meterId: meter.id, ...interval, conditions: [{ key: 'g', values: ['b'] }] }];
    expect(await engine.breakdown({ questions, windows, bySource: true, everyMeasure: true })).toEqual(
      [
        '  null 8 1 8 8 1',
        '  2026-01-08T00:00:00.000Z 8 1 8 8 1',
        'cron  null 2 1 2 2 1',
        'cron  2026-01-07T00:00:00.000Z 2 1 2 2 1',
        'web  null 4 1 4 4 1',
        'web  2026-01-08T00:00:00.000Z 4 1 4 4 1',
      ].map((row) => row.replace('null', '')),
    );
    const [first] = questions;
    const rows = await engine.bucketBreakdown({
      questions: [{ ...first!, meterId: bucketed.id, conditions: [] }],
      sources: ['web', 'cron'],
    });
    expect(rows).toEqual([
      'null  2026-01-07T12:00:00.000Z 1',
      'null  2026-01-07T12:00:00.000Z 2',
      'null  2026-01-08T12:00:00.000Z 4',
    ]);
  });
}
