import { describe, expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  eventsOf,
  invoicesOf,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { calls, support, tell, told } from './change/phase.fixture.ts';
import { childrenToCreate, type Group, groupOffer, madeGroup } from './grouped-child.fixture.ts';

const { api } = await testPlatform();

/** A group whose child has a trial of its own. */
async function trying(days: number, terms: object = {}) {
  const all = await groupOffer(api);
  const { id } = await madeGroup(all, { trial_period_days: days }, terms);
  const childId = await all.childId();
  const until = (to: string) => advanceTo(api, all.offer.clockId, to);
  const preview = async () => {
    const { body } = await api<Parameters<typeof tell>[0]>('POST', '/invoices/preview', { subscription_id: id });
    return tell(body);
  };
  return { ...all, id, childId, until, preview };
}

const endTrial = (id: string, params: object) =>
  api<Wire>('POST', `/subscriptions/${id}/modify/execute`, { type: 'trial_end', trial_end_params: params });

describe('a trial of a child that is created with its parent', () => {
  test('is free, and from its end on the child pays its part of the period, then with its parent', async () => {
    const { id, childId, offer, payer, until, preview } = await trying(10);
    expect(await subscriptionOf(api, childId)).toMatchObject({
      subscription_status: 'TRIALING',
      trial_end: '2026-01-11T00:00:00.000Z',
    });
    await calls(api, offer, 5, '2026-01-05T00:00:00Z');
    expect(await preview()).toBe('SUBSCRIPTION_CYCLE 131: Base 100, Base 31');
    await until('2026-01-12T00:00:00Z');
    expect(await subscriptionOf(api, childId)).toMatchObject({
      subscription_status: 'active',
      current_period_start: '2026-01-11T00:00:00.000Z',
      current_period_end: '2026-02-01T00:00:00.000Z',
      billing_anchor: '2026-01-01T00:00:00.000Z',
    });
    // 31 × 21/31.
    expect(await told(api, childId)).toEqual(['SUBSCRIPTION_TRIAL_END 21: Base 21']);
    expect((await invoicesOf(api, childId))[0]).toMatchObject({
      customer_id: payer.customerId,
      payment_status: 'SUCCEEDED',
      period_start: '2026-01-11T00:00:00.000Z',
      period_end: '2026-02-01T00:00:00.000Z',
    });
    await calls(api, offer, 10, '2026-01-11T12:00:00Z');
    await until('2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 100: Base 100',
      'SUBSCRIPTION_CYCLE 132: Base 100, Base 31, Calls 1',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    expect(await invoicesOf(api, childId)).toHaveLength(1);
    expect(await eventsOf(api, childId)).toEqual(expect.arrayContaining(['subscription.activated']));
  });

  test('comes to the same when time passes in one step over its end and two boundaries', async () => {
    const { id, childId, until } = await trying(10);
    await until('2026-03-02T00:00:00Z');
    expect(await told(api, childId)).toEqual(['SUBSCRIPTION_TRIAL_END 21: Base 21']);
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 100: Base 100',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
  });

  test('may be longer than a period, and may end with one', async () => {
    const longer = await trying(40);
    expect(await longer.preview()).toBe('SUBSCRIPTION_CYCLE 100: Base 100');
    await longer.until('2026-03-02T00:00:00Z');
    // 31 × 19/28.
    expect(await told(api, longer.childId)).toEqual(['SUBSCRIPTION_TRIAL_END 21.04: Base 21.04']);
    expect(await told(api, longer.id)).toEqual([
      'SUBSCRIPTION_CREATE 100: Base 100',
      'SUBSCRIPTION_CYCLE 100: Base 100',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    const whole = await trying(31);
    expect(await whole.preview()).toBe('SUBSCRIPTION_CYCLE 131: Base 100, Base 31');
    await whole.until('2026-02-02T00:00:00Z');
    expect(await told(api, whole.id)).toEqual([
      'SUBSCRIPTION_CREATE 100: Base 100',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    expect(await told(api, whole.childId)).toEqual([]);
    expect(await subscriptionOf(api, whole.childId)).toMatchObject({
      subscription_status: 'active',
      current_period_end: '2026-03-01T00:00:00.000Z',
    });
  });

  test('may be longer than that of the parent, or the same', async () => {
    const longer = await trying(20, { trial_period_days: 10 });
    await longer.until('2026-01-22T00:00:00Z');
    await longer.until('2026-02-12T00:00:00Z');
    expect(await told(api, longer.id)).toEqual([
      'SUBSCRIPTION_TRIAL_START 0: ',
      'SUBSCRIPTION_TRIAL_END 100: Base 100',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    expect(await told(api, longer.childId)).toEqual(['SUBSCRIPTION_TRIAL_END 21: Base 21']);
    const same = await trying(10, { trial_period_days: 10 });
    await same.until('2026-01-12T00:00:00Z');
    expect(await told(api, same.id)).toEqual([
      'SUBSCRIPTION_TRIAL_START 0: ',
      'SUBSCRIPTION_TRIAL_END 131: Base 100, Base 31',
    ]);
  });

  test('is ended at once, moved, and goes on with the parent when that one is given a longer trial', async () => {
    const { childId, until } = await trying(10);
    await until('2026-01-04T00:00:00Z');
    expect((await endTrial(childId, { action: 'scheduled_date', new_trial_end: '2026-01-20T00:00:00Z' })).status).toBe(
      200,
    );
    await until('2026-01-16T12:00:00Z');
    const ended = await endTrial(childId, { action: 'immediate' });
    expect([ended.status, ended.body.changed_resources.invoices.length]).toEqual([200, 1]);
    expect(await told(api, childId)).toEqual(['SUBSCRIPTION_TRIAL_END 15.5: Base 15.5']);
    const behind = await trying(12, { trial_period_days: 10 });
    await behind.until('2026-01-02T00:00:00Z');
    const early = await endTrial(behind.childId, { action: 'immediate' });
    expect([early.status, early.body.message]).toEqual([400, expect.stringContaining('2026-01-11T00:00:00.000Z')]);
    await endTrial(behind.id, { action: 'scheduled_date', new_trial_end: '2026-01-21T00:00:00Z' });
    await behind.until('2026-01-15T00:00:00Z');
    expect(await subscriptionOf(api, behind.childId)).toMatchObject({
      subscription_status: 'TRIALING',
      trial_end: '2026-01-21T00:00:00.000Z',
    });
    await behind.until('2026-01-22T00:00:00Z');
    expect((await told(api, behind.id)).at(-1)).toBe('SUBSCRIPTION_TRIAL_END 131: Base 100, Base 31');
  });

  test('that is the parent’s ends with it, earlier or later than was agreed', async () => {
    const all = await groupOffer(api);
    const { id } = await madeGroup(all, {}, { trial_period_days: 10 });
    const childId = await all.childId();
    await advanceTo(api, all.offer.clockId, '2026-01-02T00:00:00Z');
    await endTrial(id, { action: 'scheduled_date', new_trial_end: '2026-01-16T00:00:00Z' });
    expect(await subscriptionOf(api, childId)).toMatchObject({ trial_end: '2026-01-16T00:00:00.000Z' });
    await advanceTo(api, all.offer.clockId, '2026-01-12T00:00:00Z');
    expect((await endTrial(id, { action: 'immediate' })).status).toBe(200);
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_TRIAL_START 0: ',
      'SUBSCRIPTION_TRIAL_END 131: Base 100, Base 31',
    ]);
    await advanceTo(api, all.offer.clockId, '2026-02-13T00:00:00Z');
    expect((await told(api, id)).at(-1)).toBe('SUBSCRIPTION_CYCLE 131: Base 100, Base 31');
    expect(await told(api, childId)).toEqual([]);
  });

  test('goes on while the parent is paused, to the end of the period in which it is resumed', async () => {
    const { id, childId, until } = await trying(10);
    await until('2026-01-05T00:00:00Z');
    const paused = await api('POST', `/subscriptions/${id}/pause`, { proration_behavior: 'none' });
    expect(paused.status).toBe(200);
    await until('2026-01-20T00:00:00Z');
    expect(await subscriptionOf(api, childId)).toMatchObject({ trial_end: '2026-02-01T00:00:00.000Z' });
    await until('2026-02-10T00:00:00Z');
    expect(await subscriptionOf(api, childId)).toMatchObject({
      subscription_status: 'TRIALING',
      trial_end: '2026-03-01T00:00:00.000Z',
    });
    expect((await api('POST', `/subscriptions/${id}/resume`, { proration_behavior: 'none' })).status).toBe(200);
    await until('2026-03-02T00:00:00Z');
    expect((await told(api, id)).filter((text) => !text.includes(' 0: '))).toEqual([
      'SUBSCRIPTION_CREATE 100: Base 100',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    expect(await told(api, childId)).toEqual([]);
  });

  test('does not keep a parent that is not paid for from being paused', async () => {
    await api('PUT', '/settings/dunning_config', { value: { after_last_attempt: 'pause' } });
    const all = await groupOffer(api);
    const cardless = await clockedCustomer(api, {
      frozenTime: '2026-01-01T00:00:00Z',
      clockId: all.offer.clockId,
      card: sandboxCardNumber('declines'),
    });
    const { id } = await madeGroup(all, { trial_period_days: 60 }, { customer_id: cardless.customerId });
    await advanceTo(api, all.offer.clockId, '2026-01-25T00:00:00Z');
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'paused' });
    expect(await subscriptionOf(api, await all.childId())).toMatchObject({ subscription_status: 'TRIALING' });
    await api('PUT', '/settings/dunning_config', { value: { after_last_attempt: 'none' } });
  });

  test('ends the child that was cancelled meanwhile, and one that left the group by itself', async () => {
    const { id, childId, until } = await trying(10);
    await api('POST', `/subscriptions/${childId}/cancel`, { cancellation_type: 'end_of_period' });
    await until('2026-02-02T00:00:00Z');
    expect(await subscriptionOf(api, childId)).toMatchObject({ subscription_status: 'cancelled' });
    expect(await subscriptionOf(api, id)).toMatchObject({ subscription_type: 'standalone' });
    expect((await told(api, id)).at(-1)).toBe('SUBSCRIPTION_CYCLE 100: Base 100');
    expect(await told(api, childId)).toEqual([]);
    const alone = await trying(10);
    await api('POST', `/subscriptions/${alone.id}/cancel`, { cancellation_type: 'immediate' });
    await alone.until('2026-01-12T00:00:00Z');
    expect(await told(api, alone.childId)).toEqual(['SUBSCRIPTION_TRIAL_END 31: Base 31']);
  });

  test('is made once by a repeated request, and refused where it is shorter than the parent’s or wrong', async () => {
    const all: Group = await groupOffer(api);
    const place = `inheritance.${childrenToCreate}[0].trial_period_days`;
    for (const [days, problem] of [
      [5, `${place} must reach 2026-01-11T00:00:00.000Z`],
      [0, `${place} must reach 2026-01-11T00:00:00.000Z`],
      [-1, place],
      [1.5, place],
    ] as const) {
      const { status, body } = await all.create({ trial_period_days: days }, { trial_period_days: 10 });
      expect([status, body.message]).toEqual([400, expect.stringContaining(problem)]);
    }
    const quarterly = await all.create(
      { trial_period_days: 5 },
      { billing_period: 'MONTHLY', billing_period_count: 3, line_items: [support] },
    );
    expect([quarterly.status, quarterly.body.message]).toEqual([400, expect.stringContaining('3 × MONTHLY')]);
    expect(await all.childId()).toBeUndefined();
    const headers = { 'idempotency-key': `trial-${all.payer.customerId}` };
    const first = await all.create({ trial_period_days: 3 }, {}, headers);
    const second = await all.create({ trial_period_days: 3 }, {}, headers);
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
    await advanceTo(api, all.offer.clockId, '2026-01-05T00:00:00Z');
    expect(await invoicesOf(api, await all.childId())).toHaveLength(1);
  });
});
