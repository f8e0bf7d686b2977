import { beforeEach, expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
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
const from = '2026-04-01T00:00:00Z';

const set = async (key: string, value: object) => {
  const { status, body } = await api('PUT', `/settings/${key}`, { value });
  expect(status, JSON.stringify(body)).toBe(200);
};
const autoCancel = (enabled: boolean) =>
  set('subscription_config', { auto_cancellation_enabled: enabled, grace_period_days: 3 });
const afterLast = (after_last_attempt: string) =>
  set('dunning_config', { retry_after_days: [1, 3], after_last_attempt });

beforeEach(async () => {
  await autoCancel(false);
  await afterLast('none');
});

/** A subscription of April 1st whose first invoice is due on the 2nd of May: a day after its period. */
async function subscribed(card: SandboxBehaviour | null, fields: object = {}, count = 0) {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: from,
    ...(card === null ? {} : { card: sandboxCardNumber(card, count) }),
  });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  return { id, clockId, customerId };
}

type Entry = { kind: string; is_coming: boolean; at: string; invoice_id: string | null; customer: string };
const timelineOf = async (id: string) => (await api<{ items: Entry[] }>('GET', `/subscriptions/${id}/timeline`)).body;

const saveCard = (customerId: string) =>
  created(api, `/customers/${customerId}/payment-methods`, {
    gateway: 'sandbox',
    card_number: sandboxCardNumber('succeeds'),
    set_default: true,
  });

test('an unpaid invoice ends its subscription once the grace after its due date is over, and not before', async () => {
  await autoCancel(true);
  const { id, clockId } = await subscribed('declines');
  const [opening] = await invoicesOf(api, id);
  expect(opening!.due_date).toBe('2026-05-02T00:00:00.000Z');
  expect(JSON.stringify(await timelineOf(id))).toContain('is stopped unless its unpaid invoice is paid');
  await advanceTo(api, clockId, '2026-05-05T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
  const before = await invoicesOf(api, id);

  await advanceTo(api, clockId, '2026-05-05T00:00:01Z');
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'cancelled',
    end_date: '2026-05-05T00:00:00.001Z',
    cancelled_at: '2026-05-05T00:00:00.001Z',
    metadata: { cancellation_reason: expect.stringContaining(opening!.invoice_number!) },
  });
  // Policy skip and no proration: nothing is billed or given back.
  expect(await invoicesOf(api, id)).toHaveLength(before.length);
  expect((await eventsOf(api, id)).slice(-2)).toEqual(['subscription.updated', 'subscription.cancelled']);
  await advanceTo(api, clockId, '2026-08-01T00:00:00Z');
  expect((await eventsOf(api, id)).filter((name) => name === 'subscription.cancelled')).toHaveLength(1);
});

test('an invoice that is sent ends its subscription alike, and one that is paid in time does not', async () => {
  await autoCancel(true);
  const owing = await subscribed(null, { collection_method: 'send_invoice' });
  const paying = await subscribed(null, { collection_method: 'send_invoice' });
  const late = await subscribed('declines');
  for (const { id, clockId } of [paying, late]) {
    await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
    for (const invoice of await invoicesOf(api, id))
      expect((await api('PUT', `/invoices/${invoice.id}/payment`, { payment_status: 'SUCCEEDED' })).status).toBe(200);
    expect(JSON.stringify(await timelineOf(id))).not.toContain('is stopped unless');
  }
  await Promise.all([owing, paying, late].map(({ clockId }) => advanceTo(api, clockId, '2026-05-05T12:00:00Z')));
  expect((await subscriptionOf(api, owing.id)).subscription_status).toBe('cancelled');
  expect((await subscriptionOf(api, paying.id)).subscription_status).toBe('active');
  expect((await subscriptionOf(api, late.id)).subscription_status).toBe('active');
});

test('without the setting nothing ends; made later it holds for what is unpaid, from the current period on', async () => {
  const { id, clockId } = await subscribed('declines');
  await advanceTo(api, clockId, '2026-06-15T00:00:00Z');
  expect((await subscriptionOf(api, id)).subscription_status).toBe('active');
  await autoCancel(true);
  expect(JSON.stringify(await timelineOf(id))).toContain('is stopped unless');
  await advanceTo(api, clockId, '2026-06-15T00:00:01Z');
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'cancelled',
    end_date: '2026-06-01T00:00:00.000Z',
  });
});

test('one that is paused, voided or not active is left alone', async () => {
  await autoCancel(true);
  const paused = await subscribed('declines');
  const voided = await subscribed('declines');
  const trial = await subscribed('declines', { trial_period_days: 60 });
  await created(api, `/subscriptions/${paused.id}/pause`, {});
  await advanceTo(api, voided.clockId, '2026-05-02T00:00:00Z');
  for (const invoice of await invoicesOf(api, voided.id))
    expect((await api('POST', `/invoices/${invoice.id}/void`, {})).status).toBe(200);
  await Promise.all([paused, voided, trial].map(({ clockId }) => advanceTo(api, clockId, '2026-05-20T00:00:00Z')));
  expect((await subscriptionOf(api, paused.id)).subscription_status).toBe('paused');
  expect((await subscriptionOf(api, voided.id)).subscription_status).toBe('active');
  expect((await subscriptionOf(api, trial.id)).subscription_status).toBe('TRIALING');
  // The grace is over as soon as the pause is.
  await created(api, `/subscriptions/${paused.id}/resume`, {});
  await advanceTo(api, paused.clockId, '2026-05-20T00:00:01Z');
  expect((await subscriptionOf(api, paused.id)).subscription_status).toBe('cancelled');
});

test('the last attempt that fails cancels the subscription where the setting says so', async () => {
  await afterLast('cancel');
  const { id, clockId } = await subscribed('declines');
  const none = await subscribed(null);
  await advanceTo(api, clockId, '2026-04-03T23:00:00Z');
  expect((await subscriptionOf(api, id)).subscription_status).toBe('active');
  await advanceTo(api, clockId, '2026-04-04T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({
    subscription_status: 'cancelled',
    end_date: '2026-04-04T00:00:00.000Z',
    metadata: { cancellation_reason: expect.stringContaining('last attempt') },
  });
  // Without a method each attempt counts, and nothing is charged.
  await advanceTo(api, none.clockId, '2026-04-05T00:00:00Z');
  expect((await subscriptionOf(api, none.id)).subscription_status).toBe('cancelled');
});

test('an attempt that succeeds stops it all, and invoices that are sent have no attempts', async () => {
  await afterLast('cancel');
  const paid = await subscribed('declines_times', {}, 2);
  const sent = await subscribed(null, { collection_method: 'send_invoice' });
  await Promise.all([paid, sent].map(({ clockId }) => advanceTo(api, clockId, '2026-04-20T00:00:00Z')));
  expect((await subscriptionOf(api, paid.id)).subscription_status).toBe('active');
  expect((await invoicesOf(api, paid.id))[0]!.payment_status).toBe('SUCCEEDED');
  expect((await subscriptionOf(api, sent.id)).subscription_status).toBe('active');
});

test('the last attempt that fails pauses the subscription, which goes on when it is paid', async () => {
  await afterLast('pause');
  const { id, clockId, customerId } = await subscribed('declines');
  await advanceTo(api, clockId, '2026-04-10T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'paused' });
  const pauses = await api<{ items: object[] }[]>('GET', `/subscriptions/${id}/pauses`);
  const [opening] = await invoicesOf(api, id);
  expect(pauses.body[0]!.items).toMatchObject([
    { pause_start: '2026-04-04T00:00:00.000Z', metadata: { unpaid_invoice_id: opening!.id } },
  ]);
  await saveCard(customerId);
  expect((await api('POST', `/invoices/${opening!.id}/payment/attempt`, {})).status).toBe(200);
  await advanceTo(api, clockId, '2026-04-10T01:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
  expect((await eventsOf(api, id)).filter((name) => /paused|resumed/.test(name))).toEqual([
    'subscription.paused',
    'subscription.resumed',
  ]);
  await advanceTo(api, clockId, '2026-05-10T00:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => invoice.payment_status)).not.toContain('FAILED');
});

test('whoever resumes it although it is unpaid is not paused for it again', async () => {
  await afterLast('pause');
  const { id, clockId } = await subscribed('declines');
  await advanceTo(api, clockId, '2026-04-10T00:00:00Z');
  await created(api, `/subscriptions/${id}/resume`, {});
  await advanceTo(api, clockId, '2026-04-29T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
});

test('a setting that is none is refused', async () => {
  for (const value of [{ after_last_attempt: 'delete' }, { after_last_attempt: 3 }]) {
    expect((await api('PUT', '/settings/dunning_config', { value })).status).toBe(400);
  }
  expect((await api('PUT', '/settings/subscription_config', { value: { grace_period_days: 0 } })).status).toBe(400);
});
