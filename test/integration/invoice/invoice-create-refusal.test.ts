import { describe, expect, it } from 'vitest';
import { clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import { billedCustomer, type Wire } from './invoice.fixture.ts';

const { api } = await testPlatform();

const at = '2026-02-01T00:00:00Z';

/** An invoice over one line of 100. */
const body = (customer_id: string, more: Record<string, unknown> = {}) => ({
  customer_id,
  currency: 'usd',
  subtotal: '100',
  total: '100',
  amount_due: '100',
  line_items: [{ display_name: 'Set-up', quantity: '1', amount: '100', metadata: { line_item_id: 'setup' } }],
  ...more,
});

const customerOf = async () => (await clockedCustomer(api, { frozenTime: at })).customerId;
const invoicesOf = async (customer_id: string) =>
  (await api<Wire>('POST', '/invoices/search', { customer_id })).body.items as Wire[];

let codes = 0;
const coupon = (more: object) => {
  codes += 1;
  const value = { type: 'percentage', percentage_off: '10' };
  return created<Wire>(api, '/coupons', { name: 'C', coupon_code: `R${codes}`, cadence: 'once', ...value, ...more });
};
const rate = (more: object = {}) => {
  codes += 1;
  return created<Wire>(api, '/taxes/rates', { name: 'R', code: `r${codes}`, percentage_value: '10', ...more });
};

/** A refusal, its field, and that nothing is left of it. */
async function expectRefused(customerId: string, more: object, status: number, field: string): Promise<void> {
  const answer = await api<Wire>('POST', '/invoices', body(customerId, more as Record<string, unknown>));
  const code = status === 404 ? 'not_found' : 'validation_error';
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, body: { code } });
  expect(Object.keys(answer.body.details.fields), answer.body.message).toContain(field);
  expect(await invoicesOf(customerId)).toEqual([]);
}

describe('POST /invoices refuses', () => {
  const line = { quantity: '1', amount: '100' };
  it.each<[string, object, string]>([
    [
      'a due date before the present, when nothing else is the issue date',
      { due_date: '2026-01-31T23:59:59Z' },
      'due_date',
    ],
    ['the other bound of a period', { period_end: at }, 'period_start'],
    ['a line of a negative quantity', { line_items: [{ ...line, quantity: '-1' }] }, 'line_items[0].quantity'],
    [
      'a line that ends before it begins',
      { line_items: [{ ...line, period_start: at, period_end: '2026-01-31T00:00:00Z' }] },
      'line_items[0].period_end',
    ],
    [
      'a subscription invoice without a billing period',
      { invoice_type: 'SUBSCRIPTION', subscription_id: 'subs_x' },
      'billing_period',
    ],
    [
      'a subscription invoice without a period',
      { invoice_type: 'SUBSCRIPTION', subscription_id: 'subs_x', billing_period: 'MONTHLY' },
      'period_start',
    ],
    [
      'a prepared rate above 100 percent',
      { prepared_tax_rates: [{ id: 'taxrate_x', percentage_value: '100.1' }] },
      'prepared_tax_rates[0].percentage_value',
    ],
  ])('%s', async (_name, more, field) => {
    await expectRefused(await customerOf(), more, 400, field);
  });

  it('a customer who is not published any more', async () => {
    const { id } = await created(api, '/customers', { external_id: `gone-${Date.now()}`, name: 'Gone' });
    expect((await api('DELETE', `/customers/${id}`)).status).toBeLessThan(300);
    await expectRefused(id, {}, 404, 'customer_id');
  });

  it('a coupon outside its window, archived, of another currency, twice, or on a line that is not there', async () => {
    const customerId = await customerOf();
    const later = await coupon({ redeem_after: '2026-02-01T00:00:01Z' });
    const over = await coupon({ redeem_before: '2026-01-31T23:59:59Z' });
    const archived = await coupon({});
    await api('DELETE', `/coupons/${archived.id}`);
    const euros = await coupon({ type: 'fixed', percentage_off: null, amount_off: '5', currency: 'eur' });
    for (const { id } of [later, over, archived, euros]) {
      await expectRefused(customerId, { coupons: [id] }, 400, 'coupons[0]');
    }
    const { id: coupon_id } = await coupon({});
    await expectRefused(customerId, { invoice_coupons: [{ coupon_id }, { coupon_id }] }, 400, 'invoice_coupons[1]');
    const line_item_coupons = [{ coupon_id, line_item_id: 'nothing' }];
    await expectRefused(customerId, { line_item_coupons }, 400, 'line_item_coupons[0].line_item_id');
    expect((await api<Wire>('GET', `/coupons/${coupon_id}`)).body.total_redemptions).toBe(0);
  });

  it('a tax rate that is INACTIVE, and an override in another currency', async () => {
    const customerId = await customerOf();
    const { id, code } = await rate();
    await expectRefused(
      customerId,
      { tax_rate_overrides: [{ tax_rate_code: code, currency: 'eur' }] },
      400,
      'tax_rate_overrides[0].currency',
    );
    await api('PUT', `/taxes/rates/${id}`, { tax_rate_status: 'INACTIVE' });
    await expectRefused(customerId, { tax_rates: [id] }, 400, 'tax_rates[0]');
  });

  it('a subscription of somebody else, of another currency, and of nobody', async () => {
    const customerId = await customerOf();
    await expectRefused(customerId, { subscription_id: 'subs_none' }, 404, 'subscription_id');
    const other = await billedCustomer({ api });
    await expectRefused(customerId, { subscription_id: other.subscriptionId }, 400, 'subscription_id');
    const foreign = body(other.customerId, { subscription_id: other.subscriptionId, currency: 'eur' });
    const answer = await api<Wire>('POST', '/invoices', foreign);
    expect(answer).toMatchObject({ status: 400, body: { details: { fields: { currency: expect.any(String) } } } });
  });
});

it('POST /invoices takes a percentage in any currency and ONETIME rates, and computes none that is EXTERNAL', async () => {
  const customerId = await customerOf();
  const rates = [await rate({ scope: 'ONETIME' }), await rate({ scope: 'EXTERNAL' })];
  const made = await created<Wire>(
    api,
    '/invoices',
    body(customerId, { currency: 'eur', coupons: [(await coupon({})).id], tax_rates: rates.map(({ id }) => id) }),
  );
  expect(made).toMatchObject({ total_discount: '10', total_tax: '9', total: '99' });
  expect(made.taxes.map((tax: Wire) => tax.tax_rate_id)).toEqual([rates[0]?.id]);
});
