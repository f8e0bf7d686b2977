import { describe, expect, it } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

let codes = 0;
async function coupon(fields: Record<string, unknown>): Promise<Wire> {
  codes += 1;
  return created<Wire>(api, '/coupons', {
    name: `Coupon ${codes}`,
    coupon_code: `CODE${codes}`,
    cadence: 'once',
    ...fields,
  });
}
const percent = (off: string, fields: Record<string, unknown> = {}) =>
  coupon({ type: 'percentage', percentage_off: off, ...fields });
const off = (amount: string, fields: Record<string, unknown> = {}) =>
  coupon({ type: 'fixed', amount_off: amount, currency: 'usd', ...fields });

/** A customer at 2026-01-15 with a monthly subscription of 30 in advance and 0.10 a call. */
async function discounted(make: (plan: { planId: string; priceId: string }) => Record<string, unknown>): Promise<Wire> {
  const { planId, eventName } = await monthlyPlan(api);
  const { body: prices } = await api<Wire>('POST', '/prices/search', { plan_ids: [planId] });
  const priceId = prices.items.find((price: Wire) => price.type === 'USAGE').id;
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const made = make({ planId, priceId });
  const { id } = await subscribe(api, { customer_id: clocked.customerId, plan_id: planId, ...made });
  return { ...clocked, subscriptionId: id, eventName, planId, priceId };
}

const byCode = (...coupons: Wire[]) => ({
  subscription_coupons: coupons.map(({ coupon_code }) => ({ coupon_code })),
});
const discounts = async (customer: Wire) =>
  (await invoicesOf(api, customer.customerId)).map((invoice: Wire) => invoice.total_discount);
const redemptions = async ({ id }: Wire) => (await api<Wire>('GET', `/coupons/${id}`)).body.total_redemptions;

async function finalized(id: string): Promise<Wire> {
  expect(await api('POST', `/invoices/${id}/finalize`)).toMatchObject({ status: 200 });
  return (await api<Wire>('GET', `/invoices/${id}`)).body;
}

describe('coupons on a subscription', () => {
  it('are redeemed in its creation, shown on it, and discount the opening invoice in order', async () => {
    const [first, second] = [await percent('25', { cadence: 'forever' }), await off('10')];
    const customer = await discounted(() => byCode(first, second));
    const { body } = await api<Wire>('GET', `/subscriptions/${customer.subscriptionId}`);
    expect(body.coupon_associations).toMatchObject([
      {
        id: expect.stringMatching(/^coupon_assoc_/),
        coupon_id: first.id,
        coupon: { coupon_code: first.coupon_code, total_redemptions: 1 },
        subscription_id: customer.subscriptionId,
        subscription_line_item_id: null,
        start_date: '2026-01-15T00:00:00.000Z',
        end_date: null,
      },
      { coupon_id: second.id },
    ]);
    const [invoice] = await invoicesOf(api, customer.customerId);
    expect(invoice).toMatchObject({ subtotal: '30', total_discount: '17.5', total: '12.5', amount_due: '12.5' });
    expect(invoice.line_items[0]).toMatchObject({ invoice_level_discount: '17.5', line_item_discount: '0' });
    expect(invoice.coupon_applications).toMatchObject([
      {
        id: expect.stringMatching(/^coupon_app_/),
        coupon_id: first.id,
        coupon_association_id: body.coupon_associations[0].id,
        coupon_snapshot: { id: first.id, coupon_code: first.coupon_code, percentage_off: '25' },
        invoice_id: invoice.id,
        invoice_line_item_id: null,
        subscription_id: customer.subscriptionId,
        discount_type: 'percentage',
        discount_percentage: '25',
        original_price: '30',
        discounted_amount: '7.5',
        final_price: '22.5',
        currency: 'usd',
        applied_at: '2026-01-15T00:00:00.000Z',
        status: 'published',
      },
      { coupon_id: second.id, discount_type: 'fixed', original_price: '22.5', final_price: '12.5' },
    ]);
  });

  it('last as long as their cadence says', async () => {
    const once = await discounted(() => ({ coupons: [] }));
    expect(await discounts(once)).toEqual(['0']);
    const coupons = [
      await off('1'),
      await off('2', { cadence: 'repeated', duration_in_periods: 2 }),
      await off('4', { cadence: 'forever' }),
    ];
    const customer = await discounted(() => ({ coupons: coupons.map(({ id }) => id) }));
    await advanceTo(api, customer.clockId, '2026-05-16T00:00:00Z');
    // The opening invoice has the first fee, the next one the second.
    expect(await discounts(customer)).toEqual(['7', '6', '4', '4', '4']);
  });

  it('discount the line of one price, also where its usage came late', async () => {
    const half = await percent('50');
    const customer = await discounted(({ priceId }) => ({
      subscription_coupons: [{ coupon_code: half.coupon_code.toLowerCase(), price_id: priceId }],
    }));
    const draft = await firstDraft(api, customer);
    expect(draft.total_discount).toBe('0');
    await countCalls(api, customer, 12, '2026-02-10T00:00:00Z');
    const invoice = await finalized(draft.id);
    expect(invoice).toMatchObject({ subtotal: '31.2', total_discount: '0.6', total: '30.6' });
    const usage = invoice.line_items.find((line: Wire) => line.price_type === 'USAGE');
    expect(usage).toMatchObject({ amount: '1.2', line_item_discount: '0.6' });
    expect(invoice.coupon_applications).toMatchObject([{ invoice_line_item_id: usage.id, discounted_amount: '0.6' }]);
  });

  it('come before taxes, and a preview shows both as numbers', async () => {
    const half = await percent('50', { cadence: 'forever' });
    await created(api, '/taxes/rates', { name: 'VAT', code: 'coupon_vat', percentage_value: '10' });
    const tax_rate_overrides = [{ tax_rate_code: 'coupon_vat', currency: 'usd' }];
    const customer = await discounted(() => ({ ...byCode(half), tax_rate_overrides }));
    const [invoice] = await invoicesOf(api, customer.customerId);
    expect(invoice).toMatchObject({ total_discount: '15', total_tax: '1.5', total: '16.5' });
    const { body } = await api<Wire>('POST', '/invoices/preview', { subscription_id: customer.subscriptionId });
    expect(body).toMatchObject({
      total_discount: 15,
      total: 16.5,
      coupon_applications: [
        { id: null, discount_percentage: 50, original_price: 30, discounted_amount: 15, final_price: 15 },
      ],
    });
  });

  it('that discount everything leave nothing to pay', async () => {
    const customer = await discounted(() => ({}));
    expect(await discounts(customer)).toEqual(['0']);
    const all = await percent('100');
    const free = await discounted(() => byCode(all));
    const [invoice] = await invoicesOf(api, free.customerId);
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED', total: '0' });
  });

  it('keep discounting after they were archived or their window closed', async () => {
    const forever = await percent('10', { cadence: 'forever', redeem_before: '2026-01-16T00:00:00Z' });
    const customer = await discounted(() => byCode(forever));
    await api('DELETE', `/coupons/${forever.id}`);
    await advanceTo(api, customer.clockId, '2026-02-15T00:00:00Z');
    expect(await discounts(customer)).toEqual(['3', '3']);
  });

  it('that are for once may be used again when their invoice is voided', async () => {
    const once = await off('5');
    const customer = await discounted(() => ({
      subscription_coupons: [{ coupon_code: once.coupon_code, start_date: '2026-02-01T00:00:00Z' }],
    }));
    await advanceTo(api, customer.clockId, '2026-02-15T00:00:00Z');
    const [opening, first] = await invoicesOf(api, customer.customerId);
    expect([opening.total_discount, first.total_discount]).toEqual(['5', '0']);
    expect(await api('POST', `/invoices/${opening.id}/void`)).toMatchObject({ status: 200 });
    const voided = (await api<Wire>('GET', `/invoices/${opening.id}`)).body;
    expect(voided).toMatchObject({ total_discount: '5', coupon_applications: [{ status: 'deleted' }] });
    expect(await finalized(first.id)).toMatchObject({ total_discount: '5', total: '25' });
    expect(await redemptions(once)).toBe(1);
  });

  it('end with the subscription', async () => {
    const forever = await percent('10', { cadence: 'forever' });
    const customer = await discounted(() => byCode(forever));
    await api('POST', `/subscriptions/${customer.subscriptionId}/cancel`, { cancellation_type: 'immediate' });
    const path = `/coupons/associations?subscription_ids=${customer.subscriptionId}`;
    const { body } = await api<Wire>('GET', path);
    expect(body.items).toMatchObject([{ end_date: '2026-01-15T00:00:00.000Z', coupon: { id: forever.id } }]);
    expect((await api<Wire>('GET', `/coupons/associations/${body.items[0].id}`)).body).toEqual(body.items[0]);
    expect((await api<Wire>('GET', `${path}&active_only=true`)).body.items).toHaveLength(1);
    await advanceTo(api, customer.clockId, '2026-01-16T00:00:00Z');
    expect((await api<Wire>('GET', `${path}&active_only=true`)).body.items).toEqual([]);
  });
});

describe('rules', () => {
  it('that are not met give nothing and consume nothing', async () => {
    const many = await off('5', { rules: { min_subtotal: '31', unknown: true } });
    const customer = await discounted(() => byCode(many));
    await countCalls(api, customer, 20, '2026-01-20T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-03-15T00:00:00Z');
    expect(await discounts(customer)).toEqual(['0', '5', '0']);
  });

  it('name plans, prices and customers', async () => {
    const other = await monthlyPlan(api);
    const elsewhere = await off('1', { cadence: 'forever', rules: { plan_ids: [other.planId] } });
    const nobody = await off('2', { cadence: 'forever', rules: { customer_ids: ['cust_other'] } });
    const noPrice = await off('4', { cadence: 'forever', rules: { price_ids: ['price_other'] } });
    const customer = await discounted(() => byCode(elsewhere, nobody, noPrice));
    expect(await discounts(customer)).toEqual(['0']);
  });
});

describe('a redemption', () => {
  const subscription = async () => {
    const { planId } = await monthlyPlan(api);
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
    return { customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
  };

  it('of the last one goes to exactly one of many, and the others leave nothing behind', async () => {
    const last = await percent('10', { max_redemptions: 1 });
    const bodies = await Promise.all([1, 2, 3, 4].map(subscription));
    const answers = await Promise.all(
      bodies.map((body) => api<Wire>('POST', '/subscriptions', { ...body, ...byCode(last) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body).toMatchObject({ code: 'validation_error', message: expect.stringContaining('used up') });
    expect(await redemptions(last)).toBe(1);
    const found = await Promise.all(
      bodies.map(({ customer_id }) => api<Wire>('POST', '/subscriptions/search', { customer_id })),
    );
    expect(found.map(({ body }) => body.items.length).sort()).toEqual([0, 0, 0, 1]);
  });

  it('counts once when the same request is sent again', async () => {
    const coupon = await percent('10');
    const body = { ...(await subscription()), ...byCode(coupon) };
    const headers = { 'idempotency-key': `redeem-${coupon.id}` };
    const first = await api<Wire>('POST', '/subscriptions', body, headers);
    const second = await api<Wire>('POST', '/subscriptions', body, headers);
    expect([first.status, second.body.id]).toEqual([201, first.body.id]);
    expect(await redemptions(coupon)).toBe(1);
  });

  it.each<[string, () => Promise<Record<string, unknown>>, number, string]>([
    ['an unknown code', async () => ({ subscription_coupons: [{ coupon_code: 'NOWHERE' }] }), 404, 'NOWHERE'],
    ['an unknown id', async () => ({ coupons: ['coupon_none'] }), 404, 'coupon_none'],
    [
      'an archived coupon',
      async () => {
        const { id } = await percent('10');
        await api('DELETE', `/coupons/${id}`);
        return { coupons: [id] };
      },
      400,
      'coupons[0]',
    ],
    [
      'one whose window is to come',
      async () => byCode(await percent('1', { redeem_after: '2026-01-15T00:00:01Z' })),
      400,
      'subscription_coupons[0]',
    ],
    [
      'one whose window is over',
      async () => byCode(await percent('1', { redeem_before: '2026-01-14T00:00:00Z' })),
      400,
      'subscription_coupons[0]',
    ],
    [
      'one in another currency',
      async () => byCode(await off('1', { currency: 'eur' })),
      400,
      'subscription_coupons[0]',
    ],
    [
      'a price that is not on the subscription',
      async () => ({ line_item_coupons: { price_none: [(await percent('1')).id] } }),
      400,
      'line_item_coupons.price_none[0]',
    ],
    [
      'one named twice',
      async () => {
        const coupon = await percent('1');
        return { ...byCode(coupon), coupons: [coupon.id] };
      },
      400,
      'coupons[0]',
    ],
    [
      'an end before its start',
      async () => {
        const { coupon_code } = await percent('1');
        return { subscription_coupons: [{ coupon_code, end_date: '2026-01-15T00:00:00Z' }] };
      },
      400,
      'subscription_coupons[0]',
    ],
  ])('of %s is refused, and nothing is made', async (_what, make, status, word) => {
    const body = await subscription();
    const answer = await api<Wire>('POST', '/subscriptions', { ...body, ...(await make()) });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(word)]);
    const { body: found } = await api<Wire>('POST', '/subscriptions/search', { customer_id: body.customer_id });
    expect(found.items).toEqual([]);
  });
});
