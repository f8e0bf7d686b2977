import { describe, expect, it } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../support/billing.ts';
import { countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

/** A plan of 30 in advance and 0.10 a call, the ids of its prices, and a customer at 2026-01-15. */
async function offer(): Promise<Wire> {
  const plan = await monthlyPlan(api);
  const { body } = await api<Wire>('POST', '/prices/search', { plan_ids: [plan.planId] });
  const priceOf = (type: string) => body.items.find((price: Wire) => price.type === type).id;
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  return { ...plan, ...clocked, fixed: priceOf('FIXED'), usage: priceOf('USAGE') };
}
const subscribing = ({ customerId, planId }: Wire, terms: Record<string, unknown>) =>
  api<Wire>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    ...terms,
  });
async function subscribed(on: Wire, terms: Record<string, unknown>): Promise<Wire> {
  const answer = await subscribing(on, terms);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const usageLine = ({ line_items }: Wire) => line_items.find((line: Wire) => line.price_type === 'USAGE');

describe('overridden prices', () => {
  it('are prices of the subscription that keep what is not overridden, and plan prices stay as they are', async () => {
    const on = await offer();
    const subscription = await subscribed(on, {
      override_line_items: [
        { price_id: on.fixed, amount: '20', quantity: 3 },
        { price_id: on.usage, billing_model: 'PACKAGE', amount: '1', transform_quantity: { divide_by: 10 } },
      ],
    });
    expect(subscription.line_items).toHaveLength(2);
    const [base, calls] = ['FIXED', 'USAGE'].map((type) =>
      subscription.line_items.find((item: Wire) => item.price_type === type),
    );
    expect(base).toMatchObject({ quantity: '3', display_name: 'Base', entity_type: 'plan' });
    expect(base.price).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      entity_id: subscription.id,
      parent_price_id: on.fixed,
      amount: '20',
      billing_model: 'FLAT_FEE',
      invoice_cadence: 'ADVANCE',
    });
    expect(calls.price).toMatchObject({ parent_price_id: on.usage, meter_id: on.meterId, billing_model: 'PACKAGE' });
    expect((await api<Wire>('GET', `/prices/${on.fixed}`)).body.amount).toBe('30');
    const [opening] = await invoicesOf(api, on.customerId);
    expect(opening).toMatchObject({ subtotal: '60' });
    await countCalls(api, { ...on, subscriptionId: subscription.id }, 11, '2026-01-20T00:00:00Z');
    const draft = await firstDraft(api, { ...on, subscriptionId: subscription.id });
    expect(usageLine(draft)).toMatchObject({ quantity: '11', amount: '2' });
  });

  it.each([
    ['nothing beside the price', (on: Wire) => [{ price_id: on.fixed }], 'override_line_items[0]'],
    [
      'one price twice',
      (on: Wire) => [1, 2].map((amount) => ({ price_id: on.fixed, amount })),
      'override_line_items[1].price_id',
    ],
    ['a negative amount', (on: Wire) => [{ price_id: on.fixed, amount: '-1' }], 'amount'],
    ['a negative quantity', (on: Wire) => [{ price_id: on.fixed, quantity: '-1' }], 'quantity'],
    ['a quantity of usage', (on: Wire) => [{ price_id: on.usage, quantity: 1 }], 'override_line_items[0].quantity'],
    ['a tiered model without tiers', (on: Wire) => [{ price_id: on.usage, billing_model: 'TIERED' }], 'tiers'],
    [
      'packages without a size',
      (on: Wire) => [{ price_id: on.usage, billing_model: 'PACKAGE', amount: 1 }],
      'transform_quantity',
    ],
    ['amounts of a custom unit', (on: Wire) => [{ price_id: on.usage, price_unit_amount: 1 }], 'price_unit_amount'],
    ['a price of another plan', () => [{ price_id: 'price_other', amount: 1 }], 'override_line_items[0].price_id'],
  ])('with %s are refused', async (_what, overrides, field) => {
    const on = await offer();
    const answer = await subscribing(on, { override_line_items: overrides(on) });
    expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(field);
  });
});

describe('line items beside those of the plan', () => {
  it('charge prices that exist and prices of their own, each from its start', async () => {
    const on = await offer();
    const other = await offer();
    const price = {
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'QUARTERLY',
      invoice_cadence: 'ADVANCE',
      currency: 'usd',
      amount: '12',
    };
    const subscription = await subscribed(on, {
      line_items: [
        { price_id: other.fixed, quantity: 2, display_name: 'Second base', metadata: { team: 'a' } },
        { price, display_name: 'Support', start_date: '2026-02-15T00:00:00Z' },
      ],
    });
    expect(subscription.line_items).toHaveLength(4);
    expect(subscription.line_items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          display_name: 'Second base',
          quantity: '2',
          entity_type: 'subscription',
          metadata: { team: 'a' },
        }),
        expect.objectContaining({
          display_name: 'Support',
          billing_period: 'QUARTERLY',
          start_date: '2026-02-15T00:00:00.000Z',
        }),
      ]),
    );
    await advanceTo(api, on.clockId, '2026-03-16T00:00:00Z');
    const invoices = await invoicesOf(api, on.customerId);
    expect(invoices.map((invoice: Wire) => invoice.subtotal)).toEqual(['90', '102', '90']);
  });

  it('alone may make a subscription that takes no price of its plan', async () => {
    const on = await offer();
    const subscription = await subscribed(on, { include_price_ids: [], line_items: [{ price_id: on.fixed }] });
    expect(subscription.line_items).toMatchObject([{ price_id: on.fixed, quantity: '1' }]);
  });

  const fixed = { type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE', currency: 'usd', amount: 1 };
  it.each([
    ['neither price_id nor price', () => [{}], 400, 'line_items[0].price_id'],
    ['both', (on: Wire) => [{ price_id: on.fixed, price: { ...fixed, billing_period: 'MONTHLY' } }], 400, 'price_id'],
    ['an unknown price', () => [{ price_id: 'price_no' }], 404, 'price_no'],
    ['another currency', () => [{ price: { ...fixed, currency: 'eur', billing_period: 'MONTHLY' } }], 400, 'eur'],
    [
      'a cadence that does not fit',
      () => [{ price: { ...fixed, billing_period: 'WEEKLY', billing_period_count: 9 } }],
      400,
      'WEEKLY',
    ],
    [
      'a start before the subscription',
      (on: Wire) => [{ price_id: on.fixed, start_date: '2026-01-01T00:00:00Z' }],
      400,
      'start_date',
    ],
    [
      'an end before its start',
      (on: Wire) => [{ price_id: on.fixed, end_date: '2026-01-01T00:00:00Z' }],
      400,
      'end_date',
    ],
    ['a commitment on a fixed price', (on: Wire) => [{ price_id: on.fixed, commitment_amount: 1 }], 400, 'FIXED'],
  ])('with %s are refused', async (_what, items, status, names) => {
    const on = await offer();
    const answer = await subscribing(on, { line_items: items(on) });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body.message).toContain(names);
  });
});

describe('commitments of line items', () => {
  it('are shown on the item, and fill the commitment info of its invoice lines', async () => {
    const on = await offer();
    const subscription = await subscribed(on, {
      line_item_commitments: {
        [on.usage]: { commitment_type: 'amount', commitment_amount: 2, overage_factor: 1.5, enable_true_up: true },
      },
    });
    const item = subscription.line_items.find((each: Wire) => each.price_type === 'USAGE');
    expect(item).toMatchObject({
      commitment_type: 'amount',
      commitment_amount: '2',
      commitment_quantity: null,
      commitment_overage_factor: '1.5',
      commitment_true_up_enabled: true,
      commitment_windowed: false,
      commitment_time_buckets: [],
    });
    const customer = { ...on, subscriptionId: subscription.id };
    await countCalls(api, customer, 5, '2026-01-20T00:00:00Z');
    const draft = await firstDraft(api, customer);
    expect(usageLine(draft)).toMatchObject({
      quantity: '5',
      amount: '2',
      commitment_info: {
        type: 'amount',
        amount: '2',
        quantity: null,
        overage_factor: '1.5',
        duration: 'MONTHLY',
        is_windowed: false,
        true_up_enabled: true,
        computed_commitment_utilized_amount: '0.50',
        computed_overage_amount: '0.00',
        computed_true_up_amount: '1.50',
      },
    });
    await countCalls(api, customer, 25, '2026-02-10T00:00:00Z');
    expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    // Thirty calls cost 3: 2 within, 1 above × 1.5.
    expect(usageLine(body)).toMatchObject({ amount: '3.5', commitment_info: { computed_overage_amount: '1.50' } });
  });

  it('with times of the day bill each window by its own price, outside at the base rate', async () => {
    const on = await offer();
    const feature = await created<Wire>(api, '/features', {
      name: `Tokens ${on.customerId}`,
      type: 'metered',
      meter: {
        name: 'Tokens',
        event_name: `tokens-${on.customerId}`,
        aggregation: { type: 'SUM', field: 'n', bucket_size: 'HOUR' },
        reset_usage: 'BILLING_PERIOD',
      },
    });
    const subscription = await subscribed(on, {
      include_price_ids: [on.fixed],
      line_items: [
        {
          price: {
            type: 'USAGE',
            billing_model: 'FLAT_FEE',
            billing_period: 'MONTHLY',
            invoice_cadence: 'ARREAR',
            currency: 'usd',
            amount: '1',
            meter_id: feature.meter_id,
          },
          commitment_windowed: true,
          commitment_time_buckets: [
            {
              commitment_type: 'amount',
              commitment_value: '5',
              overage_factor: '2',
              true_up_enabled: false,
              start: { hour: 22, minute: 0 },
              end: { hour: 2, minute: 0 },
              price: { amount: '3' },
            },
          ],
        },
      ],
    });
    const item = subscription.line_items.find((each: Wire) => each.price_type === 'USAGE');
    expect(item.commitment_time_buckets).toMatchObject([
      {
        id: expect.stringMatching(/^bucket_/),
        price_id: expect.stringMatching(/^price_/),
        commitment_value: '5',
        overage_factor: 2,
        start: { hour: 22, minute: 0 },
      },
    ]);
    const events = ['2026-01-20T23:10:00Z', '2026-01-21T01:10:00Z', '2026-01-21T02:10:00Z'].map((timestamp, index) => ({
      event_id: `${on.customerId}-${index}`,
      event_name: `tokens-${on.customerId}`,
      external_customer_id: on.externalId,
      timestamp,
      properties: { n: 2 },
    }));
    await created(api, '/events/bulk', { events });
    const draft = await firstDraft(api, { ...on, subscriptionId: subscription.id });
    // Two windows inside cost 6 each, 5 and 1 above × 2; outside 2.
    expect(usageLine(draft)).toMatchObject({ quantity: '6', amount: '16', commitment_info: { is_windowed: true } });
  });

  const one = { commitment_amount: 1, overage_factor: 1 };
  const night = {
    commitment_type: 'amount',
    commitment_value: 1,
    overage_factor: 1,
    true_up_enabled: false,
    start: { hour: 1 },
    end: { hour: 2 },
    price: { amount: 1 },
  };
  it.each([
    ['beside one of the subscription', one, 'commitment_amount', { commitment_amount: 5 }],
    ['without a value', { overage_factor: 1 }, 'needs commitment_amount', {}],
    ['below 0', { ...one, commitment_amount: -1 }, 'must not be negative', {}],
    ['with a factor below 1', { ...one, overage_factor: 0.5 }, 'overage_factor', {}],
    ['without a factor', { commitment_amount: 1 }, 'overage_factor', {}],
    ['of an amount and a quantity', { ...one, commitment_quantity: 1 }, 'commitment_quantity', {}],
    ['of a duration that does not fit', { ...one, commitment_duration: 'DAILY' }, 'commitment_duration', {}],
    ['per window of a meter without buckets', { ...one, is_window_commitment: true }, 'is_window_commitment', {}],
    [
      'of times of the day without windows',
      { overage_factor: 1, commitment_time_buckets: [night] },
      'is_window_commitment',
      {},
    ],
  ])('%s are refused', async (_what, commitment, names, terms) => {
    const on = await offer();
    const answer = await subscribing(on, { line_item_commitments: { [on.usage]: commitment }, ...terms });
    expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(names);
  });

  it('for a price that is not on the subscription, or a fixed one, are refused', async () => {
    const on = await offer();
    const unknown = await subscribing(on, { line_item_commitments: { price_no: one } });
    expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('price_no')]);
    const fixed = await subscribing(on, { line_item_commitments: { [on.fixed]: one } });
    expect([fixed.status, fixed.body.message]).toEqual([400, expect.stringContaining('FIXED')]);
  });
});
