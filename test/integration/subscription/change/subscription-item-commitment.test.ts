import { describe, expect, it } from 'vitest';
import { created, testPlatform } from '../../../support/billing.ts';
import { countCalls, firstDraft, type Wire } from '../../invoice/invoice.fixture.ts';
import { subscribedItems } from './subscription-items.fixture.ts';

const { api } = await testPlatform();
const { offer, subscribing, subscribed, usageLine } = subscribedItems(api);

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
