import { describe, expect, it } from 'vitest';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api);

interface Warned {
  id: string;
  line_items: { price_id: string; start_date: string }[];
  warnings: { code: string; message: string }[];
}

const start = '2026-01-01T00:00:00.000Z';
const starts = '2027-03-01T00:00:00.000Z';

/** A plan whose only price starts when it is told to, or when it is created. */
async function planFrom(more: object): Promise<string> {
  const { id } = await created(api, '/plans', { name: 'Later' });
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: id,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '20',
    ...more,
  });
  return id;
}

async function subscribed(planId: string, more: object = {}, zone: { timezone?: string } = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: start, ...zone });
  const made = (await subscribe(api, { customer_id: customerId, plan_id: planId, ...more })) as unknown as Warned;
  return { ...made, clockId, customerId };
}

const read = async (id: string) => (await api<Warned>('GET', `/subscriptions/${id}`)).body;

async function toldOf(id: string): Promise<string[]> {
  const { body } = await api<{ items: { customer_text: string }[] }>('GET', `/subscriptions/${id}/timeline`);
  return body.items.map((entry) => entry.customer_text);
}

const unpriced = 'No price is in force, so nothing is charged for now.';

describe('a subscription without a price in force', () => {
  it('says so when its price was created without a start, which is now in real time', async () => {
    const { clockId, ...made } = await subscribed(await planFrom({}));
    const [item] = made.line_items;
    expect(made.warnings).toEqual([{ code: 'no_price_in_force', message: expect.any(String) }]);
    for (const named of [start, item!.start_date, item!.price_id, 'without start_date'])
      expect(made.warnings[0]?.message).toContain(named);
    expect(await toldOf(made.id)).toContain(unpriced);
    await advanceTo(api, clockId, '2026-03-02T00:00:00Z');
    expect((await invoicesOf(api, made.id)).filter(({ total }) => total !== '0')).toEqual([]);
  });

  it('says so until its price starts, and not in a period that has one', async () => {
    const { clockId, id, warnings } = await subscribed(await planFrom({ start_date: '2026-03-01T00:00:00Z' }));
    expect(warnings[0]?.message).toContain('2026-03-01T00:00:00.000Z');
    await advanceTo(api, clockId, '2026-02-15T00:00:00Z');
    expect((await read(id)).warnings).toMatchObject([{ code: 'no_price_in_force' }]);
    await advanceTo(api, clockId, '2026-03-02T00:00:00Z');
    expect((await read(id)).warnings).toEqual([]);
  });

  it('is none that has one, or an extra line that begins with it', async () => {
    const priced = await subscribed(plan.planId);
    expect([priced.warnings, (await read(priced.id)).warnings]).toEqual([[], []]);
    expect(await toldOf(priced.id)).not.toContain(unpriced);
    const later = await planFrom({ start_date: starts });
    const price = { type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' };
    const line = { price: { ...price, currency: 'usd', amount: '5', display_name: 'Support' } };
    const extra = await subscribed(later, { line_items: [line] });
    expect(extra.warnings).toEqual([]);
    expect(await toldOf(extra.id)).not.toContain(unpriced);
  });

  it('warns of the draft that will be one, and again when it begins', async () => {
    const { id, warnings } = await subscribed(await planFrom({ start_date: starts }), { subscription_status: 'draft' });
    expect(warnings).toMatchObject([{ code: 'no_price_in_force' }]);
    const { body } = await api<Warned>('POST', `/subscriptions/${id}/activate`, { start_date: start });
    expect(body.warnings).toMatchObject([{ code: 'no_price_in_force' }]);
  });

  it('is told of before and after a change to a plan that begins later', async () => {
    const { id } = await subscribed(plan.planId);
    const change = { target_plan_id: await planFrom({ start_date: starts }), proration_behavior: 'none' };
    for (const step of ['preview', 'execute']) {
      const { status, body } = await api<{ warnings: string[]; subscription: Warned }>(
        'POST',
        `/subscriptions/${id}/change/v2/${step}`,
        change,
      );
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.warnings).toEqual([expect.stringContaining(starts)]);
      expect(body.subscription.warnings).toMatchObject([{ code: 'no_price_in_force', message: body.warnings[0] }]);
    }
    expect(await toldOf(id)).toContain(unpriced);
  });

  it('is told of before and after a replacement by one', async () => {
    const { id } = await subscribed(plan.planId);
    const change = {
      target_plan_id: await planFrom({ start_date: starts }),
      proration_behavior: 'none',
      billing_cadence: 'RECURRING',
      billing_period: 'MONTHLY',
      billing_cycle: 'anniversary',
    };
    for (const step of ['preview', 'execute']) {
      const { status, body } = await api<{ warnings: string[] }>('POST', `/subscriptions/${id}/change/${step}`, change);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.warnings).toEqual([expect.stringContaining(starts)]);
    }
  });
});

describe('a time zone that was asked for', () => {
  it('is told to have given way to the customer’s own', async () => {
    const made = await subscribed(plan.planId, { customer_timezone: 'Asia/Tokyo' }, { timezone: 'Europe/Berlin' });
    expect(made.warnings).toMatchObject([{ code: 'timezone_of_customer' }]);
    for (const zone of ['Asia/Tokyo', 'Europe/Berlin']) expect(made.warnings[0]?.message).toContain(zone);
  });

  it('is used without a word where the customer has none, or the same', async () => {
    const used = await subscribed(plan.planId, { customer_timezone: 'Asia/Tokyo' });
    const same = await subscribed(plan.planId, { timezone: 'Asia/Tokyo' }, { timezone: 'Asia/Tokyo' });
    expect([used.warnings, same.warnings]).toEqual([[], []]);
  });
});
