import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { asSuperuser } from '../../support/database.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api, base } = await testPlatform();

const frozenTime = '2026-01-15T00:00:00Z';
const support = { type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' };

/** What a subscription shows when it is read alone, and what the lists of it and of its invoices show through the mapper. */
async function shownTwice(id: string): Promise<[alone: Wire, listed: Wire]> {
  const { body: alone } = await api<Wire>('GET', `/subscriptions/${id}`);
  const { body: list } = await api<Wire>('POST', '/subscriptions/search', { subscription_ids: [id] });
  const { body: plan } = await api<Wire>('GET', `/plans/${alone.plan_id}`);
  const { body: invoices } = await api<Wire>('POST', '/invoices/search', { subscription_id: id });
  const latest = invoices.items.sort((a: Wire, b: Wire) => b.billing_sequence - a.billing_sequence)[0];
  const { body: invoice } = await api<Wire>('GET', `/invoices/${latest.id}`);
  const { prices, entitlements, credit_grants, ...record } = plan;
  return [
    alone,
    {
      ...list.items[0],
      plan: { ...alone.plan, ...record },
      latest_invoice: { ...invoice, customer: null, subscription: null, payments: alone.latest_invoice.payments },
    },
  ];
}

test('a subscription shows alone what it shows in a list: items, custom currency, coupon, tax, grant, pause', async () => {
  const { code } = await created<Wire>(api, '/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '10' });
  const unit = { name: 'Token', code: 'tkn', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
  await created(api, '/prices/units', unit);
  const { id: coupon } = await created(api, '/coupons', {
    name: 'A third',
    type: 'percentage',
    cadence: 'forever',
    percentage_off: '33.333',
  });
  const { planId } = await monthlyPlan(api);
  await created(api, '/prices', {
    ...support,
    plan_id: planId,
    currency: 'usd',
    start_date: '2020-01-01T00:00:00Z',
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: 'tkn', amount: '1200' },
  });
  await created(api, '/creditgrants', {
    name: 'Welcome',
    scope: 'PLAN',
    plan_id: planId,
    credits: '5',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
    expiration_type: 'NEVER',
  });
  const card = sandboxCardNumber('succeeds');
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime, card });
  const { id } = await subscribe(api, {
    customer_id: customerId,
    plan_id: planId,
    coupons: [coupon],
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd' }],
    metadata: { shown: 'twice' },
  });
  await advanceTo(api, clockId, '2026-02-20T00:00:00Z');
  const [billed, billedInList] = await shownTwice(id);
  expect(billed.latest_invoice.taxes).toHaveLength(1);
  expect(billed.latest_invoice.coupon_applications).toHaveLength(1);
  expect(billed.coupon_associations).toHaveLength(1);
  expect(billed.credit_grants).toHaveLength(1);
  expect(billed).toEqual(billedInList);

  await created(api, `/subscriptions/${id}/pause`, { pause_mode: 'immediate', pause_days: 10 });
  const [paused, pausedInList] = await shownTwice(id);
  expect(paused.pauses).toHaveLength(1);
  expect(paused).toEqual(pausedInList);
});

test('a subscription with phases shows them alone as in a list', async () => {
  const { planId } = await monthlyPlan(api);
  const { customerId } = await clockedCustomer(api, { frozenTime });
  const { id } = await subscribe(api, {
    customer_id: customerId,
    plan_id: planId,
    start_date: frozenTime,
    phases: [{ start_date: frozenTime, end_date: '2026-03-15T00:00:00Z' }, { start_date: '2026-03-15T00:00:00Z' }],
  });
  const [alone, listed] = await shownTwice(id);
  expect(alone.phases).toHaveLength(2);
  expect(alone).toEqual(listed);
});

test('a subscription is shown while a migration adds a column to what it is read from', async () => {
  const { planId } = await monthlyPlan(api);
  const { customerId } = await clockedCustomer(api, { frozenTime });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const shown = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => api('GET', `/subscriptions/${id}`)));
    return answers.map(({ status }) => status);
  };
  expect(await shown()).toEqual(Array(8).fill(200));
  await asSuperuser(base.ownerUrl, 'alter table subscription_line_item add column added text');
  expect(await shown()).toEqual(Array(8).fill(200));
  expect(await shown()).toEqual(Array(8).fill(200));
});

test('a subscription that does not exist is not found', async () => {
  expect(await api('GET', '/subscriptions/subs_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
