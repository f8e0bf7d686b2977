import { describe, expect, it } from 'vitest';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { countCalls, firstDraft, invoicesOf, type Wire } from '../../invoice/invoice.fixture.ts';
import { subscribedItems } from './subscription-items.fixture.ts';

const { api } = await testPlatform();
const { offer, subscribing, subscribed, usageLine } = subscribedItems(api);

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
