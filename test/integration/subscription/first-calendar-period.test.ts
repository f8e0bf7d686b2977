import { expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, subscribe, testPlatform } from '../../support/billing.ts';
import { invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';

const { api } = await testPlatform();

/** spec: subscriptions-and-invoicing §2.2.4, README decision 44 */
test.each([
  // 15 of 31 days, and in the next period the whole fee.
  ['create_prorations', ['150', '310'], ['150', '310']],
  ['none', ['310', '310'], ['310', '310']],
])(
  'a fee in arrear pays for the first calendar period what one in advance pays: %s',
  async (behavior, advance, arrear) => {
    const { id: planId } = await created(api, '/plans', { name: `First period, ${behavior}` });
    for (const invoice_cadence of ['ADVANCE', 'ARREAR']) {
      await created(api, '/prices', {
        entity_type: 'PLAN',
        entity_id: planId,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        currency: 'usd',
        amount: '310',
        start_date: '2020-01-01T00:00:00Z',
        invoice_cadence,
        display_name: invoice_cadence,
      });
    }
    const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-03-17T00:00:00Z' });
    await subscribe(api, {
      customer_id: customerId,
      plan_id: planId,
      billing_cycle: 'calendar',
      proration_behavior: behavior,
    });
    await advanceTo(api, clockId, '2026-05-01T00:00:00Z');
    const lines = (await invoicesOf(api, customerId)).flatMap((invoice: Wire) => invoice.line_items);
    // In order of what they pay for; the third month's fee in advance is on the last invoice.
    const amounts = (name: string) =>
      lines
        .filter((line: Wire) => line.display_name === name)
        .sort((a: Wire, b: Wire) => (a.period_start < b.period_start ? -1 : 1))
        .map((line: Wire) => line.amount);
    expect([amounts('ADVANCE').slice(0, 2), amounts('ARREAR')]).toEqual([advance, arrear]);
  },
);
