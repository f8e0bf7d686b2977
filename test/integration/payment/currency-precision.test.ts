import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, invoicesOf, subscribe, testPlatform } from '../../support/billing.ts';

const { api } = await testPlatform();
const { code: taxCode } = await created<{ id: string; code: string }>(api, '/taxes/rates', {
  name: 'Tenth',
  code: 'TENTH',
  percentage_value: '10',
});

/** A plan with a monthly fee in advance and a price a call, in a currency. */
async function planIn(currency: string, fee: string, perCall: string) {
  const { id: planId } = await created(api, '/plans', { name: `Plan in ${currency}` });
  const eventName = `call-${currency}`;
  const feature = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: `Calls in ${currency}`,
    type: 'metered',
    meter: { name: 'Calls', event_name: eventName, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  const common = {
    entity_type: 'PLAN',
    entity_id: planId,
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    currency,
    start_date: '2020-01-01T00:00:00Z',
  };
  await created(api, '/prices', { ...common, type: 'FIXED', amount: fee, invoice_cadence: 'ADVANCE' });
  const usage = { type: 'USAGE', amount: perCall, invoice_cadence: 'ARREAR', meter_id: feature.meter_id };
  await created(api, '/prices', { ...common, ...usage });
  return { planId, eventName };
}

/** spec: subscriptions-and-invoicing §2.1, §4 Currency without decimals */
describe('every step is rounded to what the currency is paid in', () => {
  it.each([
    // 19 of 28 days; a third off; a tenth is in the rest. Then a whole fee and three calls.
    ['jpy', '1001', '0.5', ['679', '226', '41', '453'], ['1003', '334', '61', '669']],
    ['xof', '1001', '0.5', ['679', '226', '41', '453'], ['1003', '334', '61', '669']],
    ['kwd', '1.001', '0.0005', ['0.679', '0.226', '0.041', '0.453'], ['1.003', '0.334', '0.061', '0.669']],
    ['tnd', '1.001', '0.0005', ['0.679', '0.226', '0.041', '0.453'], ['1.003', '0.334', '0.061', '0.669']],
  ])('%s', async (currency, fee, perCall, opening, cycle) => {
    const plan = await planIn(currency, fee, perCall);
    const { id: coupon } = await created(api, '/coupons', {
      name: 'A third',
      type: 'percentage',
      cadence: 'forever',
      percentage_off: '33.333',
    });
    const { clockId, customerId, externalId } = await clockedCustomer(api, {
      frozenTime: '2026-02-10T00:00:00Z',
      card: sandboxCardNumber('succeeds'),
    });
    const { id } = await subscribe(api, {
      customer_id: customerId,
      plan_id: plan.planId,
      currency,
      billing_cycle: 'calendar',
      coupons: [coupon],
      // Where nothing is said, a rate named on a subscription is inclusive in these currencies.
      tax_rate_overrides: [{ tax_rate_code: taxCode, currency }],
    });
    for (const day of [11, 12, 13]) {
      const timestamp = `2026-02-${day}T00:00:00Z`;
      await created(api, '/events', { event_name: plan.eventName, external_customer_id: externalId, timestamp });
    }
    await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
    const invoices = (await invoicesOf(api, id)) as unknown as Record<string, string>[];
    const amounts = invoices.map((one) => [one.subtotal, one.total_discount, one.total_tax, one.total]);
    expect(amounts).toEqual([opening, cycle]);
    expect(invoices.map((invoice) => [invoice.amount_paid, invoice.payment_status])).toEqual(
      [opening, cycle].map(([, , , total]) => [total, 'SUCCEEDED']),
    );
  });
});
