import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
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
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

test('the fee is billed in advance, usage in arrear, and both are paid', async () => {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z', card });
  const { id, subscription_status, current_period_end } = await subscribe(api, {
    customer_id: customerId,
    plan_id: plan.planId,
  });
  expect([subscription_status, current_period_end]).toEqual(['active', '2026-02-15T00:00:00.000Z']);
  const events = ['2026-01-15T00:00:00Z', '2026-02-14T23:59:59.999Z', '2026-02-15T00:00:00Z'].map((timestamp) => ({
    event_name: plan.eventName,
    external_customer_id: externalId,
    event_id: randomUUID(),
    timestamp,
  }));
  await created(api, '/events/bulk', { events });

  await advanceTo(api, clockId, '2026-03-15T03:00:00Z');

  const invoices = await invoicesOf(api, id);
  expect(invoices.map((invoice) => [invoice.billing_reason, invoice.total, invoice.payment_status])).toEqual([
    ['SUBSCRIPTION_CREATE', '30', 'SUCCEEDED'],
    ['SUBSCRIPTION_CYCLE', '30.2', 'SUCCEEDED'],
    ['SUBSCRIPTION_CYCLE', '30.1', 'SUCCEEDED'],
  ]);
  expect(invoices.map((invoice) => invoice.invoice_number)).toEqual(
    ['202601', '202602', '202603'].map((month) => expect.stringMatching(new RegExp(`^INV-${month}-\\d{5}$`))),
  );
});

test('what arrives in the draft window is on the invoice, what arrives later is not', async () => {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const late = () =>
    created(api, '/events', {
      event_name: plan.eventName,
      external_customer_id: externalId,
      event_id: randomUUID(),
      timestamp: '2026-01-20T00:00:00Z',
    });
  await advanceTo(api, clockId, '2026-02-01T01:00:00Z');
  await late();
  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');
  await late();
  await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => invoice.total)).toEqual(['30', '30.1', '30']);
});

test('periods follow the customer’s time zone and an anchor on the 31st comes back', async () => {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-01-31T05:00:00Z',
    timezone: 'America/New_York',
    card,
  });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-04-30T12:00:00Z');
  expect((await invoicesOf(api, id)).slice(1).map((invoice) => invoice.period_end)).toEqual([
    '2026-02-28T05:00:00.000Z',
    '2026-03-31T04:00:00.000Z',
    '2026-04-30T04:00:00.000Z',
  ]);
});

test('a calendar subscription starts with a prorated part of its first month', async () => {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-03-17T00:00:00Z', card });
  const calendar = await monthlyPlan(api, { fee: '310' });
  const { id, billing_anchor } = await subscribe(api, {
    customer_id: customerId,
    plan_id: calendar.planId,
    billing_cycle: 'calendar',
  });
  expect(billing_anchor).toBe('2026-04-01T00:00:00.000Z');
  expect((await invoicesOf(api, id)).map((invoice) => invoice.total)).toEqual(['150']);
});

test('a trial bills nothing, and billing begins and anchors at its end', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-02-20T09:00:00Z', card });
  const trial = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, trial_period_days: 14 });
  expect([trial.subscription_status, trial.trial_end]).toEqual(['TRIALING', '2026-03-06T09:00:00.000Z']);
  await advanceTo(api, clockId, '2026-03-07T00:00:00Z');
  const after = await subscriptionOf(api, trial.id);
  expect([after.subscription_status, after.billing_anchor, after.current_period_end]).toEqual([
    'active',
    '2026-03-06T09:00:00.000Z',
    '2026-04-06T09:00:00.000Z',
  ]);
  expect(
    (await invoicesOf(api, trial.id)).map((invoice) => [
      invoice.billing_reason,
      invoice.invoice_status,
      invoice.total,
      invoice.payment_status,
    ]),
  ).toEqual([
    ['SUBSCRIPTION_TRIAL_START', 'FINALIZED', '0', 'SUCCEEDED'],
    ['SUBSCRIPTION_TRIAL_END', 'FINALIZED', '30', 'SUCCEEDED'],
  ]);
  expect(await eventsOf(api, trial.id)).toEqual(['subscription.created', 'subscription.activated']);
});

test('the coming renewal is noticed a day ahead, once a period', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-01-30T23:59:59Z');
  expect(await eventsOf(api, id)).toEqual(['subscription.created']);
  await advanceTo(api, clockId, '2026-01-31T00:00:00Z');
  await advanceTo(api, clockId, '2026-01-31T23:00:00Z');
  expect(await eventsOf(api, id)).toEqual(['subscription.created', 'subscription.renewal.due']);
});

test('cancelled at once it bills no more and ends its lines', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-01-10T00:00:00Z');
  const result = await created<Record<string, unknown>>(api, `/subscriptions/${id}/cancel`, {
    cancellation_type: 'immediate',
    reason: 'too dear',
  });
  expect(result).toMatchObject({ status: 'cancelled', effective_date: '2026-01-10T00:00:00.000Z' });
  const ended = await subscriptionOf(api, id);
  expect(ended.line_items.map((item) => item.end_date)).toEqual([
    '2026-01-10T00:00:00.000Z',
    '2026-01-10T00:00:00.000Z',
  ]);
  await advanceTo(api, clockId, '2026-03-01T00:00:00Z');
  expect(await invoicesOf(api, id)).toHaveLength(1);
  expect(await eventsOf(api, id)).toEqual(['subscription.created', 'subscription.updated', 'subscription.cancelled']);
});

test('cancelled at once with an invoice it bills usage up to the end', async () => {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await created(api, '/events', {
    event_name: plan.eventName,
    external_customer_id: externalId,
    timestamp: '2026-01-02T00:00:00Z',
  });
  await advanceTo(api, clockId, '2026-01-10T00:00:00Z');
  await created(api, `/subscriptions/${id}/cancel`, {
    cancellation_type: 'immediate',
    cancel_immediately_invoice_policy: 'generate_invoice',
  });
  const [, closing] = await invoicesOf(api, id);
  expect(closing).toMatchObject({
    billing_reason: 'PRORATION',
    invoice_status: 'FINALIZED',
    total: '0.1',
    period_end: '2026-01-10T00:00:00.000Z',
  });
});

test('cancelled at the end of its period it bills that period and ends', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'active',
    cancel_at: '2026-02-01T00:00:00.000Z',
  });
  const again = await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
  expect(again).toMatchObject({
    status: 400,
    body: { code: 'validation_error', message: expect.stringContaining('already scheduled') },
  });
  await advanceTo(api, clockId, '2026-03-02T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'cancelled',
    end_date: '2026-02-01T00:00:00.000Z',
  });
  expect((await invoicesOf(api, id)).map((invoice) => invoice.invoice_status)).toEqual(['FINALIZED', 'SKIPPED']);
  expect(await eventsOf(api, id)).toEqual([
    'subscription.created',
    'subscription.updated',
    'subscription.updated',
    'subscription.cancelled',
  ]);
});

test('cancelled at a date inside its period it ends on that date', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await created(api, `/subscriptions/${id}/cancel`, {
    cancellation_type: 'scheduled_date',
    cancel_at: '2026-02-11T00:00:00Z',
  });
  await advanceTo(api, clockId, '2026-04-01T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'cancelled',
    end_date: '2026-02-11T00:00:00.000Z',
  });
  expect((await invoicesOf(api, id)).map((invoice) => invoice.period_end)).toEqual([
    '2026-02-01T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
    '2026-02-11T00:00:00.000Z',
  ]);
});

test('an incomplete subscription becomes active when its opening invoice is paid', async () => {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-01-01T00:00:00Z',
    card: sandboxCardNumber('declines_times', 1),
  });
  const { id, subscription_status } = await subscribe(api, {
    customer_id: customerId,
    plan_id: plan.planId,
    payment_behavior: 'allow_incomplete',
  });
  expect(subscription_status).toBe('incomplete');
  await advanceTo(api, clockId, '2026-01-01T12:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'incomplete' });
  await advanceTo(api, clockId, '2026-01-03T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
  expect((await invoicesOf(api, id)).map((invoice) => invoice.payment_status)).toEqual(['SUCCEEDED']);
});

test('an unpaid invoice is tried again and becomes overdue', async () => {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-01-01T00:00:00Z',
    card: sandboxCardNumber('declines'),
  });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-01-31T00:00:00Z');
  const [opening] = await invoicesOf(api, id);
  const { body } = await api<{ items: { payment_status: string }[] }>('GET', `/payments?destination_id=${opening?.id}`);
  expect(body.items.map((payment) => payment.payment_status)).toEqual([
    'FAILED',
    'FAILED',
    'FAILED',
    'FAILED',
    'FAILED',
  ]);
  await advanceTo(api, clockId, '2026-02-03T00:00:00Z');
  expect((await eventsOf(api, opening?.id ?? '')).filter((name) => name === 'invoice.payment.overdue')).toHaveLength(1);
});

test('periods missed before the creation are billed in order, each once', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-05-02T00:00:00Z', card });
  const { id } = await subscribe(api, {
    customer_id: customerId,
    plan_id: plan.planId,
    start_date: '2026-01-31T00:00:00Z',
    proration_behavior: 'none',
  });
  await advanceTo(api, clockId, '2026-05-02T03:00:00Z');
  expect(
    (await invoicesOf(api, id)).map((invoice) => [
      invoice.billing_sequence,
      invoice.period_end,
      invoice.payment_status,
    ]),
  ).toEqual([
    [1, '2026-02-28T00:00:00.000Z', 'SUCCEEDED'],
    [2, '2026-02-28T00:00:00.000Z', 'SUCCEEDED'],
    [3, '2026-03-31T00:00:00.000Z', 'SUCCEEDED'],
    [4, '2026-04-30T00:00:00.000Z', 'SUCCEEDED'],
  ]);
});

test('the same Idempotency-Key creates one subscription, another body is refused', async () => {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const body = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  const headers = { 'idempotency-key': randomUUID() };
  const first = await api<{ id: string }>('POST', '/subscriptions', body, headers);
  const second = await api<{ id: string }>('POST', '/subscriptions', body, headers);
  expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
  expect(await api('POST', '/subscriptions', { ...body, currency: 'eur' }, headers)).toMatchObject({ status: 409 });
});
