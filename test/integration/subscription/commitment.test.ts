import { describe, expect, it } from 'vitest';
import { advanceTo, clockedCustomer, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { countCalls, firstDraft, invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

/** A customer at 2026-01-15 with a monthly subscription of 30 in advance and 0.10 a call, and what it commits itself to. */
async function committed(terms: Record<string, unknown>): Promise<Wire> {
  const { planId, eventName } = await monthlyPlan(api);
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const subscription: Wire = await subscribe(api, { customer_id: clocked.customerId, plan_id: planId, ...terms });
  return { ...clocked, subscription, subscriptionId: subscription.id, eventName, planId };
}
const usageLines = ({ line_items }: Wire) =>
  line_items.filter((line: Wire) => line.price_type === 'USAGE' || line.metadata.is_commitment_trueup);
const brief = (invoice: Wire) => usageLines(invoice).map((line: Wire) => [line.quantity, line.amount]);

async function finalized(id: string): Promise<Wire> {
  expect(await api('POST', `/invoices/${id}/finalize`)).toMatchObject({ status: 200 });
  return (await api<Wire>('GET', `/invoices/${id}`)).body;
}

describe('the commitment of a subscription', () => {
  const two = { commitment_amount: '2', overage_factor: 1.5, enable_true_up: true };

  it('is shown on it, and tops up, and gives way to overage when usage comes late', async () => {
    const customer = await committed(two);
    expect(customer.subscription).toMatchObject({
      commitment_amount: '2',
      commitment_duration: 'MONTHLY',
      overage_factor: '1.5',
      enable_true_up: true,
    });
    const draft = await firstDraft(api, customer);
    expect(brief(draft)).toEqual([
      ['0', '0'],
      ['1', '2'],
    ]);
    expect(usageLines(draft)[1]).toMatchObject({
      price_type: 'FIXED',
      price_id: null,
      subscription_line_item_id: null,
      entity_type: 'plan',
      display_name: expect.stringMatching(/ True Up$/),
      commitment_info: null,
    });
    await countCalls(api, customer, 25, '2026-02-10T00:00:00Z');
    const invoice = await finalized(draft.id);
    expect(brief(invoice)).toEqual([
      ['20', '2'],
      ['5', '0.75'],
    ]);
    expect(invoice).toMatchObject({ subtotal: '32.75', total: '32.75' });
    const [base, overage] = usageLines(invoice);
    expect(overage).toMatchObject({
      display_name: `${base.display_name} (Overage)`,
      metadata: { is_overage: 'true', overage_factor: '1.5' },
      subscription_line_item_id: base.subscription_line_item_id,
    });
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}/explain`);
    const told = JSON.stringify(body);
    expect(told).toContain("within the subscription's commitment of");
    expect(told).toContain('× 1.5');
  });

  it('is previewed as it is billed, and told with the usage of the period', async () => {
    const customer = await committed(two);
    await countCalls(api, customer, 25, '2026-01-20T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-01-25T00:00:00Z');
    const { subscriptionId: subscription_id } = customer;
    const { body: preview } = await api<Wire>('POST', '/invoices/preview', { subscription_id });
    expect(brief(preview)).toEqual([
      [20, 2],
      [5, 0.75],
    ]);
    const { body: usage } = await api<Wire>('POST', '/subscriptions/usage', { subscription_id });
    expect(usage).toMatchObject({
      amount: 2.75,
      commitment_amount: 2,
      commitment_utilized: 2,
      overage_amount: 0.75,
      overage_factor: 1.5,
      has_overage: true,
      charges: [
        { quantity: 20, amount: 2, is_overage: false, overage_factor: 1 },
        { quantity: 5, amount: 0.75, is_overage: true, overage_factor: 1.5 },
      ],
    });
  });

  it('over several periods counts what they used, and is topped up in the last alone', async () => {
    const customer = await committed({ ...two, commitment_duration: 'QUARTERLY' });
    await countCalls(api, customer, 10, '2026-01-20T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-02-20T00:00:00Z');
    await countCalls(api, customer, 15, '2026-02-20T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-07-16T00:00:00Z');
    const invoices = (await invoicesOf(api, customer.customerId)).map(brief);
    expect(invoices).toEqual([
      [],
      [['10', '1']],
      // One is left of two: ten calls within, five above.
      [
        ['10', '1'],
        ['5', '0.75'],
      ],
      [['0', '0']],
      // A commitment period of its own, in which nothing was used.
      [['0', '0']],
      [['0', '0']],
      [
        ['0', '0'],
        ['1', '2'],
      ],
    ]);
  });

  it('over several periods goes on counting after a pause', async () => {
    const customer = await committed({ ...two, commitment_duration: 'QUARTERLY' });
    await countCalls(api, customer, 10, '2026-01-20T00:00:00Z');
    for (const [command, at] of [
      ['pause', '2026-03-20T00:00:00Z'],
      ['resume', '2026-03-25T00:00:00Z'],
    ] as const) {
      await advanceTo(api, customer.clockId, at);
      await api('POST', `/subscriptions/${customer.subscriptionId}/${command}`, { proration_behavior: 'none' });
    }
    await advanceTo(api, customer.clockId, '2026-04-16T00:00:00Z');
    // Ten calls of twenty were used in the three months: the other ten are missing.
    expect(brief((await invoicesOf(api, customer.customerId)).at(-1))).toEqual([
      ['0', '0'],
      ['1', '1'],
    ]);
  });

  it.each([
    ['a negative amount', { commitment_amount: '-1' }, 'commitment_amount'],
    ['a factor below 1', { commitment_amount: '1', overage_factor: '0.9' }, 'overage_factor'],
    [
      'a duration that is no multiple',
      { commitment_amount: '1', commitment_duration: 'WEEKLY' },
      'commitment_duration',
    ],
    ['an unknown duration', { commitment_amount: '1', commitment_duration: 'SOMETIMES' }, 'commitment_duration'],
  ])('with %s is refused', async (_what, terms, field) => {
    const { planId } = await monthlyPlan(api);
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
    const answer = await api<Wire>('POST', '/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...terms,
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(field);
  });
});
