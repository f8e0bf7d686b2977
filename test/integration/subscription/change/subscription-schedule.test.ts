import { describe, expect, it, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

interface ScheduleView {
  id: string;
  subscription_id: string;
  schedule_type: string;
  status: string;
  scheduled_at: string;
  days_until_execution: number;
  can_be_cancelled: boolean;
}
interface ScheduleList {
  schedules: ScheduleView[];
  count: number;
}

/** A subscription that began on 1 April 2026 and whose customer's present is 11 April. */
async function subscribed(fields: object = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
  return { id, clockId, customerId };
}

const cancel = (id: string, body: object) => api('POST', `/subscriptions/${id}/cancel`, body);
const schedulesOf = async (id: string) => (await api<ScheduleList>('GET', `/subscriptions/${id}/schedules`)).body;
const put = (id: string, body: object) => api('PUT', `/subscriptions/${id}`, body);
const atDate = { cancellation_type: 'scheduled_date', cancel_at: '2026-04-21T00:00:00Z' };

test('a scheduled end is listed everywhere and read by its id, with every key', async () => {
  const { id } = await subscribed();
  await cancel(id, atDate);
  const { schedules, count } = await schedulesOf(id);
  expect(count).toBe(1);
  const [schedule] = schedules;
  expect(schedule).toEqual({
    id: expect.stringMatching(/^sched_/),
    subscription_id: id,
    schedule_type: 'cancellation',
    scheduled_at: '2026-04-21T00:00:00.000Z',
    status: 'pending',
    configuration: expect.objectContaining({ cancellation_type: 'scheduled_date' }),
    executed_at: null,
    cancelled_at: null,
    execution_result: null,
    error_message: null,
    days_until_execution: 10,
    can_be_cancelled: true,
    metadata: {},
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  for (const path of [
    `/subscriptions/schedules?subscription_id=${id}`,
    `/subscription-schedules?subscription_id=${id}&pending_only=true`,
    `/v1/subscription-schedules?subscription_id=${id}`,
    `/v1/subscriptions/${id}/schedules`,
  ]) {
    expect((await api<ScheduleList>('GET', path)).body, path).toEqual({ schedules: [schedule], count: 1 });
  }
  for (const path of ['/subscriptions/schedules', '/subscription-schedules', '/v1/subscription-schedules']) {
    expect((await api('GET', `${path}/${schedule?.id}`)).body, path).toEqual(schedule);
    expect((await api('GET', `${path}/sched_unknown`)).status).toBe(404);
  }
  expect((await api('GET', '/subscriptions/subs_unknown/schedules')).status).toBe(404);
  expect((await api('GET', '/subscriptions/schedules?limit=-1')).status).toBe(400);
});

describe('a schedule taken back', () => {
  it.each([
    ['by its id', (schedule: ScheduleView) => [`/subscriptions/schedules/${schedule.id}/cancel`, {}]],
    ['by the doubled path', (schedule: ScheduleView) => [`/v1/subscriptions/schedules/${schedule.id}/cancel`, {}]],
    [
      'by a body with its id',
      (schedule: ScheduleView) => ['/subscriptions/schedules/cancel', { schedule_id: schedule.id }],
    ],
    [
      'by subscription and kind',
      (schedule: ScheduleView) => [
        '/subscriptions/schedules/cancel',
        { subscription_id: schedule.subscription_id, schedule_type: 'cancellation' },
      ],
    ],
  ] as const)('%s restores the dates, and the subscription renews', async (_how, request) => {
    const { id, clockId } = await subscribed({ metadata: { team: 'a' } });
    await cancel(id, { ...atDate, reason: 'budget' });
    expect(await subscriptionOf(api, id)).toMatchObject({ current_period_end: '2026-04-21T00:00:00.000Z' });
    const [schedule] = (await schedulesOf(id)).schedules;
    const [path, body] = request(schedule as ScheduleView) as [string, object];
    expect(await api('POST', path, body)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await subscriptionOf(api, id)).toMatchObject({
      cancel_at: null,
      end_date: null,
      current_period_end: '2026-05-01T00:00:00.000Z',
      metadata: { team: 'a' },
      version: 3,
    });
    expect((await schedulesOf(id)).schedules).toMatchObject([{ status: 'cancelled', can_be_cancelled: false }]);
    await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
    expect((await eventsOf(api, id)).filter((name) => name !== 'subscription.renewal.due')).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.updated',
    ]);
  });

  it('of an end of period clears it, and restores an end date that was there before', async () => {
    const { id } = await subscribed({ end_date: '2026-09-15T00:00:00Z' });
    await cancel(id, { cancellation_type: 'end_of_period' });
    const [schedule] = (await schedulesOf(id)).schedules;
    await api('POST', `/subscriptions/schedules/${schedule?.id}/cancel`);
    expect(await subscriptionOf(api, id)).toMatchObject({
      cancel_at_period_end: false,
      cancel_at: null,
      end_date: '2026-09-15T00:00:00.000Z',
    });
  });

  it('is refused when it is not pending, when nothing is named, and when there is none', async () => {
    const { id } = await subscribed();
    await cancel(id, atDate);
    const [schedule] = (await schedulesOf(id)).schedules;
    const path = `/subscriptions/schedules/${schedule?.id}/cancel`;
    expect((await api('POST', path)).status).toBe(200);
    expect(await api('POST', path)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    for (const [body, status] of [
      [{}, 400],
      [{ subscription_id: id }, 400],
      [{ subscription_id: id, schedule_type: 'holiday' }, 400],
      [{ subscription_id: id, schedule_type: 'cancellation' }, 404],
      [{ schedule_id: 'sched_unknown' }, 404],
    ] as const) {
      expect((await api('POST', '/subscriptions/schedules/cancel', body)).status, JSON.stringify(body)).toBe(status);
    }
  });
});

test('an executed schedule is shown as done', async () => {
  const { id, clockId } = await subscribed();
  await cancel(id, atDate);
  await advanceTo(api, clockId, '2026-04-22T00:00:00Z');
  expect((await schedulesOf(id)).schedules).toMatchObject([
    { status: 'executed', executed_at: '2026-04-21T00:00:00.000Z', days_until_execution: 0, can_be_cancelled: false },
  ]);
});

test('an immediate end takes a pending schedule with it and is told once', async () => {
  const { id } = await subscribed();
  await cancel(id, { cancellation_type: 'end_of_period' });
  expect((await cancel(id, { cancellation_type: 'end_of_period' })).status).toBe(400);
  expect((await cancel(id, { cancellation_type: 'immediate' })).status).toBe(200);
  expect((await schedulesOf(id)).schedules).toMatchObject([{ status: 'cancelled' }]);
  expect((await eventsOf(api, id)).filter((name) => name === 'subscription.cancelled')).toHaveLength(1);
});

describe('an end while paused', () => {
  it('at once skips the open stretch and charges nothing else', async () => {
    const { id, clockId } = await subscribed();
    await api('POST', `/subscriptions/${id}/pause`, { proration_behavior: 'none' });
    await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
    const ended = await cancel(id, {
      cancellation_type: 'immediate',
      cancel_immediately_invoice_policy: 'generate_invoice',
    });
    expect(ended.body).toMatchObject({ status: 'cancelled', effective_date: '2026-04-21T00:00:00.000Z' });
    expect((await invoicesOf(api, id)).slice(2)).toMatchObject([
      { billing_reason: 'SUBSCRIPTION_CYCLE', invoice_status: 'SKIPPED', period_end: '2026-04-21T00:00:00.000Z' },
    ]);
    expect(await subscriptionOf(api, id)).toMatchObject({
      pause_status: 'none',
      active_pause_id: '',
      pauses: [{ pause_status: 'cancelled', resumed_at: null }],
    });
  });

  it('at the period’s end skips the last stretch', async () => {
    const { id, clockId } = await subscribed();
    await api('POST', `/subscriptions/${id}/pause`, { proration_behavior: 'none' });
    await cancel(id, { cancellation_type: 'end_of_period' });
    await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({
      subscription_status: 'cancelled',
      pauses: [{ pause_status: 'cancelled' }],
    });
    expect((await invoicesOf(api, id)).at(-1)).toMatchObject({ invoice_status: 'SKIPPED' });
  });
});

describe('PUT', () => {
  it('cancel_at sets the end, null takes it back, and the same again changes nothing', async () => {
    const { id } = await subscribed();
    const end = { cancel_at: '2026-07-10T00:00:00Z' };
    expect((await put(id, end)).body).toMatchObject({
      cancel_at: '2026-07-10T00:00:00.000Z',
      end_date: '2026-07-10T00:00:00.000Z',
      version: 2,
    });
    expect((await put(id, end)).body).toMatchObject({ version: 2 });
    expect((await put(id, { cancel_at: null })).body).toMatchObject({ cancel_at: null, end_date: null, version: 3 });
    expect((await schedulesOf(id)).count).toBe(0);
  });

  it('cancel_at_period_end is a cancellation, and false takes it and its schedule back', async () => {
    const { id } = await subscribed();
    expect((await put(id, { cancel_at_period_end: true })).body).toMatchObject({
      cancel_at_period_end: true,
      cancel_at: '2026-05-01T00:00:00.000Z',
    });
    expect((await schedulesOf(id)).schedules).toMatchObject([{ status: 'pending' }]);
    expect((await put(id, { cancel_at: '2026-06-01T00:00:00Z' })).status).toBe(400);
    expect((await put(id, { cancel_at: null })).status).toBe(400);
    expect((await put(id, { cancel_at_period_end: false })).body).toMatchObject({
      cancel_at_period_end: false,
      cancel_at: null,
    });
    expect((await schedulesOf(id)).schedules).toMatchObject([{ status: 'cancelled' }]);
  });

  it('parent_subscription_id links standalone subscriptions, and empty unlinks them', async () => {
    const parent = await subscribed();
    const { id } = await subscribed();
    expect((await put(id, { parent_subscription_id: parent.id })).body).toMatchObject({
      parent_subscription_id: parent.id,
    });
    expect((await put(id, { parent_subscription_id: id })).status).toBe(400);
    expect((await put(id, { parent_subscription_id: 'subs_unknown' })).status).toBe(404);
    expect((await put(id, { parent_subscription_id: '' })).body).toMatchObject({ parent_subscription_id: null });
    await cancel(parent.id, { cancellation_type: 'immediate' });
    expect((await put(id, { parent_subscription_id: parent.id })).status).toBe(400);
  });

  it('takes no status but the present one, no past end, and nothing for an unknown subscription', async () => {
    const { id } = await subscribed();
    expect((await put(id, { subscription_status: 'ACTIVE' })).body).toMatchObject({ version: 1 });
    const refused = await put(id, { subscription_status: 'paused' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect((await put(id, { cancel_at: '2026-04-01T00:00:00Z' })).status).toBe(400);
    expect((await put('subs_unknown', { metadata: {} })).status).toBe(404);
    expect((await eventsOf(api, id)).filter((name) => name === 'subscription.updated')).toEqual([]);
  });
});
