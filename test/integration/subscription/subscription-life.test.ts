import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
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

async function subscribed(fields: object = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  return { id, clockId };
}

const post = (id: string, command: string, body: object = {}) => api('POST', `/subscriptions/${id}/${command}`, body);
const statusesOf = (answers: { status: number }[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length] as const),
  );

test('the timeline tells in one list what happened, with its invoices and events, and what is to come', async () => {
  const { id, clockId } = await subscribed();
  await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
  await post(id, 'pause', { proration_behavior: 'none', reason: 'break' });
  await post(id, 'cancel', { cancellation_type: 'end_of_period' });
  const { status, body } = await api<{ items: Entry[] }>('GET', `/subscriptions/${id}/timeline`);
  expect(status).toBe(200);
  const told = body.items.map(({ at, is_coming, what }) => [at.slice(0, 10), is_coming, what]);
  expect(
    told.filter(([, , what]) =>
      ['created', 'period closed', 'paused', 'cancellation scheduled'].includes(String(what)),
    ),
  ).toEqual([
    ['2026-04-01', false, 'created'],
    ['2026-05-01', false, 'period closed'],
    ['2026-05-02', false, 'paused'],
    ['2026-05-02', false, 'cancellation scheduled'],
  ]);
  expect(body.items.at(-1)).toEqual({
    at: '2026-06-01T00:00:00.000Z',
    is_coming: true,
    what: 'closePeriod',
    customer_text: 'The subscription ends and its last invoice is made.',
    operator_text: 'closePeriod is due',
    invoice_id: null,
    events: [],
  });
  const closed = body.items.find(({ what }) => what === 'period closed');
  const cycle = (await invoicesOf(api, id)).find((invoice) => invoice.billing_reason === 'SUBSCRIPTION_CYCLE');
  expect(closed?.invoice_id).toBe(cycle?.id);
  const paused = body.items.find(({ what }) => what === 'paused');
  expect(paused?.events.map(({ event_type }) => event_type)).toContain('subscription.paused');
  const issued = body.items.find((entry) => entry.what === 'finalized' && entry.invoice_id === cycle?.id);
  expect(issued?.customer_text).toMatch(/^Invoice INV-\S+ over 30 USD was issued\.$/);
  expect((await api('GET', '/subscriptions/subs_unknown/timeline')).status).toBe(404);
});

interface Entry {
  at: string;
  is_coming: boolean;
  what: string;
  customer_text: string;
  invoice_id: string | null;
  events: { event_type: string }[];
}

test('of 32 pauses at once one pauses, and the others are told so', async () => {
  const { id } = await subscribed();
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => post(id, 'pause', { proration_behavior: 'none' })),
  );
  expect(statusesOf(answers)).toEqual({ 200: 1, 400: 31 });
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'paused', version: 2 });
  expect((await eventsOf(api, id)).filter((name) => name === 'subscription.paused')).toHaveLength(1);
});

test('pauses and cancellations at once leave one history, in which everybody was told the truth', async () => {
  const { id } = await subscribed();
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, index) =>
      index % 2 === 0
        ? post(id, 'pause', { proration_behavior: 'none' })
        : post(id, 'cancel', { cancellation_type: 'immediate' }),
    ),
  );
  const pauses = answers.filter((_, index) => index % 2 === 0);
  const cancels = answers.filter((_, index) => index % 2 === 1);
  const paused = pauses.filter(({ status }) => status === 200).length;
  expect(statusesOf(cancels)).toEqual({ 200: 1, 400: 15 });
  expect(paused).toBeLessThanOrEqual(1);
  const events = (await eventsOf(api, id)).filter((name) => /paused|cancelled/.test(name));
  expect(events).toEqual([...(paused === 1 ? ['subscription.paused'] : []), 'subscription.cancelled']);
  const after = await subscriptionOf(api, id);
  expect(after).toMatchObject({ subscription_status: 'cancelled', version: 2 + paused, pause_status: 'none' });
});

test('of two activations at once one starts the subscription, and it has one opening invoice', async () => {
  const { id } = await subscribed({ subscription_status: 'draft' });
  const answers = await Promise.all(
    Array.from({ length: 2 }, () => post(id, 'activate', { start_date: '2026-04-01T00:00:00Z' })),
  );
  expect(statusesOf(answers)).toEqual({ 200: 1, 400: 1 });
  expect(await invoicesOf(api, id)).toHaveLength(1);
  expect(await eventsOf(api, id)).toEqual(['subscription.draft.created', 'subscription.activated']);
});
