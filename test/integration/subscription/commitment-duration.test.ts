import { describe, expect, it, test } from 'vitest';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api, { period: 'QUARTERLY' });

/** A quarterly subscription from 1 January 2026, and what an item of usage at 1 each needs, charged by the month. */
async function quarterlyWithSeats() {
  const on = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const { id } = await subscribe(api, {
    customer_id: on.customerId,
    plan_id: plan.planId,
    billing_period: 'QUARTERLY',
    collection_method: 'send_invoice',
  });
  const eventName = `seat-${Math.random().toString(36).slice(2)}`;
  const { meter_id } = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: eventName,
    type: 'metered',
    meter: { name: 'Seats', event_name: eventName, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  const add = (commitment: object) =>
    api<{ code: string; message: string; commitment_duration: string }>('POST', `/subscriptions/${id}/lineitems`, {
      price: {
        ...{ type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
        ...{ currency: 'usd', amount: '1', meter_id },
      },
      display_name: 'Seats',
      commitment_amount: '10',
      commitment_overage_factor: '2',
      commitment_true_up_enabled: true,
      ...commitment,
    });
  const use = async (day: string, count: number) => {
    const events = Array.from({ length: count }, (_, index) => ({
      event_id: `${eventName}-${day}-${index}`,
      event_name: eventName,
      external_customer_id: on.externalId,
      timestamp: `2026-${day}T09:30:00Z`,
      properties: {},
    }));
    await created(api, '/events/bulk', { events });
  };
  const seats = async () =>
    (await invoicesOf(api, id)).map(({ line_items }) =>
      line_items.filter((line) => line.display_name === 'Seats').map((line) => line.amount),
    );
  return { ...on, id, add, use, seats };
}

test('a monthly line that is committed for half a year goes on from window to window and from invoice to invoice', async () => {
  const { clockId, add, use, seats } = await quarterlyWithSeats();
  expect(await add({ commitment_duration: 'HALF_YEARLY' })).toMatchObject({
    status: 201,
    body: { commitment_duration: 'HALF_YEARLY' },
  });
  for (const [day, count] of [
    ['01-10', 4],
    ['04-10', 4],
    ['06-10', 5],
  ] as const)
    await use(day, count);
  await advanceTo(api, clockId, '2027-01-01T03:00:00Z');
  expect((await seats()).slice(1)).toEqual([
    ['4', '0', '0'],
    // Two of June's five are left of ten, three are above.
    ['4', '0', '8'],
    // The second half begins anew, and what is missing is due once, with its last month.
    ['0', '0', '0'],
    ['0', '0', '10'],
  ]);
});

describe('the duration of a line’s commitment', () => {
  it.each(['MONTHLY', 'QUARTERLY', 'ANNUAL'])('may be %s for a monthly line', async (commitment_duration) => {
    const { add } = await quarterlyWithSeats();
    expect((await add({ commitment_duration })).status).toBe(201);
  });

  it('cannot be shorter than the line is charged', async () => {
    const { add } = await quarterlyWithSeats();
    const { status, body } = await add({ commitment_duration: 'WEEKLY' });
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain('commitment_duration');
  });
});
