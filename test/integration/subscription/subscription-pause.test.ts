import { randomUUID } from 'node:crypto';
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
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api, { fee: '90' });
await created(api, '/prices', {
  entity_type: 'PLAN',
  entity_id: plan.planId,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  currency: 'usd',
  amount: '60',
  invoice_cadence: 'ARREAR',
  display_name: 'Support',
  start_date: '2020-01-01T00:00:00Z',
});

interface PauseView {
  id: string;
  pause_status: string;
  subscription: { subscription_status: string; version: number };
  pause: { id: string };
}

const pause = (id: string, body: object = {}) => api<PauseView>('POST', `/subscriptions/${id}/pause`, body);
const resume = (id: string, body: object = {}) => api<PauseView>('POST', `/subscriptions/${id}/resume`, body);

/** A subscription that began on 1 April 2026 and whose customer's present is `now`. */
async function subscribed(now: string, fields: object = {}) {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  await use(externalId, 10, '2026-04-02T00:00:00Z');
  if (now > '2026-04-01T00:00:00Z') await advanceTo(api, clockId, now);
  return { id, clockId, customerId, externalId };
}

async function use(customer: string, calls: number, timestamp: string): Promise<void> {
  const events = Array.from({ length: calls }, () => ({
    event_name: plan.eventName,
    external_customer_id: customer,
    event_id: randomUUID(),
    timestamp,
  }));
  await created(api, '/events/bulk', { events });
}

const bills = async (id: string) =>
  (await invoicesOf(api, id)).map((invoice) => [
    invoice.billing_reason,
    invoice.invoice_status,
    `${invoice.period_start.slice(0, 10)}/${invoice.period_end.slice(0, 10)}`,
    invoice.total,
  ]);

describe('with proration_behavior none', () => {
  const none = { proration_behavior: 'none' };

  it('bills usage and arrears up to the pause, skips every paused stretch, and bills the rest after the resume', async () => {
    const { id, clockId, externalId } = await subscribed('2026-04-11T00:00:00Z');
    const paused = await pause(id, { ...none, reason: 'seasonal', metadata: { by: 'ops' }, pause_days: 5 });
    expect(paused, JSON.stringify(paused.body)).toMatchObject({
      status: 200,
      body: {
        id: expect.stringMatching(/^pause_/),
        subscription_id: id,
        pause_start: '2026-04-11T00:00:00.000Z',
        pause_end: '2026-04-16T00:00:00.000Z',
        pause_mode: 'immediate',
        pause_status: 'active',
        resume_mode: 'immediate',
        resumed_at: null,
        original_period_start: '2026-04-01T00:00:00.000Z',
        original_period_end: '2026-05-01T00:00:00.000Z',
        reason: 'seasonal',
        metadata: { by: 'ops' },
        subscription: {
          subscription_status: 'paused',
          pause_status: 'active',
          version: 2,
          current_period_start: '2026-04-11T00:00:00.000Z',
          current_period_end: '2026-05-01T00:00:00.000Z',
        },
      },
    });
    expect(paused.body).toMatchObject({
      pause: { id: paused.body.id, subscription_id: id },
      subscription: { active_pause_id: paused.body.id, pauses: [{ id: paused.body.id }] },
    });
    await use(externalId, 7, '2026-05-20T00:00:00Z');
    await advanceTo(api, clockId, '2026-06-16T00:00:00Z');
    expect((await subscriptionOf(api, id)).subscription_status).toBe('paused');

    const resumed = await resume(id, { metadata: { back: 'yes' }, ...none });
    expect(resumed.body).toMatchObject({
      pause_status: 'completed',
      resumed_at: '2026-06-16T00:00:00.000Z',
      metadata: { by: 'ops', back: 'yes' },
      subscription: { subscription_status: 'active', pause_status: 'none', active_pause_id: '' },
    });
    await use(externalId, 3, '2026-06-17T00:00:00Z');
    await advanceTo(api, clockId, '2026-07-01T03:00:00Z');

    expect(await bills(id)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '2026-04-01/2026-05-01', '90'],
      ['SUBSCRIPTION_UPDATE', 'FINALIZED', '2026-04-01/2026-04-11', '21'],
      ['SUBSCRIPTION_CYCLE', 'SKIPPED', '2026-04-11/2026-05-01', '0'],
      ['SUBSCRIPTION_CYCLE', 'SKIPPED', '2026-05-01/2026-06-01', '0'],
      ['SUBSCRIPTION_CYCLE', 'SKIPPED', '2026-06-01/2026-06-16', '0'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '2026-06-16/2026-07-01', '120.3'],
    ]);
    const skipped = (await invoicesOf(api, id)).filter((invoice) => invoice.invoice_status === 'SKIPPED');
    expect(skipped.every((invoice) => invoice.invoice_number === null && invoice.line_items.length === 0)).toBe(true);
    const transitions = (await eventsOf(api, id)).filter((name) => name !== 'subscription.renewal.due');
    expect(transitions).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.paused',
      'subscription.updated',
      'subscription.resumed',
    ]);
  });

  it('a resume on the very boundary charges the full period', async () => {
    const { id, clockId } = await subscribed('2026-04-11T00:00:00Z');
    await pause(id, none);
    await advanceTo(api, clockId, '2026-05-01T00:00:00Z');
    await resume(id, none);
    expect((await bills(id)).slice(2)).toEqual([
      ['SUBSCRIPTION_CYCLE', 'SKIPPED', '2026-04-11/2026-05-01', '0'],
      ['SUBSCRIPTION_UPDATE', 'FINALIZED', '2026-05-01/2026-06-01', '90'],
    ]);
  });

  it.each([
    ['the start', '2026-04-01T00:00:00Z', 'SUBSCRIPTION_CREATE'],
    ['a boundary', '2026-05-01T00:00:00Z', 'SUBSCRIPTION_CYCLE'],
  ])('a pause on %s that is resumed at once charges nothing twice', async (_where, now, reason) => {
    const { id } = await subscribed(now);
    await pause(id, none);
    expect((await resume(id, none)).status).toBe(200);
    expect((await bills(id)).slice(-2).map((bill) => bill.slice(0, 2))).toEqual([
      [reason, reason === 'SUBSCRIPTION_CREATE' ? 'FINALIZED' : 'DRAFT'],
      ['SUBSCRIPTION_UPDATE', 'SKIPPED'],
    ]);
  });

  it('a resume at once charges again what the pause on the boundary gave back', async () => {
    const { id } = await subscribed('2026-04-01T00:00:00Z');
    await pause(id, { proration_behavior: 'create_prorations' });
    await resume(id, none);
    expect((await bills(id)).map(([reason, status, , total]) => [reason, status, total])).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '90'],
      ['SUBSCRIPTION_UPDATE', 'SKIPPED', '0'],
      ['SUBSCRIPTION_UPDATE', 'FINALIZED', '90'],
    ]);
  });

  it('a resume with create_prorations in the period of the pause charges nothing that was paid before', async () => {
    const { id, clockId } = await subscribed('2026-04-11T00:00:00Z');
    await pause(id, none);
    await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
    await resume(id);
    expect((await bills(id)).map(([reason, status]) => [reason, status])).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED'],
      ['SUBSCRIPTION_UPDATE', 'FINALIZED'],
      ['SUBSCRIPTION_CYCLE', 'SKIPPED'],
    ]);
  });

  it('a resume with create_prorations in a later period charges its rest', async () => {
    const { id, clockId } = await subscribed('2026-04-11T00:00:00Z');
    await pause(id, none);
    await advanceTo(api, clockId, '2026-06-16T00:00:00Z');
    await resume(id);
    expect((await bills(id)).at(-1)).toEqual(['SUBSCRIPTION_UPDATE', 'FINALIZED', '2026-06-16/2026-07-01', '45']);
  });

  it('a pause at the very boundary closes the period first and has an empty closing invoice', async () => {
    const { id } = await subscribed('2026-05-01T00:00:00Z');
    await pause(id, none);
    expect((await bills(id)).slice(1).map((bill) => bill.slice(0, 3))).toEqual([
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-04-01/2026-05-01'],
      ['SUBSCRIPTION_UPDATE', 'SKIPPED', '2026-05-01/2026-05-01'],
    ]);
  });

  it('paused twice in one period, arrears are billed for the time between', async () => {
    const { id, clockId } = await subscribed('2026-04-04T00:00:00Z');
    for (const [at, act] of [
      ['2026-04-07T00:00:00Z', pause],
      ['2026-04-13T00:00:00Z', resume],
      ['2026-04-16T00:00:00Z', pause],
      ['2026-04-19T00:00:00Z', resume],
    ] as const) {
      await advanceTo(api, clockId, at);
      expect((await act(id, none)).status).toBe(200);
    }
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await bills(id)).map(([, , period, total]) => [period, total])).toEqual([
      ['2026-04-01/2026-05-01', '90'],
      ['2026-04-01/2026-04-07', '13'],
      ['2026-04-07/2026-04-13', '0'],
      ['2026-04-13/2026-04-16', '6'],
      ['2026-04-16/2026-04-19', '0'],
      ['2026-04-19/2026-05-01', '114'],
    ]);
  });
});

test('a dry run answers the same shape and writes nothing', async () => {
  const { id } = await subscribed('2026-04-11T00:00:00Z');
  const dry = await pause(id, { dry_run: true, proration_behavior: 'none' });
  expect(dry.body).toMatchObject({ pause_status: 'active', subscription: { subscription_status: 'paused' } });
  expect(await bills(id)).toHaveLength(1);
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active', version: 1 });
  await pause(id, { proration_behavior: 'none' });
  const back = await resume(id, { dry_run: true });
  expect(back.body).toMatchObject({ pause_status: 'completed', subscription: { subscription_status: 'active' } });
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'paused', version: 2 });
});

test('pauses are listed newest first in one element, also on the subscription', async () => {
  const { id, clockId } = await subscribed('2026-04-04T00:00:00Z');
  await pause(id, { proration_behavior: 'none', reason: 'first' });
  await advanceTo(api, clockId, '2026-04-05T00:00:00Z');
  await resume(id, { proration_behavior: 'none' });
  await advanceTo(api, clockId, '2026-04-06T00:00:00Z');
  await pause(id, { proration_behavior: 'none', reason: 'second' });
  const { body } = await api('GET', `/subscriptions/${id}/pauses`);
  expect(body).toMatchObject([{ items: [{ reason: 'second' }, { reason: 'first' }], total: 2 }]);
  expect((await api('GET', '/subscriptions/subs_unknown/pauses')).status).toBe(404);
});

describe('a pause is refused', () => {
  it.each([
    ['a reason of 256 characters', { reason: 'ß'.repeat(256) }, 'reason'],
    ['pause_mode scheduled', { pause_mode: 'scheduled' }, 'pause_mode'],
    ['pause_mode period_end', { pause_mode: 'period_end' }, 'pause_mode'],
    ['an unknown proration_behavior', { proration_behavior: 'some' }, 'proration_behavior'],
    ['metadata that is no map of texts', { metadata: { a: 1 } }, 'metadata'],
  ])('for %s', async (_what, body, field) => {
    const { id } = await subscribed('2026-04-01T00:00:00Z');
    const refused = await pause(id, body);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(JSON.stringify(refused.body)).toContain(field);
  });

  it('but a reason of 255 code points is taken, surrogate pairs counted once', async () => {
    const { id } = await subscribed('2026-04-02T00:00:00Z');
    expect((await pause(id, { reason: '🎄'.repeat(255), proration_behavior: 'none' })).status).toBe(200);
  });

  it('when the subscription is not active, naming its status', async () => {
    const { id, customerId } = await subscribed('2026-04-02T00:00:00Z');
    await pause(id, { proration_behavior: 'none' });
    const trial = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, trial_period_days: 7 });
    const ended = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
    await created(api, `/subscriptions/${ended.id}/cancel`, { cancellation_type: 'immediate' });
    for (const [subscription, status] of [
      [id, 'paused'],
      [trial.id, 'trialing'],
      [ended.id, 'cancelled'],
    ] as const) {
      const refused = await pause(subscription);
      expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(JSON.stringify(refused.body)).toContain(status);
    }
  });

  it('for an unknown subscription with 404, and so is a resume', async () => {
    expect((await pause('subs_unknown')).status).toBe(404);
    expect((await resume('subs_unknown')).status).toBe(404);
  });

  it('and a resume when it is not paused, or in a mode that is not immediate', async () => {
    const { id } = await subscribed('2026-04-02T00:00:00Z');
    const refused = await resume(id);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(JSON.stringify(refused.body)).toContain('active');
    for (const resume_mode of ['scheduled', 'auto']) {
      expect(await resume(id, { resume_mode })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    }
  });
});
