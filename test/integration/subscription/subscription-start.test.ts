import { describe, expect, it, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api);
const start = '2026-06-01T00:00:00.000Z';

/** A subscription that is made on 15 May 2026 and begins on 1 June. */
async function toCome() {
  const customer = await clockedCustomer(api, {
    frozenTime: '2026-05-15T10:00:00Z',
    card: sandboxCardNumber('succeeds'),
  });
  const { id } = await subscribe(api, {
    customer_id: customer.customerId,
    plan_id: plan.planId,
    start_date: '2026-06-01T00:00:00Z',
  });
  return { ...customer, id };
}

describe('a subscription that is yet to begin', () => {
  it('is active and paid for at once, and counts nothing before its start', async () => {
    const { id, clockId, externalId } = await toCome();
    expect(await subscriptionOf(api, id)).toMatchObject({
      subscription_status: 'active',
      current_period_start: start,
      current_period_end: '2026-07-01T00:00:00.000Z',
    });
    expect(await invoicesOf(api, id)).toMatchObject([
      { invoice_status: 'FINALIZED', period_start: start, total: '30', due_date: '2026-07-02T00:00:00.000Z' },
    ]);
    for (const timestamp of ['2026-05-20T00:00:00Z', '2026-06-02T00:00:00Z']) {
      await created(api, '/events', { event_name: plan.eventName, external_customer_id: externalId, timestamp });
    }
    await advanceTo(api, clockId, '2026-07-01T03:00:00Z');
    expect((await invoicesOf(api, id)).map((invoice) => [invoice.period_start, invoice.total])).toEqual([
      [start, '30'],
      [start, '30.1'],
    ]);
  });

  it('cancelled before its start it ends there, without a period or a closing invoice', async () => {
    const { id } = await toCome();
    const answer = await created<Record<string, unknown>>(api, `/subscriptions/${id}/cancel`, {
      cancellation_type: 'immediate',
      cancel_immediately_invoice_policy: 'generate_invoice',
    });
    expect(answer).toMatchObject({ status: 'cancelled', effective_date: start });
    expect(await subscriptionOf(api, id)).toMatchObject({ end_date: start, current_period_end: start });
    expect(await invoicesOf(api, id)).toHaveLength(1);
  });

  it('to be cancelled at a date before its start it ends at its start, and bills nothing more', async () => {
    const { id, clockId, externalId } = await toCome();
    const answer = await created<Record<string, unknown>>(api, `/subscriptions/${id}/cancel`, {
      cancellation_type: 'scheduled_date',
      cancel_at: '2026-05-20T00:00:00Z',
    });
    expect(answer).toMatchObject({ status: 'active', effective_date: start });
    expect(await subscriptionOf(api, id)).toMatchObject({
      cancel_at: start,
      end_date: start,
      current_period_start: start,
      current_period_end: start,
    });
    await created(api, '/events', {
      event_name: plan.eventName,
      external_customer_id: externalId,
      timestamp: '2026-05-25T00:00:00Z',
    });
    await advanceTo(api, clockId, '2026-05-31T23:59:59Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
    await advanceTo(api, clockId, '2026-07-02T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'cancelled', end_date: start });
    expect((await invoicesOf(api, id)).map((invoice) => [invoice.invoice_status, invoice.total])).toEqual([
      ['FINALIZED', '30'],
      ['SKIPPED', '0'],
    ]);
    expect((await eventsOf(api, id)).filter((name) => name === 'subscription.cancelled')).toHaveLength(1);
  });
});

/** A monthly plan whose support of 60 is billed in arrear. */
async function planInArrear(): Promise<string> {
  const { planId } = await monthlyPlan(api);
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: planId,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount: '60',
    display_name: 'Support',
    start_date: '2020-01-01T00:00:00Z',
  });
  return planId;
}

describe('a subscription that began and ended in the past', () => {
  it('has its last period cut by its end, with no invoice due before it is final', async () => {
    const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-05-02T00:00:00Z' });
    const { id } = await subscribe(api, {
      customer_id: customerId,
      plan_id: await planInArrear(),
      start_date: '2026-01-31T00:00:00Z',
      end_date: '2026-04-10T00:00:00Z',
      proration_behavior: 'none',
    });
    await advanceTo(api, clockId, '2026-05-02T03:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'cancelled' });
    const invoices = (await invoicesOf(api, id)) as unknown as Record<string, string>[];
    expect(invoices.map((invoice) => [invoice.period_start, invoice.period_end, invoice.total])).toEqual([
      ['2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z', '30'],
      ['2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z', '90'],
      // Of the last advance charge, too, ten days of thirty.
      ['2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z', '70'],
      ['2026-03-31T00:00:00.000Z', '2026-04-10T00:00:00.000Z', '20'],
    ]);
    for (const { due_date, finalized_at } of invoices) expect(due_date! >= finalized_at!).toBe(true);
  });
});

test('cancelled as of a past date, what was used after it is not billed and what began after it never was', async () => {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  for (const timestamp of ['2026-04-05T00:00:00Z', '2026-04-10T00:00:00Z']) {
    await created(api, '/events', { event_name: plan.eventName, external_customer_id: externalId, timestamp });
  }
  await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
  const item = await created(api, `/subscriptions/${id}/lineitems`, {
    start_date: '2026-04-15T00:00:00Z',
    price: {
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      amount: '30',
    },
  });
  await created(api, `/subscriptions/${id}/cancel`, {
    cancellation_type: 'immediate',
    cancel_at: '2026-04-10T00:00:00Z',
    cancel_immediately_invoice_policy: 'generate_invoice',
  });
  const ended = await subscriptionOf(api, id);
  expect(ended).toMatchObject({ end_date: '2026-04-10T00:00:00.000Z', cancelled_at: '2026-04-21T00:00:00.000Z' });
  const ends = Object.fromEntries(ended.line_items.map((line) => [line.id, line.end_date]));
  expect(ends[item.id]).toBe('2026-04-15T00:00:00.000Z');
  expect((await invoicesOf(api, id)).map((invoice) => [invoice.period_end, invoice.total])).toEqual([
    ['2026-05-01T00:00:00.000Z', '30'],
    ['2026-04-10T00:00:00.000Z', '0.1'],
  ]);
});
