import { afterAll, describe, expect, it } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';
import { billedCustomer, type Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const customer = await billedCustomer(platform);
const plan = await created<Wire>(api, '/plans', { name: 'Tiered' });
const tiers = [{ up_to: 10, unit_amount: '1.5', flat_amount: '2' }, { unit_amount: '0.1' }];
const meter = { name: 'Calls', event_name: 'calls', aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
const feature = await created<Wire>(api, '/features', { name: 'Calls', type: 'metered', meter });
const price = await created<Wire>(api, '/prices', {
  entity_type: 'PLAN',
  entity_id: plan.id,
  type: 'USAGE',
  meter_id: feature.meter_id,
  billing_model: 'TIERED',
  tier_mode: 'VOLUME',
  tiers,
  billing_cadence: 'RECURRING',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
});

const use = (format: string) => api<Wire>('PUT', '/settings/decimal_format', { value: { format } });
afterAll(() => use('interface'));

/** The four answers the interface document shows with numbers. */
const answers: [
  name: string,
  ask: () => Promise<{ status: number; body: Wire }>,
  members: (body: Wire) => unknown[],
][] = [
  [
    'a price update',
    () => api('PUT', `/prices/${price.id}`, { description: 'd' }),
    ({ tiers }) => [tiers[0].unit_amount, tiers[0].flat_amount, tiers[1].unit_amount],
  ],
  [
    'a plan update',
    () => api('PUT', `/plans/${plan.id}`, { description: 'd' }),
    ({ prices: [{ tiers }] }) => [tiers[0].unit_amount],
  ],
  [
    'the invoice summary of a customer',
    () => api('GET', `/customers/${customer.customerId}/invoices/summary`),
    ({ summaries: [summary] }) => [
      summary.total_revenue_amount,
      summary.total_unpaid_amount,
      summary.total_overdue_amount,
      summary.unpaid_usage_charges,
      summary.unpaid_fixed_charges,
    ],
  ],
  [
    'an invoice preview',
    () => api('POST', '/invoices/preview', { subscription_id: customer.subscriptionId }),
    ({ subtotal, total, amount_due, tax_summary, line_items: [line] }) => [
      subtotal,
      total,
      amount_due,
      tax_summary.total_tax,
      line.amount,
      line.quantity,
    ],
  ],
];

describe.each([
  ['interface', 'number'],
  ['string', 'string'],
])('with decimal_format %s', (format, type) => {
  it.each(answers)(`%s has ${type}s`, async (_name, ask, members) => {
    expect((await use(format)).status).toBe(200);
    const { status, body } = await ask();
    expect(status).toBe(200);
    const shown = members(body);
    expect(shown.map((member) => typeof member)).toEqual(shown.map(() => type));
  });
});

it('the values are the same in both', async () => {
  const read = async (format: string) => {
    await use(format);
    const all = await Promise.all(answers.map(async ([, ask, members]) => members((await ask()).body)));
    return all.flat().map(Number);
  };
  expect(await read('string')).toEqual(await read('interface'));
});

it('another format is refused', async () => {
  const { status, body } = await use('float');
  expect([status, body.message]).toEqual([400, 'value.format must be interface or string']);
});
