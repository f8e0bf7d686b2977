import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';
import { addonWith, associationsOf, attach, detach } from '../../catalogue/addon.fixture.ts';
import { type Body, checkout, payAtSandbox, readSession } from './checkout.fixture.ts';

const { api, gateway } = await testPlatform();
const plan = await monthlyPlan(api);

/** A subscription that began on 1 April 2026 and whose customer's present is 16 April. */
async function subscribed() {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const terms = { customer_id: customerId, plan_id: plan.planId, collection_method: 'send_invoice' };
  const { id, line_items } = await subscribe(api, terms);
  await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
  const fee = line_items.find((item) => item.display_name === 'Base')!.id;
  return { id, clockId, customerId, fee };
}

const order = (id: string, addonId: string, more: object = {}) =>
  api<Body>('POST', '/subscriptions/addon', { subscription_id: id, addon_id: addonId, checkout, ...more });
const quantityOf = (item: string, to: string, more: object = {}) => ({
  type: 'quantity_change',
  quantity_change_params: { line_items: [{ id: item, quantity: to, ...more }] },
});
const modify = (id: string, body: object) => api<Body>('POST', `/subscriptions/${id}/modify/execute`, body);
const itemsOf = async (id: string): Promise<[string | undefined, string, string | null][]> =>
  ((await subscriptionOf(api, id)).line_items as Body[])
    .filter((item) => item.display_name === 'Base' || item.addon_association_id)
    .map((item) => [item.display_name, item.quantity, item.end_date]);
const totals = async (id: string) =>
  (await invoicesOf(api, id)).map(({ total, payment_status }: Body) => [total, payment_status]).sort();

async function refundOf(paymentId: string) {
  const read = async () => (await api<Body>('GET', `/refunds?payment_ids=${paymentId}`)).body.items;
  await expect.poll(read, { timeout: 20_000 }).toMatchObject([{ refund_status: 'SUCCEEDED', refund_reason: 'OTHER' }]);
}

test('an add-on begins when its page is paid, from the instant and with the amounts it was ordered with', async () => {
  const { id, clockId } = await subscribed();
  const addonId = await addonWith(api);
  await created(api, '/creditgrants', {
    name: 'With the add-on',
    scope: 'ADDON',
    addon_id: addonId,
    credits: '50',
    cadence: 'ONETIME',
  });
  const { status, body } = await order(id, addonId, { quantity: 3 });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    addon_status: 'pending',
    start_date: '2026-04-16T00:00:00.000Z',
    invoice: { invoice_status: 'DRAFT', source_type: 'checkout', total: '30' },
    checkout_session: { action: 'add_addon', checkout_status: 'pending', amount: '30' },
  });
  // It charges nothing yet, and cannot be detached.
  expect(await associationsOf(api, id)).toMatchObject([{ id: body.id, addon_status: 'pending' }]);
  expect((await detach(api, { addon_association_id: body.id })).status).toBe(404);
  expect(await itemsOf(id)).toEqual([['Base', '1', null]]);
  const { version } = (await subscriptionOf(api, id)) as Body;
  await api('PUT', `/subscriptions/${id}`, { metadata: { note: 'changes nothing the order is about' } });
  await payAtSandbox(gateway, body.checkout_session);
  const session = await readSession(api, body.checkout_session.id);
  expect(session).toMatchObject({
    checkout_status: 'completed',
    result: { add_addon_result: { subscription_id: id, addon_association_id: body.id } },
  });
  expect(await associationsOf(api, id)).toMatchObject([
    { id: body.id, addon_status: 'active', start_date: '2026-04-16T00:00:00.000Z', quantity: 3 },
  ]);
  expect(((await subscriptionOf(api, id)) as Body).version).toBeGreaterThan(version);
  expect(await eventsOf(api, id)).toContain('subscription.updated');
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect(await totals(id)).toEqual([
    ['30', 'PENDING'],
    ['30', 'SUCCEEDED'],
    ['90', 'PENDING'],
  ]);
  const { body: grants } = await api<Body>('GET', `/creditgrants?subscription_ids=${id}`);
  expect(grants.items).toMatchObject([{ name: 'With the add-on', start_date: '2026-04-16T00:00:00.000Z' }]);
});

test('new quantities begin when their page is paid; one session a subscription at a time', async () => {
  const { id, clockId, fee } = await subscribed();
  const opened = await modify(id, { ...quantityOf(fee, '4'), checkout });
  expect(opened.status, JSON.stringify(opened.body)).toBe(200);
  expect(opened.body).toMatchObject({
    changed_resources: {
      line_items: [],
      invoices: [{ status: 'preview', invoice: { total: '45', invoice_number: null } }],
    },
    checkout_session: { action: 'modify_subscription', amount: '45' },
  });
  expect(await itemsOf(id)).toEqual([['Base', '1', null]]);
  const other = await order(id, await addonWith(api));
  expect(other).toMatchObject({
    status: 409,
    body: { code: 'already_exists', details: { checkout_session: { id: opened.body.checkout_session.id } } },
  });
  await payAtSandbox(gateway, opened.body.checkout_session);
  expect(await readSession(api, opened.body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  expect(await itemsOf(id)).toEqual([
    ['Base', '1', '2026-04-16T00:00:00.000Z'],
    ['Base', '4', null],
  ]);
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect(await totals(id)).toEqual([
    ['120', 'PENDING'],
    ['30', 'PENDING'],
    ['45', 'SUCCEEDED'],
  ]);
});

test('an add-on as a modification is paid first too', async () => {
  const { id } = await subscribed();
  const add = { addon_id: await addonWith(api) };
  const { body } = await modify(id, { type: 'addon', addon_params: { action: 'add', add }, checkout });
  expect(body.checkout_session).toMatchObject({ action: 'modify_subscription', amount: '10' });
  await payAtSandbox(gateway, body.checkout_session);
  await readSession(api, body.checkout_session.id);
  expect(await associationsOf(api, id)).toMatchObject([{ addon_id: add.addon_id, addon_status: 'active' }]);
});

test('where nothing is to be paid at once the change is made at once, without a session', async () => {
  const { id, fee } = await subscribed();
  const less = await modify(id, { ...quantityOf(fee, '0'), checkout });
  expect(less).toMatchObject({ status: 200, body: { checkout_session: null } });
  expect(less.body.changed_resources.line_items).toHaveLength(2);
  const arrear = await addonWith(api, [{ invoice_cadence: 'ARREAR' }]);
  expect(await order(id, arrear)).toMatchObject({
    status: 200,
    body: { addon_status: 'active', invoice: null, checkout_session: null },
  });
});

test('an order that is not paid leaves nothing, and can be placed again', async () => {
  const { id, clockId, fee } = await subscribed();
  const addonId = await addonWith(api, [{}], 'onetime');
  const first = await order(id, addonId);
  await advanceTo(api, clockId, '2026-04-16T01:00:00Z');
  expect(await readSession(api, first.body.checkout_session.id)).toMatchObject({ checkout_status: 'expired' });
  const again = await order(id, addonId);
  expect(again.status, JSON.stringify(again.body)).toBe(200);
  await api('POST', `/checkout/sessions/${again.body.checkout_session.id}/cancel`);
  const quantities = await modify(id, { ...quantityOf(fee, '2'), checkout });
  await api('POST', `/checkout/sessions/${quantities.body.checkout_session.id}/cancel`);
  expect(await associationsOf(api, id)).toEqual([]);
  expect(await itemsOf(id)).toEqual([['Base', '1', null]]);
  expect(await totals(id)).toEqual([['30', 'PENDING']]);
});

test('finding A10: a conflicting command ends the session in its own transaction, and money that comes later goes back', async () => {
  const { id, clockId, fee } = await subscribed();
  const opened = await modify(id, { ...quantityOf(fee, '4'), checkout });
  const { checkout_session: session } = opened.body;
  await gateway.operator.failNext('close', 'unreachable', {
    times: 5,
    intentToken: `${session.checkout_payment_id}:1`,
  });
  expect((await modify(id, quantityOf(fee, '3'))).status).toBe(200);
  expect(await readSession(api, session.id)).toMatchObject({
    checkout_status: 'expired',
    failure_reason: 'superseded',
  });
  await payAtSandbox(gateway, session);
  await advanceTo(api, clockId, '2026-04-16T03:00:00Z');
  await refundOf(session.checkout_payment_id);
  expect((await itemsOf(id)).map(([, quantity]) => quantity)).toEqual(['1', '3']);
});

test.each([
  ['cancelling', (id: string) => api<Body>('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' })],
  ['pausing', (id: string) => api<Body>('POST', `/subscriptions/${id}/pause`, { pause_mode: 'immediate' })],
])('%s the subscription closes the page of its order', async (_how, command) => {
  const { id } = await subscribed();
  const { body } = await order(id, await addonWith(api));
  expect((await command(id)).status).toBeLessThan(300);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ failure_reason: 'superseded' });
  await expect
    .poll(async () => (await readSession(api, body.checkout_session.id)).provider_result.link_state, {
      timeout: 20_000,
    })
    .toBe('dead');
});

test('attaching the same add-on by hand ends its order; another add-on does not', async () => {
  const { id } = await subscribed();
  const [addonId, otherId] = [await addonWith(api), await addonWith(api)];
  const { body } = await order(id, addonId);
  await attach(api, id, otherId);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'pending' });
  await attach(api, id, addonId);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ failure_reason: 'superseded' });
});

test('finding A10: an order ends with the period it was placed in at the latest', async () => {
  const { id, clockId } = await subscribed();
  await advanceTo(api, clockId, '2026-04-30T23:50:00Z');
  const { body } = await order(id, await addonWith(api, [{ amount: '90000' }]));
  expect(body.checkout_session.expires_at).toBe('2026-05-01T00:00:00.000Z');
});

test('finding A10: paid after what it changes has changed: the order fails at once and its money goes back', async () => {
  const { id, clockId } = await subscribed();
  await advanceTo(api, clockId, '2026-04-30T23:50:00Z');
  const { body } = await order(id, await addonWith(api, [{ amount: '90000' }]));
  const { checkout_session: session } = body;
  const link = `${session.checkout_payment_id}:1`;
  // The bank decides over the end of the period, which is another one by then.
  await payAtSandbox(gateway, session, sandboxCardNumber('never_answers'));
  await advanceTo(api, clockId, '2026-05-01T00:10:00Z');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending' });
  await gateway.operator.confirmLink(link);
  expect(await readSession(api, session.id)).toMatchObject({
    checkout_status: 'failed',
    failure_reason: 'order_changed',
  });
  await refundOf(session.checkout_payment_id);
  expect(await associationsOf(api, id)).toEqual([]);
});

test('a draft that waits for its page is moved by nobody else', async () => {
  const { customerId } = await subscribed();
  const { body } = await api<Body>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: plan.planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    checkout,
  });
  const activated = await api<Body>('POST', `/subscriptions/${body.id}/activate`, {
    start_date: '2026-04-16T00:00:00Z',
  });
  const cancelled = await api<Body>('POST', `/subscriptions/${body.id}/cancel`, { cancellation_type: 'immediate' });
  for (const refused of [activated, cancelled]) {
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect(refused.body.message).toContain(body.checkout_session.id);
  }
});

test('a checkout that cannot be is refused, and nothing is written', async () => {
  const { id, fee } = await subscribed();
  const addonId = await addonWith(api);
  const refused: [Promise<{ status: number; body: Body }>, string][] = [
    [order(id, addonId, { override_line_items: [{ price_id: 'price_x', amount: '1' }] }), 'override_line_items'],
    [order(id, addonId, { checkout: { payment_provider: 'nobody' } }), 'payment_provider'],
    [modify(id, { type: 'tax', tax_params: { action: 'add', tax_rate_id: 'x' }, checkout }), 'checkout'],
    [modify(id, { ...quantityOf(fee, '4'), checkout, preview_digest: 'x' }), 'preview_digest'],
    [
      modify(id, {
        type: 'addon',
        addon_params: { action: 'add', add: { addon_id: addonId, checkout } },
      }),
      'addon_params.add.checkout',
    ],
  ];
  for (const [asked, field] of refused) {
    const { status, body } = await asked;
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.message).toContain(field);
  }
  await api('POST', `/subscriptions/${id}/pause`, { pause_mode: 'immediate' });
  expect(await order(id, addonId)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect((await api<Body>('GET', `/checkout/sessions?subscription_id=${id}`)).body.items).toEqual([]);
});
