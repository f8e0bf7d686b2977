import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';
import { addonWith } from '../../catalogue/addon.fixture.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

/** A subscription that began on 1 April 2026 and whose customer's present is 16 April. */
async function subscribed(fields: object = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id, line_items } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
  const fee = line_items.find((item) => item.display_name === 'Base')!.id;
  return { id, clockId, customerId, fee };
}

interface Modified {
  subscription: { id: string; version: number; trial_end: string | null; subscription_status: string };
  changed_resources: {
    line_items: { id: string; quantity: string; change_action: string; start_date: string; end_date: string | null }[];
    subscriptions: { id: string; action: string; current_period_end: string }[];
    invoices: {
      action: string;
      status: string;
      invoice: { total: string; invoice_number: string | null; line_items: { amount: string }[] } | null;
      wallet_transaction: { amount: string } | null;
    }[];
  };
  checkout_session: null;
  preview_digest: string | null;
  code: string;
  message: string;
  details: { difference: Record<string, unknown> };
}
const modify = (id: string, kind: 'preview' | 'execute', body: object) =>
  api<Modified>('POST', `/subscriptions/${id}/modify/${kind}`, body);
const quantity = (item: string, to: string, fields: object = {}) => ({
  type: 'quantity_change',
  quantity_change_params: { line_items: [{ id: item, quantity: to, ...fields }] },
});
const totals = async (id: string) =>
  (await invoicesOf(api, id)).map(({ billing_reason, total }) => [billing_reason, total]);

describe('a change of quantity', () => {
  it('charges the new and credits the old quantity for the rest of the period on one invoice', async () => {
    const { id, clockId, fee } = await subscribed();
    const { status, body } = await modify(id, 'execute', quantity(fee, '4'));
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.changed_resources).toMatchObject({
      line_items: [
        { id: fee, quantity: '1', change_action: 'ended', end_date: '2026-04-16T00:00:00.000Z' },
        { quantity: '4', change_action: 'created', start_date: '2026-04-16T00:00:00.000Z', end_date: null },
      ],
      subscriptions: [{ id, action: 'updated' }],
      invoices: [{ action: 'created', status: 'issued', invoice: { total: '45', invoice_number: expect.any(String) } }],
    });
    expect(body.changed_resources.invoices[0]?.invoice?.line_items.map(({ amount }) => amount)).toEqual(['60', '-15']);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '45'],
      ['SUBSCRIPTION_CYCLE', '120'],
    ]);
  });

  it('to nothing gives the rest back to the wallet and keeps the item, which can be raised again', async () => {
    const { id, fee } = await subscribed();
    const { body } = await modify(id, 'execute', quantity(fee, '0'));
    expect(body.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', status: 'issued', invoice: null, wallet_transaction: { amount: '15' } },
    ]);
    const zero = body.changed_resources.line_items.find((item) => item.change_action === 'created')!;
    const again = await modify(id, 'execute', quantity(zero.id, '2'));
    expect(again.body.changed_resources.invoices).toMatchObject([{ invoice: { total: '30' } }]);
  });

  it('of the present quantity changes nothing', async () => {
    const { id, fee } = await subscribed();
    const { body } = await modify(id, 'execute', quantity(fee, '1.0'));
    expect(body).toMatchObject({ subscription: { version: 1 }, changed_resources: { line_items: [], invoices: [] } });
  });

  it('is refused for usage, what is not there, another time, a negative quantity and an ended subscription', async () => {
    const { id, fee } = await subscribed();
    const usage = (await subscriptionOf(api, id)).line_items.find((item) => item.id !== fee)!.id;
    const cases: [object, number, string][] = [
      [quantity(usage, '2'), 400, 'usage'],
      [quantity('subs_line_none', '2'), 404, 'subs_line_none'],
      [quantity(fee, '-1'), 400, 'quantity'],
      [quantity(fee, '2', { effective_date: '2026-03-31T00:00:00Z' }), 400, 'effective_date'],
      [quantity(fee, '2', { effective_date: '2026-05-01T00:00:00Z' }), 400, 'effective_date'],
      [{ type: 'quantity_change' }, 400, 'quantity_change_params'],
      [{ type: 'other' }, 400, 'type'],
    ];
    for (const [body, status, word] of cases) {
      const answer = await modify(id, 'execute', body);
      expect([answer.status, answer.body.message], word).toEqual([status, expect.stringContaining(word)]);
      expect((await modify(id, 'preview', body)).status).toBe(status);
    }
    // A preview opens no payment page, so it asks no provider.
    const elsewhere = { ...quantity(fee, '2'), checkout: { payment_provider: 'x' } };
    expect((await modify(id, 'execute', elsewhere)).body.message).toContain('payment_provider x');
    expect((await modify(id, 'preview', elsewhere)).status).toBe(200);
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    expect((await modify(id, 'execute', quantity(fee, '2'))).status).toBe(400);
  });
});

describe('a preview', () => {
  it('writes nothing and shows the lines of the execution that takes its digest', async () => {
    const { id, fee } = await subscribed();
    const { status, body: seen } = await modify(id, 'preview', quantity(fee, '3'));
    expect(status, JSON.stringify(seen)).toBe(200);
    expect(seen.changed_resources.invoices).toMatchObject([
      { status: 'preview', invoice: { total: '30', invoice_number: null } },
    ]);
    expect((await subscriptionOf(api, id)).version).toBe(1);
    expect(await totals(id)).toHaveLength(1);
    const done = await modify(id, 'execute', { ...quantity(fee, '3'), preview_digest: seen.preview_digest });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    const amounts = ({ changed_resources: { invoices } }: Modified) =>
      invoices.map(({ invoice }) => invoice?.line_items.map(({ amount }) => amount));
    expect(amounts(done.body)).toEqual(amounts(seen));
  });

  it('is executed at the moment it showed, within an hour', async () => {
    const { id, clockId, fee } = await subscribed();
    const { body: seen } = await modify(id, 'preview', quantity(fee, '3'));
    await advanceTo(api, clockId, '2026-04-16T00:30:00Z');
    const done = await modify(id, 'execute', { ...quantity(fee, '3'), preview_digest: seen.preview_digest });
    expect(done.body.changed_resources.invoices).toMatchObject([{ invoice: { total: '30' } }]);
    const { id: other } = done.body.changed_resources.line_items[1]!;
    const { body: late } = await modify(id, 'preview', quantity(other, '5'));
    await advanceTo(api, clockId, '2026-04-16T02:00:00Z');
    const refused = await modify(id, 'execute', { ...quantity(other, '5'), preview_digest: late.preview_digest });
    expect(refused).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
  });

  it('is refused with the difference when the subscription or the request changed meanwhile', async () => {
    const { id, fee } = await subscribed();
    const { body: seen } = await modify(id, 'preview', quantity(fee, '3'));
    const other = await modify(id, 'execute', { ...quantity(fee, '4'), preview_digest: seen.preview_digest });
    expect(other).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
    expect(Object.keys(other.body.details.difference)).toEqual(['request', 'lines']);
    await api('PUT', `/subscriptions/${id}`, { metadata: { a: 'b' } });
    const changed = await modify(id, 'execute', { ...quantity(fee, '3'), preview_digest: seen.preview_digest });
    expect(changed).toMatchObject({
      status: 409,
      body: { details: { difference: { subscription: { previewed: 1, present: 2 } } } },
    });
    expect(await totals(id)).toHaveLength(1);
    expect(await modify(id, 'execute', { ...quantity(fee, '3'), preview_digest: 'none' })).toMatchObject({
      status: 400,
    });
  });
});

describe('a trial', () => {
  const ends = (action: string, fields: object = {}) => ({
    type: 'trial_end',
    trial_end_params: { action, ...fields },
  });

  it('ends at once with the invoice of its end', async () => {
    const { id, clockId } = await subscribed({ trial_period_days: 30 });
    const { body: seen } = await modify(id, 'preview', ends('immediate'));
    expect(seen.changed_resources.invoices).toMatchObject([{ invoice: { total: '30', invoice_number: null } }]);
    const { body } = await modify(id, 'execute', { ...ends('immediate'), preview_digest: seen.preview_digest });
    expect(body).toMatchObject({
      subscription: { subscription_status: 'active', trial_end: '2026-04-16T00:00:00.000Z', version: 2 },
      changed_resources: { subscriptions: [{ current_period_end: '2026-05-16T00:00:00.000Z' }] },
    });
    await advanceTo(api, clockId, '2026-05-16T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', '0'],
      ['SUBSCRIPTION_TRIAL_END', '30'],
      ['SUBSCRIPTION_CYCLE', '30'],
    ]);
  });

  it('ends at another date, in the future and within the subscription', async () => {
    const { id, clockId } = await subscribed({ trial_period_days: 30, end_date: '2026-12-01T00:00:00Z' });
    for (const new_trial_end of ['2026-04-16T00:00:00Z', '2026-12-02T00:00:00Z', null]) {
      expect((await modify(id, 'execute', ends('scheduled_date', { new_trial_end }))).status).toBe(400);
    }
    const { body } = await modify(id, 'execute', ends('scheduled_date', { new_trial_end: '2026-06-10T00:00:00Z' }));
    expect(body.subscription).toMatchObject({ subscription_status: 'TRIALING', trial_end: '2026-06-10T00:00:00.000Z' });
    await advanceTo(api, clockId, '2026-06-10T00:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_TRIAL_END', '30']);
    expect((await modify(id, 'execute', ends('immediate'))).status).toBe(400);
  });
});

describe('coupons, taxes and add-ons', () => {
  it('a coupon is redeemed and ended on a running subscription', async () => {
    const { id, clockId } = await subscribed();
    const coupon = await created<{ coupon_code: string }>(api, '/coupons', {
      name: 'Half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const params = { action: 'add', coupon_code: coupon.coupon_code };
    const added = await modify(id, 'execute', { type: 'coupon', coupon_params: params });
    expect(added.status, JSON.stringify(added.body)).toBe(200);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '15']);
    const { body } = await api<{ coupon_associations: { id: string }[] }>('GET', `/subscriptions/${id}`);
    const removed = { action: 'remove', coupon_association_id: body.coupon_associations[0]!.id };
    expect((await modify(id, 'execute', { type: 'coupon', coupon_params: removed })).status).toBe(200);
    // It was in force in a part of May.
    await advanceTo(api, clockId, '2026-07-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '30']);
    for (const [wrong, status] of [
      [{ action: 'add' }, 400],
      [{ action: 'add', coupon_code: 'unknown' }, 404],
      [{ action: 'remove', coupon_association_id: 'none' }, 404],
      [{ ...params, subscription_id: id, subscription_line_item_id: 'x' }, 400],
    ] as const) {
      expect((await modify(id, 'execute', { type: 'coupon', coupon_params: wrong })).status).toBe(status);
    }
  });

  it('a tax rate is linked and ended on a running subscription', async () => {
    const { id, clockId } = await subscribed();
    const code = `vat-${Math.random().toString(36).slice(2)}`;
    const rate = await created(api, '/taxes/rates', { name: 'VAT', code, percentage_value: '10' });
    const add = { type: 'tax', tax_params: { action: 'add', tax_rate_id: rate.id } };
    expect((await modify(id, 'execute', add)).status).toBe(200);
    expect((await modify(id, 'execute', add)).status).toBe(409);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '33']);
    const { body } = await api<{ items: { id: string }[] }>(
      'GET',
      `/taxes/associations?entity_type=subscription&entity_id=${id}`,
    );
    const remove = { action: 'remove', tax_association_id: body.items[0]!.id };
    expect((await modify(id, 'execute', { type: 'tax', tax_params: remove })).status).toBe(200);
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '30']);
    const unknown = { action: 'add', tax_rate_id: 'none' };
    expect((await modify(id, 'execute', { type: 'tax', tax_params: unknown })).status).toBe(404);
  });

  it('an add-on is previewed and attached, and detached with what is left of it', async () => {
    const { id } = await subscribed();
    const addon = await addonWith(api);
    const add = { type: 'addon', addon_params: { action: 'add', add: { addon_id: addon } } };
    const { body: seen } = await modify(id, 'preview', add);
    expect(seen.changed_resources).toMatchObject({ invoices: [{ status: 'preview', invoice: { total: '10' } }] });
    const done = await modify(id, 'execute', { ...add, preview_digest: seen.preview_digest });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    const { body } = await api<{ id: string }[]>('GET', `/subscriptions/${id}/addons/associations`);
    const remove = { addon_association_id: body[0]!.id, effective_date: '2026-04-16T00:00:00Z' };
    const removed = await modify(id, 'execute', { type: 'addon', addon_params: { action: 'remove', remove } });
    expect(removed.body.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', wallet_transaction: { amount: '10' } },
    ]);
    expect((await modify(id, 'execute', { type: 'addon', addon_params: { action: 'add' } })).status).toBe(400);
  });
});
