import { describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, invoicesOf, monthlyPlan, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api, { fee: '30' });

/** The hour from 9 to 10 (UTC) at a price of its own, committed to 1. */
const morning = (price: object, fields: object = {}) => ({
  ...{ commitment_type: 'amount', commitment_value: '1', overage_factor: '1', true_up_enabled: false },
  ...{ start: { hour: 9 }, end: { hour: 10 }, price },
  ...fields,
});

/** A customer at 1 April 2026, and a line item of usage at 1 each by the hour. */
async function measured(fields: object = {}) {
  const on = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const eventName = `call-${on.customerId}`;
  const { meter_id } = await created<Wire>(api, '/features', {
    name: eventName,
    type: 'metered',
    meter: {
      ...{ name: 'Hourly', event_name: eventName, reset_usage: 'BILLING_PERIOD' },
      aggregation: { type: 'SUM', field: 'n', bucket_size: 'HOUR' },
    },
  });
  const price = {
    ...{ type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
    ...{ currency: 'usd', amount: '1', meter_id },
    ...fields,
  };
  const subscribe = (buckets: object[], headers: Record<string, string> = {}) => {
    const item = { display_name: 'Hourly', price, commitment_windowed: true, commitment_time_buckets: buckets };
    const body = { customer_id: on.customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
    return api<Wire>('POST', '/subscriptions', { ...body, line_items: [item] }, headers);
  };
  const use = async (day: string, n: number) =>
    created(api, '/events', {
      ...{ event_name: eventName, external_customer_id: on.externalId, event_id: `${eventName}-${day}` },
      ...{ timestamp: `2026-${day}T09:30:00Z`, properties: { n, region: 'eu' } },
    });
  const billed = async (id: string, until: string) => {
    await advanceTo(api, on.clockId, until);
    const cycle = (await invoicesOf(api, id)).at(-1) as Wire;
    return cycle.line_items.findLast(({ display_name }: Wire) => display_name === 'Hourly').amount;
  };
  return { ...on, subscribe, use, billed };
}

const itemOf = ({ line_items }: Wire) => line_items.find(({ display_name }: Wire) => display_name === 'Hourly');
const bucketsOf = (body: Wire) => itemOf(body).commitment_time_buckets as Wire[];
const priceOf = async ({ price_id }: Wire) => (await api<Wire>('GET', `/prices/${price_id}`)).body;

describe('the price of a time of the day', () => {
  test('holds from start_date until end_date; before and after usage costs the base rate', async () => {
    const { subscribe, use, billed } = await measured();
    const dates = { start_date: '2026-04-10T00:00:00Z', end_date: '2026-05-05T00:00:00Z' };
    const { status, body } = await subscribe([morning({ amount: '5', ...dates })]);
    expect(status, JSON.stringify(body)).toBe(201);
    const [bucket] = bucketsOf(body);
    expect(Object.keys(bucket!)).not.toContain('from');
    expect(await priceOf(bucket!)).toMatchObject({
      amount: '5',
      start_date: '2026-04-10T00:00:00.000Z',
      end_date: '2026-05-05T00:00:00.000Z',
    });
    for (const day of ['04-05', '04-15', '05-02', '05-06']) await use(day, 2);
    expect(await billed(body.id, '2026-05-02T00:00:00Z')).toBe('12');
    expect(await billed(body.id, '2026-06-02T00:00:00Z')).toBe('12');
  });

  test('may follow another one of the same hours, and takes turns with it', async () => {
    const { subscribe, use, billed } = await measured();
    const turn = '2026-04-15T00:00:00Z';
    const both = [morning({ amount: '5', end_date: turn }), morning({ amount: '7', start_date: turn })];
    const meeting = await subscribe([both[0]!, morning({ amount: '7', start_date: '2026-04-14T00:00:00Z' })]);
    expect([meeting.status, meeting.body.message]).toEqual([400, expect.stringContaining('overlap')]);
    const { body } = await subscribe(both);
    for (const day of ['04-14', '04-15']) await use(day, 1);
    expect(await billed(body.id, '2026-05-02T00:00:00Z')).toBe('12');
  });

  test('stays with its dates when the time of the day is kept, and has new ones with a new price', async () => {
    const { subscribe, use, billed } = await measured();
    const { body } = await subscribe([morning({ amount: '5', start_date: '2026-05-10T00:00:00Z' })]);
    const [bucket] = bucketsOf(body);
    const { price: _, ...kept } = morning({});
    const put = (id: string, more: object) =>
      api<Wire>('PUT', `/subscriptions/lineitems/${id}`, {
        commitment_time_buckets: [{ ...kept, id: bucket!.id, commitment_value: '2', ...more }],
      });
    const changed = await put(itemOf(body).id, {});
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    for (const day of ['04-09', '05-09', '05-11']) await use(day, 1);
    expect(await billed(body.id, '2026-05-02T00:00:00Z')).toBe('1');
    const again = await put(changed.body.id, { price: { amount: '9', start_date: '2026-05-01T00:00:00Z' } });
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    expect(await billed(body.id, '2026-06-02T00:00:00Z')).toBe('18');
  });

  test('is told in the custom unit of the line item', async () => {
    const code = 'q7z';
    const unit = { name: 'Token', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
    await created(api, '/prices/units', { ...unit, code });
    const custom = (fields: object) => ({
      price_unit_type: 'CUSTOM',
      price_unit_config: { price_unit: code, ...fields },
    });
    const { subscribe, use, billed } = await measured({ amount: undefined, ...custom({ amount: '50' }) });
    const { status, body } = await subscribe([morning(custom({ amount: '200' }))]);
    expect(status, JSON.stringify(body)).toBe(201);
    expect(await priceOf(bucketsOf(body)[0]!)).toMatchObject({ price_unit_amount: '200', amount: '4' });
    await use('04-05', 3);
    expect(await billed(body.id, '2026-05-02T00:00:00Z')).toBe('12');
    const twice = await subscribe([morning({ ...custom({ amount: '200' }), price_unit_amount: '200' })]);
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('price_unit_config')]);
    const other = await subscribe([morning({ price_unit_config: { price_unit: 'q8z', amount: '1' } })]);
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining(`must be ${code}`)]);
  });

  test('may repeat what it shares with the line item, and nothing is made twice by a repeated request', async () => {
    const { subscribe, use, billed, customerId } = await measured({ filter_values: { region: ['eu', 'us'] } });
    const same = { filter_values: { region: ['us', 'eu'] }, min_quantity: 0, trial_period_days: 0 };
    const headers = { 'idempotency-key': `times-${customerId}` };
    const first = await subscribe([morning({ amount: '5', ...same })], headers);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    const second = await subscribe([morning({ amount: '5', ...same })], headers);
    expect([second.status, bucketsOf(second.body)]).toEqual([201, bucketsOf(first.body)]);
    await use('04-05', 2);
    expect(await billed(first.body.id, '2026-05-02T00:00:00Z')).toBe('10');
  });
});

describe('the price of a time of the day refuses, and nothing is made', () => {
  test.each([
    ['filter_values', { filter_values: { region: ['eu'] } }, " must be those of the line item's price"],
    ['min_quantity', { min_quantity: '5' }, ': belongs to FIXED prices'],
    ['trial_period_days', { trial_period_days: 3 }, ': belongs to recurring FIXED prices'],
    ['price_unit_config.price_unit', { price_unit_config: { price_unit: 'q9z', amount: '1' } }, ' must be usd'],
    [
      'end_date',
      { start_date: '2026-05-01T00:00:00Z', end_date: '2026-05-01T00:00:00Z' },
      ' must be after 2026-05-01T00:00:00.000Z',
    ],
  ])('%s', async (member, price, problem) => {
    const { subscribe, customerId } = await measured();
    const { status, body } = await subscribe([morning({ amount: '5', ...price })]);
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining(`line_items[0].commitment_time_buckets[0].price.${member}${problem}`),
    ]);
    const { body: found } = await api<Wire>('POST', '/subscriptions/search', { customer_id: customerId });
    expect(found.items).toEqual([]);
  });
});
