import { describe, expect, it } from 'vitest';
import { advanceTo, created, invoicesOf, testPlatform } from '../../../support/billing.ts';
import { grantFixture, hours, type Metered, wholePeriod } from '../../wallet/grant.fixture.ts';

const { api } = await testPlatform();
const { metered, grant, call, subscribed, use, usageOf } = grantFixture(api);

/** Another plan on the same meter and feature; at 3 a unit it is another charge than the first one's 2. */
async function beside(on: Metered, fields: object | null, amount = '3'): Promise<Metered> {
  const plan = await created(api, '/plans', { name: `Beside ${on.eventName}` });
  const price = await created(api, '/prices', {
    plan_id: plan.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount,
    meter_id: on.meterId,
    start_date: '2020-01-01T00:00:00Z',
  });
  const plans = { ...on, planId: plan.id, priceId: price.id };
  if (fields) await grant(plans, fields);
  return plans;
}

/** Two plans with limits of 100 and 200 a month, and a subscription to the first that began on 1 April 2026. */
async function limited(options: { amount?: string; old?: object; next?: object | null } = {}) {
  const from = await metered();
  const entitlement = await grant(from, options.old ?? { usage_limit: 100 });
  const next = options.next === undefined ? { usage_limit: 200 } : options.next;
  const to = await beside(from, next, options.amount);
  return { from, to, entitlement, ...(await subscribed(from)) };
}
const change = (id: string, kind: 'preview' | 'execute', to: Metered, body: object = {}) =>
  call('POST', `/subscriptions/${id}/change/v2/${kind}`, {
    target_plan_id: to.planId,
    proration_behavior: 'none',
    ...body,
  });
const entitlementOf = async (id: string) => (await call('GET', `/subscriptions/${id}/entitlements`)).body.features[0];
const limitOf = async (id: string) => (await entitlementOf(id))?.entitlement.usage_limit;
const summaryOf = async (customerId: string) => (await call('GET', `/customers/${customerId}/usage`)).body.features[0];

interface Line {
  price_type: string;
  quantity: string;
  amount: string;
  adjusted_entitlement_quantity: string | null;
}
const billedOf = (lines: Line[]) =>
  lines
    .filter((line) => line.price_type === 'USAGE')
    .map((line) => [Number(line.quantity), Number(line.amount), Number(line.adjusted_entitlement_quantity)]);
async function cycleInvoice(id: string, sequence = -1) {
  const invoice = (await invoicesOf(api, id)).at(sequence)!;
  const { body } = await call('GET', `/invoices/${invoice.id}`);
  return { id: invoice.id, billed: billedOf(body.line_items) };
}

describe('the limit of a period in which the plan changes', () => {
  it('is the old one for the used share and the new one for the rest, wherever it is read and billed', async () => {
    const { from, to, id, clockId, customerId, externalId } = await limited();
    await use(from, externalId, ['04-05T00:00:00', 50]);
    await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
    const { body: seen } = await change(id, 'preview', to);
    expect(await limitOf(id)).toBe(100);
    const { status, body } = await change(id, 'execute', to, { preview_digest: seen.preview_digest });
    expect(status, JSON.stringify(body)).toBe(200);
    await use(from, externalId, ['04-12T00:00:00', 140]);
    await advanceTo(api, clockId, '2026-04-13T00:00:00Z');
    expect(await entitlementOf(id)).toMatchObject({
      entitlement: { is_enabled: true, usage_limit: 166, usage_reset_period: null },
      sources: [
        { entity_type: 'plan', entity_id: from.planId, usage_limit: 33 },
        { entity_type: 'plan', entity_id: to.planId, usage_limit: 133 },
      ],
    });
    expect(await summaryOf(customerId)).toMatchObject({ total_limit: 166, current_usage: '190', is_unlimited: false });
    expect(await usageOf(id)).toMatchObject({ amount: 72 });
    const preview = await call('POST', '/invoices/preview', { subscription_id: id });
    const expected = [
      [0, 0, 50],
      [24, 72, 116],
    ];
    expect(billedOf(preview.body.line_items)).toEqual(expected);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    const invoice = await cycleInvoice(id);
    expect(invoice.billed).toEqual(expected);
    const { body: explained } = await call('GET', `/invoices/${invoice.id}/explain`);
    const text = JSON.stringify(explained);
    expect(text).toContain('166 is included: 33 ');
    expect(text).toContain('its share of 200');
    expect(await limitOf(id)).toBe(200);
    expect(await summaryOf(customerId)).toMatchObject({ total_limit: 200, current_usage: '0' });
  });

  it('is the same when the change comes at a date, and at the boundary it is whole on either side', async () => {
    const dated = await limited();
    await change(dated.id, 'execute', dated.to, { change_at: '2026-04-16T00:00:00Z' });
    expect(await limitOf(dated.id)).toBe(100);
    await use(dated.from, dated.externalId, ['04-05T00:00:00', 100], ['04-20T00:00:00', 60]);
    await advanceTo(api, dated.clockId, '2026-04-21T00:00:00Z');
    expect(await limitOf(dated.id)).toBe(150);
    await advanceTo(api, dated.clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(dated.id)).billed).toEqual([
      [0, 0, 100],
      [10, 30, 50],
    ]);

    const later = await limited();
    await change(later.id, 'execute', later.to, { change_at: 'end_of_period' });
    await use(later.from, later.externalId, ['04-05T00:00:00', 120], ['05-05T00:00:00', 210]);
    await advanceTo(api, later.clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(later.id)).billed).toEqual([[20, 40, 100]]);
    expect(await limitOf(later.id)).toBe(200);
    await advanceTo(api, later.clockId, '2026-06-01T03:00:00Z');
    expect((await cycleInvoice(later.id)).billed).toEqual([[10, 30, 200]]);
  });

  it('holds for a charge that is carried, and goes on counting when the feature is left', async () => {
    const carried = await limited({ amount: '2' });
    await use(carried.from, carried.externalId, ['04-05T00:00:00', 100], ['04-20T00:00:00', 70]);
    await advanceTo(api, carried.clockId, '2026-04-11T00:00:00Z');
    await change(carried.id, 'execute', carried.to);
    await advanceTo(api, carried.clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(carried.id)).billed).toEqual([[4, 8, 166]]);

    const left = await limited({ amount: '2', next: null });
    await use(left.from, left.externalId, ['04-05T00:00:00', 40]);
    await advanceTo(api, left.clockId, '2026-04-11T00:00:00Z');
    await change(left.id, 'execute', left.to);
    expect(await entitlementOf(left.id)).toMatchObject({ entitlement: { usage_limit: 33 } });
    await advanceTo(api, left.clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(left.id)).billed).toEqual([[7, 14, 33]]);
    expect(await entitlementOf(left.id)).toBeUndefined();
  });

  it('takes an override of the plan that is left for that plan’s share alone', async () => {
    const { to, id, entitlement, clockId, from } = await limited();
    await created(api, '/entitlements', {
      entity_type: 'SUBSCRIPTION',
      entity_id: id,
      parent_entitlement_id: entitlement.id,
      feature_id: from.featureId,
      feature_type: 'metered',
      usage_limit: 300,
    });
    expect(await limitOf(id)).toBe(300);
    await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
    await change(id, 'execute', to);
    expect(await limitOf(id)).toBe(233);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await limitOf(id)).toBe(200);
  });
});

describe('the limit of a first calendar period', () => {
  it('is its share of the whole one with create_prorations, for that period only, and whole without', async () => {
    const from = await metered();
    await grant(from, { usage_limit: 100 });
    const { id, clockId, externalId } = await subscribed(from, {
      billing_cycle: 'calendar',
      start_date: '2026-04-16T00:00:00Z',
    });
    await use(from, externalId, ['04-20T00:00:00', 60], ['05-20T00:00:00', 110]);
    await advanceTo(api, clockId, '2026-04-17T00:00:00Z');
    expect(await limitOf(id)).toBe(50);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(id)).billed).toEqual([[10, 20, 50]]);
    expect(await limitOf(id)).toBe(100);
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect((await cycleInvoice(id)).billed).toEqual([[10, 20, 100]]);

    const whole = await subscribed(from, {
      billing_cycle: 'calendar',
      start_date: '2026-04-16T00:00:00Z',
      proration_behavior: 'none',
    });
    await advanceTo(api, whole.clockId, '2026-04-17T00:00:00Z');
    expect(await limitOf(whole.id)).toBe(100);
  });
});

describe('budgets in a period in which the plan changes', () => {
  it('are each plan’s for its own time, and windows of the one that is left end with it', async () => {
    const { from, to, id, clockId, customerId, externalId } = await limited({
      old: hours('10', 48),
      next: hours('20', 48),
    });
    await use(from, externalId, ['04-10T00:00:00', 15], ['04-10T23:00:00', 5], ['04-11T01:00:00', 25]);
    await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
    await change(id, 'execute', to);
    await advanceTo(api, clockId, '2026-04-11T02:00:00Z');
    expect(await summaryOf(customerId)).toMatchObject({ total_limit: 20, current_usage: '25' });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    // 20 of 10 before the change, 25 of 20 after it.
    expect((await cycleInvoice(id)).billed).toEqual([
      [10, 20, 10],
      [5, 15, 20],
    ]);
  });

  it('of the whole period are shared out as limits are', async () => {
    const { from, to, id, clockId, externalId } = await limited({ old: wholePeriod('100'), next: wholePeriod('200') });
    await use(from, externalId, ['04-05T00:00:00', 40], ['04-20T00:00:00', 140]);
    await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
    await change(id, 'execute', to);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await cycleInvoice(id)).billed).toEqual([
      [7, 14, 33],
      [7, 21, 133],
    ]);
  });
});
