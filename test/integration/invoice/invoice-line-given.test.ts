import { describe, expect, it } from 'vitest';
import { clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import { asSuperuser } from '../../support/database.ts';
import { billedCustomer, type Wire } from './invoice.fixture.ts';

/* What lines of POST /invoices may say beside their amounts. spec: subscriptions-and-invoicing §1.11.1, §2.16 */

const platform = await testPlatform();
const { api } = platform;

const at = '2026-02-01T00:00:00Z';
const customerOf = async () => (await clockedCustomer(api, { frozenTime: at })).customerId;

/** An invoice over a line of 100 and one of 20. */
const body = (customer_id: string, [first, second]: object[], more: object = {}): Record<string, unknown> => ({
  customer_id,
  currency: 'usd',
  subtotal: '120',
  total: '120',
  amount_due: '120',
  line_items: [
    { display_name: 'Set-up', quantity: '1', amount: '100', metadata: { line_item_id: 'setup' }, ...first },
    { display_name: 'Training', quantity: '2', amount: '20', ...second },
  ],
  ...more,
});

let codes = 0;
const coupon = (more: object) => {
  codes += 1;
  return created<Wire>(api, '/coupons', { name: 'C', coupon_code: `LG${codes}`, cadence: 'once', ...more });
};

/** A refusal that names its field, and that nothing is left of it. */
async function expectRefused(request: Record<string, unknown>, status: number, field: string): Promise<string> {
  const answer = await api<Wire>('POST', '/invoices', request);
  const code = status === 404 ? 'not_found' : 'validation_error';
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, body: { code } });
  expect(Object.keys(answer.body.details.fields), answer.body.message).toContain(field);
  const { body: found } = await api<Wire>('POST', '/invoices/search', { customer_id: request.customer_id });
  expect(found.items.filter((invoice: Wire) => invoice.billing_reason === 'MANUAL')).toEqual([]);
  return answer.body.message;
}

describe('prepaid_credits_applied of lines', () => {
  it('says which lines credits of another system pay, of either type, and touches no wallet', async () => {
    const customerId = await customerOf();
    const given = body(customerId, [{}, { prepaid_credits_applied: '15', price_type: 'FIXED' }]);
    const invoice = await created<Wire>(api, '/invoices', given);
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '15', total: '105', amount_due: '105' });
    expect(invoice.line_items.map((line: Wire) => line.prepaid_credits_applied)).toEqual(['0', '15']);
    expect((await api<Wire>('GET', `/invoices/${invoice.id}/verify`)).body.verified).toBe(true);
  });

  it('may be said of the whole as well when it is the same', async () => {
    const customerId = await customerOf();
    const lines = [{ prepaid_credits_applied: '30' }, { prepaid_credits_applied: '5' }];
    const message = await expectRefused(
      body(customerId, lines, { total_prepaid_applied: '36' }),
      400,
      'total_prepaid_applied',
    );
    expect(message).toContain('must be 35');
    const invoice = await created<Wire>(api, '/invoices', body(customerId, lines, { total_prepaid_applied: '35.00' }));
    expect(invoice.line_items.map((line: Wire) => line.prepaid_credits_applied)).toEqual(['30', '5']);
  });

  it('is refused above what coupons leave of a line, and above what negative lines leave of the invoice', async () => {
    const customerId = await customerOf();
    const half = await coupon({ type: 'percentage', percentage_off: '50' });
    const line_item_coupons = [{ coupon_id: half.id, line_item_id: 'setup' }];
    const over = body(customerId, [{ prepaid_credits_applied: '50.01' }, {}], { line_item_coupons });
    expect(await expectRefused(over, 400, 'line_items[0].prepaid_credits_applied')).toContain('must be 50');
    const credited = body(customerId, [{ prepaid_credits_applied: '90' }, { amount: '-20' }], { subtotal: '80' });
    expect(await expectRefused(credited, 400, 'line_items[0].prepaid_credits_applied')).toContain('must be 80');
    await expectRefused(
      body(customerId, [{ prepaid_credits_applied: '-1' }, {}]),
      400,
      'line_items[0].prepaid_credits_applied',
    );
    expect((await api<Wire>('GET', `/coupons/${half.id}`)).body.total_redemptions).toBe(0);
  });

  it('stays on its line when a draft is computed again and edited', async () => {
    const customerId = await customerOf();
    const lines = [{}, { prepaid_credits_applied: '15' }];
    const draft = await created<Wire>(api, '/invoices', body(customerId, lines, { invoice_status: 'DRAFT' }));
    const again = await api<Wire>('POST', `/invoices/${draft.id}/compute`);
    expect(again.body.invoice.line_items[1]).toMatchObject({ prepaid_credits_applied: '15' });
    const items = [{ line_item_id: draft.line_items[1].id, display_name: 'Course' }];
    const edit = { type: 'line_item', line_item_params: { action: 'update', items } };
    const edited = await api<Wire>('POST', `/invoices/${draft.id}/modify/execute`, edit);
    expect(edited.body.invoice.line_items.map((line: Wire) => line.prepaid_credits_applied)).toEqual(['0', '15']);
    expect((await api('POST', `/invoices/${draft.id}/finalize`)).status).toBe(200);
    expect((await api<Wire>('GET', `/invoices/${draft.id}`)).body).toMatchObject({ total: '105' });
  });
});

describe('line_item_discount and invoice_level_discount of lines', () => {
  it('are what coupons come to, and are refused when they are not', async () => {
    const customerId = await customerOf();
    const line = await coupon({ type: 'fixed', amount_off: '10', currency: 'usd' });
    const whole = await coupon({ type: 'percentage', percentage_off: '10' });
    const coupons = {
      line_item_coupons: [{ coupon_id: line.id, line_item_id: 'setup' }],
      invoice_coupons: [{ coupon_id: whole.id }],
    };
    // 10 off the first line; 10 % of the 110 that are left: 9 and 2.
    const right = [{ line_item_discount: '10', invoice_level_discount: '9.00' }, { invoice_level_discount: '2' }];
    for (const [lines, field, value] of [
      [[{ line_item_discount: '11' }, {}], 'line_items[0].line_item_discount', 'must be 10'],
      [[{}, { line_item_discount: '1' }], 'line_items[1].line_item_discount', 'must be 0'],
      [[{}, { invoice_level_discount: '3' }], 'line_items[1].invoice_level_discount', 'must be 2'],
    ] as const) {
      expect(await expectRefused(body(customerId, [...lines], coupons), 400, field)).toContain(value);
    }
    expect((await api<Wire>('GET', `/coupons/${line.id}`)).body.total_redemptions).toBe(0);
    const invoice = await created<Wire>(api, '/invoices', body(customerId, right, coupons));
    expect(invoice).toMatchObject({ total_discount: '21', total: '99' });
  });

  it('are refused without a coupon, and 0 says nothing', async () => {
    const customerId = await customerOf();
    const lines = [{ line_item_discount: '5' }, {}];
    await expectRefused(body(customerId, lines), 400, 'line_items[0].line_item_discount');
    const whole = await coupon({ type: 'percentage', percentage_off: '10' });
    const zeros = [{ line_item_discount: '0', invoice_level_discount: 0, prepaid_credits_applied: '0.00' }, {}];
    const invoice = await created<Wire>(api, '/invoices', body(customerId, zeros, { coupons: [whole.id] }));
    expect(invoice).toMatchObject({ total_discount: '12', total: '108' });
  });
});

describe('commitment_info of lines', () => {
  const commitment = {
    type: 'amount',
    amount: '80',
    overage_factor: '1.5',
    duration: 'MONTHLY',
    is_windowed: false,
    true_up_enabled: true,
    computed_commitment_utilized_amount: '80',
    computed_overage_amount: '20',
    computed_true_up_amount: '0',
  };

  it('is shown with the line, sealed with the invoice, and changes no amount', async () => {
    const customerId = await customerOf();
    const units = { quantity: '500' };
    const lines = [{ commitment_info: commitment }, { commitment_info: units }];
    const invoice = await created<Wire>(api, '/invoices', body(customerId, lines));
    expect(invoice.total).toBe('120');
    expect(invoice.line_items[0].commitment_info).toEqual({ ...commitment, quantity: null });
    expect(invoice.line_items[1].commitment_info).toEqual({
      type: 'quantity',
      amount: null,
      quantity: '500',
      overage_factor: '1',
      duration: null,
      is_windowed: false,
      true_up_enabled: false,
      computed_commitment_utilized_amount: null,
      computed_overage_amount: null,
      computed_true_up_amount: null,
    });
    const documentOk = async () => {
      const { body: verification } = await api<Wire>('GET', `/invoices/${invoice.id}/verify`);
      return verification.checks.find(({ check }: Wire) => check === 'document').ok;
    };
    expect(await documentOk()).toBe(true);
    const change = `update invoice_line_item set commitment_info = null where id = '${invoice.line_items[0].id}'`;
    await expect(asSuperuser(platform.base.ownerUrl, change)).rejects.toThrow('is of a finalized invoice');
    const altered = (amount: string) =>
      asSuperuser(
        platform.base.ownerUrl,
        `set session_replication_role = replica; update invoice_line_item
         set commitment_info = jsonb_set(commitment_info, '{amount}', '"${amount}"') where id = '${invoice.line_items[0].id}'`,
      );
    await altered('81');
    expect(await documentOk()).toBe(false);
    await altered('80');
    expect(await documentOk()).toBe(true);
  });

  it('may be sent back as it was answered, and as a client sends what it does not mean', async () => {
    const customerId = await customerOf();
    const first = await created<Wire>(api, '/invoices', body(customerId, [{ commitment_info: commitment }, {}]));
    const [again, empty] = [first.line_items[0].commitment_info, { amount: null, is_windowed: false }];
    const lines = [{ commitment_info: again }, { commitment_info: empty }];
    const second = await created<Wire>(api, '/invoices', body(customerId, lines, { description: 'again' }));
    expect(second.line_items.map((line: Wire) => line.commitment_info)).toEqual([again, null]);
  });

  it.each([
    ['both an amount and a quantity', { amount: '1', quantity: '1' }, 'quantity'],
    ['a type without its value', { type: 'quantity', amount: '1' }, 'quantity'],
    ['nothing that is committed', { computed_overage_amount: '1' }, 'amount'],
    ['a factor below 1', { amount: '1', overage_factor: '0.5' }, 'overage_factor'],
    ['a negative amount', { amount: '-1' }, 'amount'],
    ['a duration that is none', { amount: '1', duration: 'FORTNIGHT' }, 'duration'],
  ])('is refused with %s', async (_name, commitment_info, member) => {
    const customerId = await customerOf();
    await expectRefused(body(customerId, [{ commitment_info }, {}]), 400, `line_items[0].commitment_info.${member}`);
  });
});

describe('subscription_id of lines', () => {
  it('says whose charge a line is, on an invoice of no subscription', async () => {
    const customer = await billedCustomer(platform);
    const { body: subscription } = await api<Wire>('GET', `/subscriptions/${customer.subscriptionId}`);
    const [item] = subscription.line_items;
    const lines = [
      { subscription_id: customer.subscriptionId, subscription_line_item_id: item.id },
      { subscription_id: '' },
    ];
    const invoice = await created<Wire>(api, '/invoices', body(customer.customerId, lines));
    expect(invoice).toMatchObject({ invoice_type: 'ONE_OFF', subscription_id: null, billing_sequence: null });
    expect(invoice.line_items).toMatchObject([
      { subscription_id: customer.subscriptionId, subscription_line_item_id: item.id },
      { subscription_id: null, subscription_line_item_id: null },
    ]);
  });

  it('is refused when it is of nobody, of somebody else, in another currency, or not that of the line item', async () => {
    const customer = await billedCustomer(platform);
    const other = await billedCustomer(platform);
    const { body: theirs } = await api<Wire>('GET', `/subscriptions/${other.subscriptionId}`);
    const of = (first: object, more: object = {}) => body(customer.customerId, [first, {}], more);
    const field = 'line_items[0].subscription_id';
    await expectRefused(of({ subscription_id: 'subs_none' }), 404, field);
    expect(await expectRefused(of({ subscription_id: other.subscriptionId }), 400, field)).toContain(other.customerId);
    await expectRefused(of({ subscription_id: customer.subscriptionId }, { currency: 'eur' }), 400, field);
    const mixed = { subscription_id: customer.subscriptionId, subscription_line_item_id: theirs.line_items[0].id };
    await expectRefused(of(mixed), 400, 'line_items[0].subscription_line_item_id');
  });
});

describe('subscription_line_item_id of line_item_coupons', () => {
  it('tells lines of one price apart', async () => {
    const customer = await billedCustomer(platform);
    const { body: subscription } = await api<Wire>('GET', `/subscriptions/${customer.subscriptionId}`);
    const [one, two] = subscription.line_items;
    const line = { price_id: one.price_id };
    const lines = [
      { ...line, metadata: {}, subscription_line_item_id: one.id },
      { ...line, subscription_line_item_id: two.id },
    ];
    const five = await coupon({ type: 'fixed', amount_off: '5', currency: 'usd' });
    const named = (subscription_line_item_id: string) => ({
      line_item_coupons: [{ coupon_id: five.id, line_item_id: one.price_id, subscription_line_item_id }],
    });
    const field = 'line_item_coupons[0].subscription_line_item_id';
    expect(await expectRefused(body(customer.customerId, lines, named('li_none')), 400, field)).toContain('li_none');
    const invoice = await created<Wire>(api, '/invoices', body(customer.customerId, lines, named(two.id)));
    expect(invoice.line_items.map((each: Wire) => each.line_item_discount)).toEqual(['0', '5']);
    expect(invoice.coupon_applications).toMatchObject([{ invoice_line_item_id: invoice.line_items[1].id }]);
  });
});

it('a request that is sent again with its Idempotency-Key makes one invoice and redeems once', async () => {
  const customerId = await customerOf();
  const five = await coupon({ type: 'fixed', amount_off: '5', currency: 'usd' });
  const request = body(customerId, [{ line_item_discount: '5' }, { prepaid_credits_applied: '20' }], {
    line_item_coupons: [{ coupon_id: five.id, line_item_id: 'setup' }],
  });
  const headers = { 'idempotency-key': `given-${customerId}` };
  const first = await api<Wire>('POST', '/invoices', request, headers);
  const second = await api<Wire>('POST', '/invoices', request, headers);
  expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
  expect(second.body.total).toBe('95');
  expect((await api<Wire>('GET', `/coupons/${five.id}`)).body.total_redemptions).toBe(1);
});
