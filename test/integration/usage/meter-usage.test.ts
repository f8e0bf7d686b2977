import { beforeAll, describe, expect, test } from 'vitest';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { testDatabase } from '../../support/database.ts';
import { analytics, january, type Wire } from './analytics.fixture.ts';

const { api } = await testApp(await testDatabase());
const { ask, feature, refused, send } = analytics(api);

let calls: Wire;
let storage: Wire;
const at = (day: number, time = '12:00:00') => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

beforeAll(async () => {
  calls = await feature('calls', { type: 'COUNT' });
  storage = await feature(
    'storage',
    { type: 'SUM', field: 'gb' },
    {
      meter: {
        name: 'storage',
        event_name: 'storage',
        aggregation: { type: 'SUM', field: 'gb' },
        reset_usage: 'BILLING_PERIOD',
        filters: [{ key: 'region', values: ['eu', 'us'] }],
      },
    },
  );
  await created(api, '/customers', { external_id: 'acme', name: 'Acme', timezone: 'Europe/Berlin' });
  const { id } = await created(api, '/customers', { external_id: 'parent', name: 'Parent' });
  await created(api, '/customers', { external_id: 'child', name: 'Child', parent_customer_id: id });
  const stored = (timestamp: string, gb: string, region: string, source: string) => ({
    event_name: 'storage',
    timestamp,
    source,
    properties: { gb, region },
  });
  await send('acme', [
    stored(at(1), '3', 'eu', 'web'),
    stored(at(1, '23:30:00'), '5', 'us', 'web'),
    stored(at(3), '5', 'eu', 'cron'),
    stored(at(4), '100', 'mars', 'cron'),
    { event_name: 'calls', timestamp: at(2) },
  ]);
  await send('child', [stored(at(1), '9', 'eu', 'web')]);
  await send('parent', [stored(at(2), '7', 'eu', 'web')]);
  await send('nobody', [stored(at(2), '4', 'eu', 'web')]);
});

const asked = (fields: object = {}) => ({ external_customer_id: 'acme', ...january, ...fields });

describe('POST /meter-usage/query', () => {
  const query = (aggregation_type: string, fields: object = {}) =>
    ask('/meter-usage/query', asked({ meter_id: storage.meter_id, aggregation_type, ...fields }));

  test.each([
    ['SUM', '13'],
    ['sum', '13'],
    ['COUNT', '3'],
    ['AVG', '4.333333333333333'],
    ['MAX', '5'],
    ['LATEST', '5'],
    ['COUNT_UNIQUE', '2'],
    ['SUM_WITH_MULTIPLIER', '13'],
  ])('aggregates as asked, with the filters of the meter: %s', async (type, total_value) => {
    expect(await query(type)).toEqual({
      meter_id: storage.meter_id,
      aggregation_type: type.toUpperCase(),
      total_value,
      event_count: 3,
      points: [],
    });
  });

  test('answers windows of the customer’s zone, and of the billing anchor', async () => {
    expect((await query('SUM', { window_size: 'DAY' })).points).toEqual([
      { timestamp: '2025-12-31T23:00:00.000Z', value: '3', event_count: 1 },
      { timestamp: '2026-01-01T23:00:00.000Z', value: '5', event_count: 1 },
      { timestamp: '2026-01-02T23:00:00.000Z', value: '5', event_count: 1 },
    ]);
    const anchored = { window_size: 'MONTH', billing_anchor: '2026-01-03T00:00:00Z' };
    expect((await query('MAX', anchored)).points).toMatchObject([
      { timestamp: '2025-12-02T23:00:00.000Z', value: '5', event_count: 2 },
      { timestamp: '2026-01-02T23:00:00.000Z', value: '5', event_count: 1 },
    ]);
  });

  test.each([
    ['the minutes of a month', { window_size: 'MINUTE' }],
    ['the hours of years', { window_size: 'HOUR', start_time: '2020-01-01T00:00:00Z' }],
  ])('answers those windows that have events: %s', async (_name, fields) => {
    const values = (points: { value: string }[]) => points.map(({ value }) => value);
    expect(values((await query('SUM', fields)).points)).toEqual(['3', '5', '5']);
  });

  test('knows the usage of an id that no customer holds', async () => {
    expect(await query('SUM', { external_customer_id: 'nobody' })).toMatchObject({ total_value: '4' });
    expect(await query('SUM', { external_customer_id: 'never seen' })).toMatchObject({ total_value: '0' });
  });

  test('is refused for what is missing, unknown or impossible', async () => {
    const body = asked({ meter_id: storage.meter_id, aggregation_type: 'SUM' });
    for (const field of ['external_customer_id', 'meter_id', 'start_time', 'end_time', 'aggregation_type']) {
      const answer = await refused('/meter-usage/query', { ...body, [field]: undefined });
      expect(answer).toEqual([400, 'validation_error', expect.stringContaining(field)]);
    }
    const refusedWith = (fields: object) => refused('/meter-usage/query', { ...body, ...fields });
    expect(await refusedWith({ meter_id: 'meter_none' })).toEqual([404, 'not_found', expect.any(String)]);
    expect(await refusedWith({ aggregation_type: 'MEDIAN' })).toEqual([400, 'validation_error', expect.any(String)]);
    expect(await refusedWith({ window_size: 'YEAR' })).toEqual([400, 'validation_error', expect.any(String)]);
    expect(await refusedWith({ start_time: january.end_time, end_time: january.start_time })).toEqual([
      400,
      'validation_error',
      expect.stringContaining('end_time'),
    ]);
    expect(await refusedWith({ meter_id: calls.meter_id })).toEqual([
      400,
      'validation_error',
      expect.stringContaining('aggregation_type'),
    ]);
  });
});

describe('POST /meter-usage/analytics', () => {
  test('answers several meters at once, in the order asked', async () => {
    const { items } = await ask(
      '/meter-usage/analytics',
      asked({ meter_ids: [storage.meter_id, calls.meter_id], aggregation_type: 'COUNT', window_size: 'MONTH' }),
    );
    expect(items.map((item: Wire) => [item.meter_id, item.total_value, item.points.length])).toEqual([
      [storage.meter_id, '3', 1],
      [calls.meter_id, '1', 1],
    ]);
  });

  test('wants a meter that exists', async () => {
    const counted = (meter_ids: string[]) =>
      refused('/meter-usage/analytics', asked({ meter_ids, aggregation_type: 'COUNT' }));
    expect(await counted([])).toEqual([400, 'validation_error', expect.stringContaining('meter_ids')]);
    expect(await counted([calls.meter_id, 'meter_none'])).toEqual([404, 'not_found', expect.any(String)]);
  });
});

describe('POST /meter-usage/detailed-analytics', () => {
  const detailed = (fields: object = {}) => ask('/meter-usage/detailed-analytics', asked(fields));

  test('tells every measure of every meter', async () => {
    const { items } = await detailed({ expand: ['source'] });
    expect(items).toEqual([
      {
        meter_id: calls.meter_id,
        feature_id: calls.id,
        source: null,
        sources: [],
        properties: {},
        total_usage: '1',
        max_usage: '0',
        latest_usage: '0',
        count_unique_usage: 0,
        event_count: 1,
        points: [],
        bucket_summaries: null,
        meter: null,
        feature: null,
      },
      expect.objectContaining({
        meter_id: storage.meter_id,
        sources: ['cron', 'web'],
        total_usage: '13',
        max_usage: '5',
        latest_usage: '5',
        count_unique_usage: 2,
        event_count: 3,
      }),
    ]);
  });

  test('takes usage apart by source and property, and in windows', async () => {
    const { items } = await detailed({
      meter_ids: [storage.meter_id],
      group_by: ['source', 'properties.region'],
      window_size: 'MONTH',
      expand: ['meter', 'feature', 'source'],
    });
    expect(
      items.map((item: Wire) => [item.source, item.sources, item.properties.region, item.total_usage, item.max_usage]),
    ).toEqual([
      ['cron', ['cron'], 'eu', '5', '5'],
      ['web', ['web'], 'eu', '3', '3'],
      ['web', ['web'], 'us', '5', '5'],
    ]);
    expect(items[0]).toMatchObject({
      points: [{ timestamp: '2025-12-31T23:00:00.000Z', value: '5', event_count: 1 }],
      meter: { id: storage.meter_id },
      feature: { id: storage.id },
    });
    const byRegion = await detailed({ group_by: ['properties.region'], expand: ['source'] });
    expect(byRegion.items.map((item: Wire) => [item.properties.region, item.sources, item.total_usage])).toEqual([
      ['', [], '1'],
      ['eu', ['cron', 'web'], '8'],
      ['us', ['web'], '5'],
    ]);
  });

  test('keeps what filters, sources, features and meters leave', async () => {
    const of = async (fields: object) => (await detailed(fields)).items.map((item: Wire) => item.total_usage);
    expect(await of({ sources: ['cron'] })).toEqual(['5']);
    expect(await of({ property_filters: { region: ['us', 'mars'] } })).toEqual(['5']);
    expect(await of({ feature_ids: [storage.id] })).toEqual(['13']);
    expect(await of({ feature_ids: [storage.id], meter_ids: [calls.meter_id] })).toEqual([]);
    expect(await of({ start_time: at(20), end_time: at(21) })).toEqual(['0', '0']);
    expect(await of({ start_time: at(20), end_time: at(21), sources: ['web'] })).toEqual([]);
  });

  test('unites children with their parent when that is asked for', async () => {
    const of = async (fields: object) =>
      (await detailed({ external_customer_id: 'parent', meter_ids: [storage.meter_id], ...fields })).items;
    expect(await of({})).toMatchObject([{ total_usage: '7', max_usage: '7', event_count: 1 }]);
    expect(await of({ include_children: true })).toMatchObject([{ total_usage: '16', max_usage: '9', event_count: 2 }]);
  });

  test.each([
    ['external_customer_id', { external_customer_id: undefined }, 400],
    ['customer', { external_customer_id: 'nobody' }, 404],
    ['group_by', { group_by: ['customer'] }, 400],
    ['expand', { expand: ['price'] }, 400],
    ['breakdown_bucket', { breakdown_bucket: true }, 400],
    ['breakdown_bucket', { breakdown_bucket: true, window_size: 'HOUR' }, 400],
    ['end_time', { start_time: january.end_time, end_time: january.start_time }, 400],
  ])('is refused naming %s: %j', async (named, fields, status) => {
    const answer = await refused('/meter-usage/detailed-analytics', asked(fields));
    expect(answer).toEqual([status, expect.any(String), expect.stringContaining(named)]);
  });
});
