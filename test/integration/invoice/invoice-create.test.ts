import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, created, eventsOf, testPlatform } from '../../support/billing.ts';
import { billedCustomer, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const at = '2026-02-01T00:00:00Z';
const customerOf = (card?: string) => clockedCustomer(api, { frozenTime: at, ...(card ? { card } : {}) });

/** A one-off invoice over two lines, 120 together. */
function twoLines(customerId: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    customer_id: customerId,
    currency: 'usd',
    subtotal: '120',
    total: '120',
    amount_due: '120',
    line_items: [
      { display_name: 'Set-up', quantity: '1', amount: '100', metadata: { line_item_id: 'setup' } },
      { display_name: 'Training', quantity: '2', amount: '20' },
    ],
    ...more,
  };
}

const taxRate = async (code: string, percentage: string, more: Record<string, unknown> = {}) =>
  created<Wire>(api, '/taxes/rates', { name: code, code, percentage_value: percentage, ...more });
const coupon = async (code: string, more: Record<string, unknown>) =>
  created<Wire>(api, '/coupons', { name: code, coupon_code: code, cadence: 'once', ...more });

describe('POST /invoices', () => {
  it('makes a one-off invoice final at once, with a number, its lines and nothing of a subscription', async () => {
    const { customerId } = await customerOf();
    const { status, body } = await api<Wire>('POST', '/invoices', twoLines(customerId));
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      billing_reason: 'MANUAL',
      payment_status: 'PENDING',
      subtotal: '120',
      total: '120',
      amount_due: '120',
      amount_remaining: '120',
      subscription_id: null,
      taxes: [],
      tax_summary: { no_tax_reason: 'no_tax_rates' },
      issue_date: '2026-02-01T00:00:00.000Z',
      due_date: '2026-02-02T00:00:00.000Z',
      finalized_at: '2026-02-01T00:00:00.000Z',
    });
    expect(body.invoice_number).toMatch(/^INV-202602-\d{5}$/);
    expect(body.line_items).toMatchObject([
      { display_name: 'Set-up', amount: '100', quantity: '1' },
      { display_name: 'Training', amount: '20', quantity: '2' },
    ]);
    expect(await eventsOf(api, body.id)).toEqual(['invoice.update', 'invoice.update.finalized']);
  });

  it('makes one line of the subtotal where none is given', async () => {
    const { customerId } = await customerOf();
    const body = { customer_id: customerId, currency: 'usd', subtotal: 12.5, total: 12.5, amount_due: 12.5 };
    const plain = await created<Wire>(api, '/invoices', body);
    expect(plain.line_items).toMatchObject([{ display_name: 'Invoice', amount: '12.5', quantity: '1' }]);
    const named = await created<Wire>(api, '/invoices', { ...body, description: 'Licence' });
    expect(named).toMatchObject({ description: 'Licence', line_items: [{ display_name: 'Licence' }] });
  });

  it('takes off coupons, then adds the taxes that were named and no others', async () => {
    const { customerId } = await customerOf();
    const rate = await taxRate('VAT-C', '20');
    const tenOff = await coupon('ONEOFF10', { type: 'percentage', percentage_off: '10' });
    const five = await coupon('LINE5', { type: 'fixed', amount_off: '5', currency: 'usd' });
    const invoice = await created<Wire>(
      api,
      '/invoices',
      twoLines(customerId, {
        coupons: [tenOff.id],
        line_item_coupons: [{ coupon_id: five.id, line_item_id: 'setup' }],
        tax_rates: [rate.id],
      }),
    );
    // 120 − 5 − 10 % of 115 = 103.5, and 20 % of that.
    expect(invoice).toMatchObject({ total_discount: '16.5', total_tax: '20.7', total: '124.2' });
    expect(invoice.coupon_applications).toMatchObject([
      { coupon_id: five.id, discounted_amount: '5', invoice_line_item_id: invoice.line_items[0].id },
      { coupon_id: tenOff.id, discounted_amount: '11.5', invoice_line_item_id: null },
    ]);
    expect(invoice.taxes).toMatchObject([{ tax_rate_id: rate.id, tax_behavior: 'exclusive', taxable_amount: '103.5' }]);
    expect((await api<Wire>('GET', `/coupons/${tenOff.id}`)).body.total_redemptions).toBe(1);
  });

  it('uses prepared rates before overrides, and overrides before rates', async () => {
    const { customerId } = await customerOf();
    const [one, two, three] = [await taxRate('P1', '10'), await taxRate('P2', '20'), await taxRate('P3', '30')];
    const given = {
      prepared_tax_rates: [{ ...one, percentage_value: '7', tax_behavior: 'inclusive' }],
      tax_rate_overrides: [{ tax_rate_code: two.code, currency: 'usd' }],
      tax_rates: [three.id],
    };
    const all = await created<Wire>(api, '/invoices', twoLines(customerId, given));
    expect(all.taxes).toMatchObject([{ tax_rate_id: one.id, tax_behavior: 'inclusive', tax_amount: '7.85' }]);
    expect(all.total).toBe('120');
    const { prepared_tax_rates: _, ...rest } = given;
    const overridden = await created<Wire>(api, '/invoices', twoLines(customerId, { ...rest, description: 'b' }));
    expect(overridden.taxes).toMatchObject([{ tax_rate_id: two.id, tax_amount: '24' }]);
  });

  it('frees a one-off redemption when the invoice is voided', async () => {
    const { customerId } = await customerOf();
    const last = await coupon('LASTONE', { type: 'percentage', percentage_off: '50', max_redemptions: 1 });
    const first = await created<Wire>(api, '/invoices', twoLines(customerId, { coupons: [last.id] }));
    const refused = await api<Wire>(
      'POST',
      '/invoices',
      twoLines(customerId, { coupons: [last.id], description: '2' }),
    );
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(refused.body.message).toContain('used up');
    expect(await api('POST', `/invoices/${first.id}/void`)).toMatchObject({ status: 200 });
    const second = await created<Wire>(
      api,
      '/invoices',
      twoLines(customerId, { coupons: [last.id], description: '3' }),
    );
    expect(second.total).toBe('60');
    expect((await api<Wire>('GET', `/coupons/${last.id}`)).body.total_redemptions).toBe(1);
  });

  it('counts an invoice over nothing as paid', async () => {
    const { customerId } = await customerOf();
    const body = { customer_id: customerId, currency: 'usd', subtotal: '0', total: '0', amount_due: '0' };
    const invoice = await created<Wire>(api, '/invoices', body);
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED' });
    expect(await eventsOf(api, invoice.id)).toContain('invoice.update.payment');
  });

  it('charges the saved card like any other invoice', async () => {
    const { customerId } = await customerOf(sandboxCardNumber('succeeds'));
    const { id } = await created<Wire>(api, '/invoices', twoLines(customerId));
    await api('POST', `/invoices/${id}/payment/attempt`);
    const { body } = await api<Wire>('GET', `/invoices/${id}`);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '120', amount_remaining: '0' });
  });

  it('keeps what was paid before, and what credits of another system paid', async () => {
    const { customerId } = await customerOf();
    const part = await created<Wire>(api, '/invoices', twoLines(customerId, { amount_paid: '50' }));
    expect(part).toMatchObject({ amount_paid: '50', amount_remaining: '70', payment_status: 'PENDING' });
    const whole = await created<Wire>(
      api,
      '/invoices',
      twoLines(customerId, { total_prepaid_applied: '20', payment_status: 'SUCCEEDED', description: 'imported' }),
    );
    expect(whole).toMatchObject({
      total_prepaid_credits_applied: '20',
      total: '100',
      amount_paid: '100',
      payment_status: 'SUCCEEDED',
    });
    expect(whole.line_items[0].prepaid_credits_applied).toBe('20');
  });

  it("takes the caller's number, which the sequence passes over and never gives again", async () => {
    const { customerId } = await customerOf();
    const before = await created<Wire>(api, '/invoices', twoLines(customerId));
    const next = `INV-202602-${String(Number(before.invoice_number.slice(-5)) + 1).padStart(5, '0')}`;
    const named = await created<Wire>(
      api,
      '/invoices',
      twoLines(customerId, { invoice_number: next, description: 'n' }),
    );
    expect(named.invoice_number).toBe(next);
    const after = await created<Wire>(api, '/invoices', twoLines(customerId, { description: 'after' }));
    expect(Number(after.invoice_number.slice(-5))).toBe(Number(next.slice(-5)) + 1);
    const again = await api<Wire>(
      'POST',
      '/invoices',
      twoLines(customerId, { invoice_number: next, description: 'o' }),
    );
    expect(again).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  });

  it('stays a draft when asked, which a person finalizes', async () => {
    const { customerId } = await customerOf();
    const draft = await created<Wire>(
      api,
      '/invoices',
      twoLines(customerId, { invoice_status: 'DRAFT', invoice_number: 'MY-1' }),
    );
    expect(draft).toMatchObject({ invoice_status: 'DRAFT', invoice_number: null, finalized_at: null });
    expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body).toMatchObject({ invoice_status: 'FINALIZED', invoice_number: 'MY-1' });
  });

  it('makes a draft of a subscription, and answers the same draft to the same key', async () => {
    const customer = await billedCustomer(platform);
    const body = twoLines(customer.customerId, {
      subscription_id: customer.subscriptionId,
      billing_reason: 'SUBSCRIPTION_UPDATE',
      billing_period: 'MONTHLY',
      period_start: '2026-01-15T00:00:00Z',
      period_end: '2026-02-15T00:00:00Z',
    });
    const first = await created<Wire>(api, '/invoices', body);
    expect(first).toMatchObject({ invoice_type: 'SUBSCRIPTION', invoice_status: 'DRAFT', billing_sequence: 2 });
    const second = await api<Wire>('POST', '/invoices', body);
    expect(second).toMatchObject({ status: 201, body: { id: first.id } });
  });

  it('refuses the same one-off twice, and allows it again once it is voided', async () => {
    const { customerId } = await customerOf();
    const keyed = { idempotency_key: `order-${customerId}` };
    const first = await created<Wire>(api, '/invoices', twoLines(customerId, keyed));
    const again = await api<Wire>('POST', '/invoices', twoLines(customerId, { ...keyed, description: 'other' }));
    expect(again).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    expect(again.body.message).toContain(first.id);
    await api('POST', `/invoices/${first.id}/void`);
    await created(api, '/invoices', twoLines(customerId, keyed));
  });

  it('answers a repeated request with its Idempotency-Key from the first one', async () => {
    const { customerId } = await customerOf();
    const headers = { 'idempotency-key': `create-${customerId}` };
    const first = await api<Wire>('POST', '/invoices', twoLines(customerId), headers);
    const second = await api<Wire>('POST', '/invoices', twoLines(customerId), headers);
    expect(second).toMatchObject({ status: 201, body: { id: first.body.id } });
  });
});

describe('what POST /invoices refuses', () => {
  const cases: [string, Record<string, unknown>, number, string][] = [
    ['a subtotal that is not the sum of the lines', { subtotal: '119' }, 400, 'subtotal'],
    ['negative amounts without a negative line', { total: '-1' }, 400, 'total'],
    ['more paid than is due', { amount_paid: '121' }, 400, 'amount_paid'],
    ['a negative payment', { amount_paid: '-1' }, 400, 'amount_paid'],
    ['one bound of a period', { period_start: at }, 400, 'period_end'],
    ['a period that ends as it begins', { period_start: at, period_end: at }, 400, 'period_end'],
    ['a due date before the issue date', { issue_date: at, due_date: '2026-01-31T00:00:00Z' }, 400, 'due_date'],
    ['a subscription invoice without its subscription', { invoice_type: 'SUBSCRIPTION' }, 400, 'subscription_id'],
    ['a status other than DRAFT', { invoice_status: 'FINALIZED' }, 400, 'invoice_status'],
    ['a payment status nobody can begin with', { payment_status: 'REFUNDED' }, 400, 'payment_status'],
    ['a part paid that is said to be all', { amount_paid: '5', payment_status: 'SUCCEEDED' }, 400, 'payment_status'],
    ['a currency that is none', { currency: 'us' }, 400, 'currency'],
    ['an unknown customer', { customer_id: 'cust_none' }, 404, 'customer_id'],
    ['an unknown coupon', { coupons: ['coupon_none'] }, 404, 'coupons[0]'],
    ['an unknown tax rate', { tax_rates: ['taxrate_none'] }, 404, 'tax_rates[0]'],
    [
      'an unknown tax code',
      { tax_rate_overrides: [{ tax_rate_code: 'NONE', currency: 'usd' }] },
      404,
      'tax_rate_overrides[0]',
    ],
    ['more credits than the lines hold', { total_prepaid_applied: '121' }, 400, 'total_prepaid_applied'],
    [
      'a line that names a price of nobody',
      { line_items: [{ amount: '120', quantity: '1', price_id: 'price_none' }] },
      404,
      'line_items[0].price_id',
    ],
    ['a line without a quantity', { line_items: [{ amount: '120' }] }, 400, 'line_items[0].quantity'],
  ];
  it.each(cases)('%s', async (_name, more, status, field) => {
    const { customerId } = await customerOf();
    const answer = await api<Wire>('POST', '/invoices', twoLines(customerId, more));
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(field);
    const { body } = await api<Wire>('POST', '/invoices/search', { customer_id: customerId });
    expect(body.items).toEqual([]);
  });
});
