import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';

const { call } = await testApi();
const day = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' };

const events: [timestamp: string, properties: Record<string, unknown>][] = [
  ['2026-01-01T00:05:00Z', { n: 4, k: 'x' }],
  ['2026-01-01T00:50:00Z', { n: '10', k: 'y' }],
  ['2026-01-01T01:10:00Z', { n: 8, k: 'x' }],
  ['2026-01-01T01:30:00Z', { n: 6, k: 'y' }],
  ['2026-01-01T05:00:00Z', { n: 3, k: 'x' }],
  ['2026-01-01T05:00:00Z', { n: 'many', k: 'x' }],
];

async function sent(eventName: string, own = events): Promise<void> {
  const body = {
    events: own.map(([timestamp, properties]) => ({
      event_name: eventName,
      external_customer_id: 'acme',
      timestamp,
      properties,
    })),
  };
  expect((await call('POST', '/v1/events/bulk', { body })).status).toBe(202);
}

async function meterOf(eventName: string, aggregation: object): Promise<string> {
  const body = { name: eventName, event_name: eventName, aggregation, reset_usage: 'BILLING_PERIOD' };
  const answer = await call('POST', '/v1/meters', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  expect(answer.body.aggregation).toMatchObject(aggregation);
  return answer.body.id;
}

const asked = (path: string, body: object) => call('POST', `/v1/events${path}`, { body: { ...day, ...body } });

describe('POST /events/usage/meter', () => {
  it('answers a meter by its buckets, and by windows over them', async () => {
    await sent('bucketed');
    const id = await meterOf('bucketed', { type: 'MAX', field: 'n', bucket_size: 'HOUR' });
    const { body } = await asked('/usage/meter', { meter_id: id, window_size: '15MIN' });
    expect(body).toEqual({
      event_name: 'bucketed',
      type: 'MAX',
      value: 21,
      results: [
        { window_size: '2026-01-01T00:00:00.000Z', value: 10 },
        { window_size: '2026-01-01T01:00:00.000Z', value: 8 },
        { window_size: '2026-01-01T05:00:00.000Z', value: 3 },
      ],
    });
    const larger = await asked('/usage/meter', { meter_id: id, window_size: '3HOUR' });
    expect(larger.body.results.map((point: { value: number }) => point.value)).toEqual([18, 3]);
    const inKolkata = await asked('/usage/meter', { meter_id: id, timezone: 'Asia/Kolkata', window_size: 'HOUR' });
    expect(inKolkata.body).toMatchObject({
      value: 23,
      results: [
        { window_size: '2025-12-31T23:30:00.000Z', value: 4 },
        { window_size: '2026-01-01T00:30:00.000Z', value: 10 },
        { window_size: '2026-01-01T01:30:00.000Z', value: 6 },
        { window_size: '2026-01-01T04:30:00.000Z', value: 3 },
      ],
    });
    const byDay = await asked('/usage/meter', { meter_id: id, bucket_size: 'DAY' });
    expect(byDay.body.value).toBe(10);
  });

  it('answers a meter by groups', async () => {
    await sent('grouped');
    const id = await meterOf('grouped', { type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'k' });
    expect((await asked('/usage/meter', { meter_id: id })).body.value).toBe(31);
    expect((await asked('/usage/meter', { meter_id: id, filters: { k: ['x'] } })).body.value).toBe(15);
  });

  it('skips the events an expression cannot be computed from', async () => {
    await sent('computed');
    const id = await meterOf('computed', { type: 'AVG', expression: 'n > 5 ? n * 2 : n', multiplier: '0.5' });
    // (4 + 20 + 16 + 12 + 3) ÷ 2 ÷ 5; the sixth event is in no divisor.
    const { body } = await asked('/usage/meter', { meter_id: id, window_size: 'HOUR' });
    expect(body).toMatchObject({ value: 5.5, results: [{ value: 6 }, { value: 7 }, { value: 1.5 }] });
  });

  it('forgets a voided event in the bucket and the group it was in', async () => {
    const body = {
      events: [7, 5, 'x'].map((n, index) => ({
        event_id: `voided-${index}`,
        event_name: 'voided',
        external_customer_id: 'acme',
        timestamp: '2026-01-01T00:20:00Z',
        properties: { n, k: 'x' },
      })),
    };
    const grouped = await meterOf('voided', { type: 'MAX', field: 'n', bucket_size: '30MIN', group_by: 'k' });
    const computed = await meterOf('voided', { type: 'SUM', expression: 'n * 2', bucket_size: 'MINUTE' });
    expect((await call('POST', '/v1/events/bulk', { body })).status).toBe(202);
    const usageOf = async (meterId: string) => (await asked('/usage/meter', { meter_id: meterId })).body.value;
    expect([await usageOf(grouped), await usageOf(computed)]).toEqual([7, 24]);
    const voided = await call('POST', '/v1/events/voided-0/void', { body: { reason: 'sent twice' } });
    expect(voided.status, JSON.stringify(voided.body)).toBe(200);
    expect([await usageOf(grouped), await usageOf(computed)]).toEqual([5, 10]);
  });

  it('refuses a bucket size for a meter that cannot be cut', async () => {
    const id = await meterOf('uncut', { type: 'COUNT' });
    const answer = await asked('/usage/meter', { meter_id: id, bucket_size: 'DAY' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('bucket_size is accepted with MAX and SUM only');
  });

  it('refuses more groups than an answer holds, and names the remedy', { timeout: 60_000 }, async () => {
    const id = await meterOf('many', { type: 'MAX', field: 'n', bucket_size: 'DAY', group_by: 'k' });
    for (let from = 0; from <= 10_000; from += 1_000) {
      const own = Array.from({ length: 1_000 }, (_, index): (typeof events)[number] => [
        '2026-01-01T00:00:00Z',
        { n: 1, k: `host-${from + index}` },
      ]);
      await sent('many', own);
    }
    const answer = await asked('/usage/meter', { meter_id: id });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('more than 10000 groups');
    expect((await asked('/usage/meter', { meter_id: id, filters: { k: ['host-7'] } })).body.value).toBe(1);
  });
});

describe('POST /events/usage', () => {
  const question = { event_name: 'free', aggregation_type: 'max', property_name: 'n' };

  it('cuts and groups without a meter', async () => {
    await sent('free');
    const value = async (more: object) => (await asked('/usage', { ...question, ...more })).body.value;
    expect(await value({})).toBe(10);
    expect(await value({ bucket_size: 'HOUR' })).toBe(21);
    expect(await value({ bucket_size: 'HOUR', group_by: 'properties.k' })).toBe(31);
    expect(await value({ bucket_size: 'HOUR', group_by: ['properties.k'] })).toBe(31);
    expect(await value({ group_by_property: 'properties.k' })).toBe(18);
    expect(await value({ aggregation_type: 'SUM', bucket_size: 'DAY' })).toBe(31);
    const { body } = await asked('/usage', { ...question, group_by: 'properties.k', window_size: '3HOUR' });
    expect(body).toMatchObject({ value: 18, results: [{ value: 18 }, { value: 3 }] });
  });

  it.each([
    [{ aggregation_type: 'AVG', bucket_size: 'HOUR' }, 'bucket_size'],
    [{ bucket_size: 'FORTNIGHT' }, 'bucket_size'],
    [{ group_by: 'k' }, 'group_by'],
    [{ group_by: "properties.k'; drop table" }, 'group_by'],
    [{ group_by: ['properties.a', 'properties.b'] }, 'group_by'],
    [{ aggregation_type: 'LATEST', group_by: 'properties.k' }, 'group_by'],
  ])('refuses %j', async (more, field) => {
    const answer = await asked('/usage', { ...question, ...more });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(JSON.stringify(answer.body)).toContain(field);
  });
});

describe('POST /meters', () => {
  it.each([
    [{ type: 'SUM', expression: 'n %% 2' }, 'cannot be read'],
    [{ type: 'SUM', expression: '1 + 1' }, 'must name at least one event property'],
    [{ type: 'SUM', expression: 'n > 1' }, 'must give a number'],
    [{ type: 'SUM', expression: 'process.exit(n)' }, 'knows the functions'],
    [{ type: 'COUNT', expression: 'n' }, 'SUM, AVG, MAX and LATEST only'],
    [{ type: 'SUM', field: 'n', expression: 'n' }, 'aggregation.field'],
  ])('refuses %j', async (aggregation, problem) => {
    const body = { name: 'm', event_name: 'm', aggregation, reset_usage: 'BILLING_PERIOD' };
    const answer = await call('POST', '/v1/meters', { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(JSON.stringify(answer.body)).toContain('aggregation.expression');
    expect(JSON.stringify(answer.body)).toContain(problem);
  });
});
