import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api, base } = await testPlatform();
const plan = await monthlyPlan(api, { fee: '0' });
const card = sandboxCardNumber('succeeds');

async function subscribed(fields: object = {}) {
  const on = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: on.customerId, plan_id: plan.planId, ...fields });
  return { ...on, id };
}

/** A metered price of 1 each, and the event that counts for it. */
async function meter(): Promise<{ price: object; eventName: string }> {
  const eventName = `seat-${Math.random().toString(36).slice(2)}`;
  const { meter_id } = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: eventName,
    type: 'metered',
    meter: { name: 'Seats', event_name: eventName, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  const price = {
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount: '1',
    meter_id,
  };
  return { price, eventName };
}

async function use(externalId: string, eventName: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: `${eventName}-${externalId}-${index}`,
    event_name: eventName,
    external_customer_id: externalId,
    timestamp: '2026-04-10T00:00:00Z',
  }));
  await created(api, '/events/bulk', { events });
}

/** What the metered lines of the invoice of April cost, by their display names. */
async function billedFor(id: string, clockId: string, name: string): Promise<string[]> {
  await advanceTo(api, clockId, '2026-05-01T12:00:00Z');
  const cycle = (await invoicesOf(api, id)).at(-1)!;
  return cycle.line_items.filter((line) => line.display_name === name).map((line) => line.amount);
}

test('a line item that is added with a commitment bills the commitment, and what is above it with its factor', async () => {
  const { id, clockId, externalId } = await subscribed();
  const { price, eventName } = await meter();
  const item = await created(api, `/subscriptions/${id}/lineitems`, {
    price,
    display_name: 'Seats',
    commitment_amount: '3',
    commitment_overage_factor: '2',
    commitment_true_up_enabled: true,
  });
  expect(item).toMatchObject({
    commitment_amount: '3',
    commitment_type: 'amount',
    commitment_overage_factor: '2',
    commitment_true_up_enabled: true,
  });
  await use(externalId, eventName, 5);
  expect(await billedFor(id, clockId, 'Seats')).toEqual(['7']);
});

test('usage too small for any money, whose invoice is skipped, counts for a commitment of several periods', async () => {
  const { id, clockId, externalId } = await subscribed();
  const { price, eventName } = await meter();
  await created(api, `/subscriptions/${id}/lineitems`, {
    price: { ...price, amount: '0.001' },
    display_name: 'Seats',
    commitment_amount: '1.005',
    commitment_duration: 'QUARTERLY',
    commitment_true_up_enabled: true,
  });
  await use(externalId, eventName, 3);
  await advanceTo(api, clockId, '2026-07-01T12:00:00Z');
  const cycles = (await invoicesOf(api, id)).filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE');
  const told = cycles.map(({ invoice_status, line_items }) => [
    invoice_status,
    ...line_items.filter(({ display_name }) => display_name === 'Seats').map(({ amount }) => amount),
  ]);
  expect(told).toEqual([
    ['SKIPPED', '0'],
    ['SKIPPED', '0'],
    ['FINALIZED', '1'],
  ]);
});

test('a subscription that is committed as a whole takes no committed line item', async () => {
  const { id } = await subscribed({ commitment_amount: '100', overage_factor: '2' });
  const { price } = await meter();
  const before = (await subscriptionOf(api, id)).line_items.length;
  const answer = await api('POST', `/subscriptions/${id}/lineitems`, { price, commitment_amount: '3' });
  expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect((await subscriptionOf(api, id)).line_items).toHaveLength(before);
});

/** An add-on with a fee of 20 and a metered price of 1 each. */
async function addon() {
  const name = `Seats ${Math.random().toString(36).slice(2)}`;
  const { id } = await created(api, '/addons', { name, lookup_key: name.replace(' ', '-'), type: 'multiple_instance' });
  const { price: metered, eventName } = await meter();
  const owner = { entity_type: 'ADDON', entity_id: id, start_date: '2026-01-01T00:00:00Z' };
  const fee = {
    ...owner,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
  };
  const fixed = await created(api, '/prices', { ...fee, currency: 'usd', amount: '20', display_name: 'Fee' });
  const usage = await created(api, '/prices', { ...metered, ...owner, display_name: 'Seats' });
  return { id, feeId: fixed.id, usageId: usage.id, eventName };
}

const ownTerms = ({ feeId, usageId }: { feeId: string; usageId: string }) => ({
  override_line_items: [{ price_id: feeId, amount: '5' }],
  line_item_commitments: { [usageId]: { commitment_amount: '3', overage_factor: '2', enable_true_up: true } },
});

test('an add-on is attached with prices and commitments of the subscription’s own', async () => {
  const { id, clockId, externalId } = await subscribed();
  const seats = await addon();
  const attached = await created<{ id: string; invoice: { total: string } | null }>(api, '/subscriptions/addon', {
    subscription_id: id,
    addon_id: seats.id,
    quantity: 2,
    ...ownTerms(seats),
  });
  expect(attached.invoice?.total).toBe('10');
  await use(externalId, seats.eventName, 1);
  expect(await billedFor(id, clockId, 'Seats')).toEqual(['3']);
  expect((await invoicesOf(api, id)).at(-1)!.line_items).toContainEqual(
    expect.objectContaining({ display_name: 'Fee', amount: '10' }),
  );
});

test('a subscription is created with such an add-on, and refused with a price the add-on does not bring', async () => {
  const seats = await addon();
  const { id } = await subscribed({ addons: [{ addon_id: seats.id, ...ownTerms(seats) }] });
  expect((await invoicesOf(api, id))[0]!.total).toBe('5');
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const body = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  const addons = [{ addon_id: seats.id, override_line_items: [{ price_id: 'price_other', amount: '1' }] }];
  const answer = await api<{ message: string }>('POST', '/subscriptions', { ...body, addons });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringContaining('addons[0].override_line_items[0]'),
  ]);
});

type Grants = { credit_grants: { name: string; start_date: string; end_date: string | null }[] };
const grantsOf = async (id: string) => (await api<Grants>('GET', `/subscriptions/${id}`)).body.credit_grants;

test('with its plan a subscription changes the credits the plan grants, and keeps those that were asked for', async () => {
  const [basic, pro] = [await monthlyPlan(api), await monthlyPlan(api, { fee: '60' })];
  const grant = { credits: '10', cadence: 'RECURRING', period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER' };
  for (const [name, plan_id] of [
    ['Basic', basic.planId],
    ['Pro', pro.planId],
  ])
    await created(api, '/creditgrants', { ...grant, name, scope: 'PLAN', plan_id });
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: basic.planId });
  await created(api, '/creditgrants', {
    ...{ ...grant, name: 'Own', scope: 'SUBSCRIPTION' },
    ...{ subscription_id: id, start_date: '2026-04-01T00:00:00Z' },
  });
  await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
  const change = { target_plan_id: pro.planId, proration_behavior: 'none' };
  await created(api, `/subscriptions/${id}/change/v2/execute`, change);
  const byName = Object.fromEntries((await grantsOf(id)).map((each) => [each.name, each]));
  expect(byName).toMatchObject({
    Basic: { end_date: '2026-04-16T00:00:00.000Z' },
    Pro: { start_date: '2026-04-16T00:00:00.000Z', end_date: null },
    Own: { end_date: null },
  });
  await advanceTo(api, clockId, '2026-05-20T00:00:00Z');
  const lots = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ credits: number }>(
      `select sum(t.credit_amount)::float as credits from wallet_transaction t join wallet w on w.id = t.wallet_id
       where w.customer_id = $1 and t.transaction_reason = 'SUBSCRIPTION_CREDIT_GRANT'`,
      [customerId],
    ),
  );
  // Basic once, Pro on 16 April and 16 May, Own on 1 April and 1 May.
  expect(lots).toMatchObject([{ credits: 50 }]);
});
