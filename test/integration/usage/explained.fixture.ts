import type { Api } from '../../support/app.ts';
import { advanceTo, clockedCustomer, created, subscribe, type TestPlatform } from '../../support/billing.ts';
import { invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';

const start = '2026-03-15T00:00:00Z';
const since = '2020-01-01T00:00:00Z';

/**
 * The invoice of a customer in Berlin which has of everything something: a fee, support for a part of a month, tiers over what a
 * meter measured, a committed meter, coupons of a line and of the invoice, two taxes, prepaid credits, and usage that came too late.
 */
export async function explainedInvoice({ api }: Pick<TestPlatform, 'api'>, name = 'שירותי ענן בע"מ'): Promise<Wire> {
  const key = Math.random().toString(36).slice(2);
  const plan = await created(api, '/plans', { name: 'Business' });
  const priced = (fields: Record<string, unknown>) =>
    created(api, '/prices', {
      entity_type: 'PLAN',
      entity_id: plan.id,
      billing_period: 'MONTHLY',
      billing_model: 'FLAT_FEE',
      currency: 'usd',
      start_date: since,
      invoice_cadence: 'ARREAR',
      ...fields,
    });
  const fee = await priced({ type: 'FIXED', amount: '93', display_name: 'Platform <b>fee</b> & "seats"' });
  await priced({
    ...{ type: 'USAGE', meter_id: await meter(api, 'API calls', `call-${key}`), display_name: 'API calls' },
    ...{ billing_model: 'TIERED', tier_mode: 'SLAB' },
    tiers: [
      { up_to: 100, unit_amount: '0.10' },
      { up_to: 1_000, unit_amount: '0.0455' },
      { up_to: null, unit_amount: '0.02', flat_amount: '5' },
    ],
  });
  const storage = await priced({
    ...{ type: 'USAGE', meter_id: await meter(api, 'Exports', `export-${key}`), display_name: 'Exports' },
    amount: '0.25',
  });
  const customer = await clockedCustomer(api, { frozenTime: start, timezone: 'Europe/Berlin' });
  await api('PUT', `/customers/${customer.customerId}`, { name, address_line1: 'רחוב הרצל 1', address_country: 'IL' });
  await taxed(api, customer.customerId, key);
  await created(api, '/wallets', {
    customer_id: customer.customerId,
    ...{ currency: 'usd', name: 'Welcome credits', initial_credits_to_load: '20' },
  });
  const percent = (name: string, percentage_off: string) =>
    created(api, '/coupons', { name, type: 'percentage', cadence: 'forever', percentage_off });
  const [ofInvoice, ofLine] = [await percent('Spring 10', '10'), await percent('Seats half price', '50')];
  const { id: subscriptionId } = await subscribe(api, {
    customer_id: customer.customerId,
    plan_id: plan.id,
    billing_cycle: 'calendar',
    coupons: [ofInvoice.id],
    line_item_coupons: { [fee.id]: [ofLine.id] },
    line_item_commitments: {
      [storage.id]: {
        ...{ commitment_type: 'amount', commitment_amount: '10', overage_factor: '1.5', enable_true_up: true },
      },
    },
  });
  await advanceTo(api, customer.clockId, '2026-03-22T12:00:00Z');
  await created(api, `/subscriptions/${subscriptionId}/lineitems`, {
    quantity: 2,
    price: {
      ...{ type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
      ...{ currency: 'usd', amount: '31', display_name: 'Support' },
    },
  });
  await used(api, customer.externalId, `call-${key}`, 1_234);
  await used(api, customer.externalId, `export-${key}`, 50);
  await advanceTo(api, customer.clockId, '2026-04-02T00:00:00Z');
  await used(api, customer.externalId, `call-${key}`, 3, 'late');
  const invoices = await invoicesOf(api, customer.customerId);
  return { ...invoices.find((invoice) => invoice.billing_reason === 'SUBSCRIPTION_CYCLE'), subscriptionId };
}

async function meter(api: Api, name: string, event_name: string): Promise<string> {
  const feature = await created<Wire>(api, '/features', {
    name: `${name} ${event_name}`,
    type: 'metered',
    meter: { name, event_name, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  return feature.meter_id;
}

async function taxed(api: Api, customerId: string, key: string): Promise<void> {
  const rates: [string, string, string][] = [
    ['VAT', '19', 'exclusive'],
    ['Eco levy', '1.5', 'inclusive'],
  ];
  for (const [name, percentage_value, tax_behavior] of rates) {
    const code = `${name.replace(' ', '_').toLowerCase()}_${key}`;
    await created(api, '/taxes/rates', { name, code, percentage_value });
    const link = { tax_rate_code: code, tax_behavior, entity_type: 'customer', entity_id: customerId };
    await created(api, '/taxes/associations', link);
  }
}

async function used(api: Api, externalId: string, eventName: string, count: number, what = 'in-time'): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    ...{ event_id: `${eventName}-${what}-${index}`, event_name: eventName, external_customer_id: externalId },
    ...{ timestamp: '2026-03-20T00:00:00Z', properties: {} },
  }));
  for (let from = 0; from < count; from += 1_000) {
    await created(api, '/events/bulk', { events: events.slice(from, from + 1_000) });
  }
}
