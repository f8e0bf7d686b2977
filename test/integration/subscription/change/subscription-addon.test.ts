import { randomUUID } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
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

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

/** A subscription that began on 1 April 2026 and whose customer's present is `now`. */
async function subscribed(now = '2026-04-16T00:00:00Z', fields: object = {}) {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  if (now > '2026-04-01T00:00:00Z') await advanceTo(api, clockId, now);
  return { id, clockId, customerId, externalId };
}

const totals = async (id: string) =>
  (await invoicesOf(api, id)).map(({ billing_reason, total }) => [billing_reason, total]);

test('attached in mid-period it bills the rest of the period at once, and whole periods from the next boundary on', async () => {
  const { id, clockId } = await subscribed();
  const addon = await addonWith(api, [
    {},
    { type: 'FIXED', invoice_cadence: 'ARREAR', amount: '10', display_name: 'Support' },
  ]);
  const metadata = { seats: [1, 2], by: null };
  const attached = await attach(api, id, addon, { quantity: 3, metadata });
  expect(attached).toMatchObject({
    id: expect.stringMatching(/^addon_assoc_/),
    addon_id: addon,
    entity_type: 'subscription',
    entity_id: id,
    addon_status: 'active',
    cadence: 'recurring',
    quantity: 3,
    start_date: '2026-04-16T00:00:00.000Z',
    end_date: null,
    cancelled_at: null,
    cancellation_reason: null,
    metadata,
    addon: { id: addon, prices: null },
    subscription: { id, version: 2 },
    invoice: {
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      billing_reason: 'SUBSCRIPTION_UPDATE',
      total: '30',
      period_start: '2026-04-16T00:00:00.000Z',
      period_end: '2026-05-01T00:00:00.000Z',
      due_date: '2026-04-17T00:00:00.000Z',
    },
    checkout_session: null,
  });
  const [line] = (await api<Invoice>('GET', `/invoices/${attached.invoice?.id}`)).body.line_items;
  expect(line).toMatchObject({
    amount: '30',
    quantity: '3',
    entity_type: 'addon',
    entity_id: addon,
    metadata: { is_prorated: 'true' },
  });
  expect(await associationsOf(api, id)).toMatchObject([
    { id: attached.id, addon: { id: addon }, subscription: { id } },
  ]);
  const { line_items } = await subscriptionOf(api, id);
  const own = line_items.filter((item) => 'addon_association_id' in item && item.addon_association_id === attached.id);
  expect(own).toMatchObject([
    { entity_type: 'addon', entity_id: addon, quantity: '3', end_date: null },
    { entity_type: 'addon', entity_id: addon, quantity: '3', display_name: 'Support' },
  ]);
  await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
  expect(await totals(id)).toEqual([
    ['SUBSCRIPTION_CREATE', '30'],
    ['SUBSCRIPTION_UPDATE', '30'],
    ['SUBSCRIPTION_CYCLE', '105'],
    ['SUBSCRIPTION_CYCLE', '120'],
  ]);
  expect((await invoicesOf(api, id)).every((invoice) => invoice.payment_status === 'SUCCEEDED')).toBe(true);
  expect((await eventsOf(api, id)).filter((name) => name === 'subscription.updated')).toHaveLength(1);
});

interface Invoice {
  line_items: object[];
}

test('with none it is first charged at the next boundary, but one-time charges and longer periods are not lost', async () => {
  const { id, clockId } = await subscribed();
  const setup = { billing_period: 'ONETIME', amount: '7' };
  const annual = { billing_period: 'ANNUAL', amount: '100' };
  const attached = await attach(api, id, await addonWith(api, [{}, setup, annual]), { proration_behavior: 'none' });
  expect(attached.invoice).toMatchObject({ total: '100' });
  await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
  expect(await totals(id)).toEqual([
    ['SUBSCRIPTION_CREATE', '30'],
    ['SUBSCRIPTION_UPDATE', '100'],
    ['SUBSCRIPTION_CYCLE', '57'],
    ['SUBSCRIPTION_CYCLE', '50'],
  ]);
});

test('two attachments of one instant are two, each with its own charges', async () => {
  const { id } = await subscribed();
  const addon = await addonWith(api);
  await attach(api, id, addon);
  await attach(api, id, addon);
  expect(await associationsOf(api, id)).toHaveLength(2);
  expect(await totals(id)).toEqual([
    ['SUBSCRIPTION_CREATE', '30'],
    ['SUBSCRIPTION_UPDATE', '10'],
    ['SUBSCRIPTION_UPDATE', '10'],
  ]);
});

test('a onetime attachment is charged once, in full, and ends with its period', async () => {
  const { id, clockId } = await subscribed();
  const addon = await addonWith(api);
  const attached = await attach(api, id, addon, { cadence: 'onetime' });
  expect(attached).toMatchObject({ end_date: '2026-05-01T00:00:00.000Z', invoice: { total: '20' } });
  await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
  expect(await totals(id)).toEqual([
    ['SUBSCRIPTION_CREATE', '30'],
    ['SUBSCRIPTION_UPDATE', '20'],
    ['SUBSCRIPTION_CYCLE', '30'],
    ['SUBSCRIPTION_CYCLE', '30'],
  ]);
  expect(await associationsOf(api, id)).toEqual([]);
  expect((await api('DELETE', `/addons/${addon}`)).status).toBe(200);
});

test('usage of an attachment is metered from its start and billed in arrear', async () => {
  const { id, clockId, externalId } = await subscribed();
  const addon = await addonWith(api, [
    { type: 'USAGE', invoice_cadence: 'ARREAR', amount: '1', meter_id: plan.meterId, display_name: 'Extra' },
  ]);
  const send = (timestamp: string) =>
    created(api, '/events', {
      event_name: plan.eventName,
      external_customer_id: externalId,
      event_id: randomUUID(),
      timestamp,
    });
  await attach(api, id, addon);
  await send('2026-04-10T00:00:00Z');
  await send('2026-04-20T00:00:00Z');
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '31.2']);
});

test('a subscription is created with add-ons, and its opening invoice has them', async () => {
  const addon = await addonWith(api);
  const once = await addonWith(api, [{ amount: '5' }]);
  const { id, clockId } = await subscribed('2026-04-01T00:00:00Z', {
    addons: [
      { addon_id: addon, quantity: 2 },
      { addon_id: once, cadence: 'onetime' },
      { addon_id: addon, start_date: '2026-04-16T00:00:00Z' },
    ],
  });
  expect(await associationsOf(api, id)).toMatchObject([
    { addon_id: addon, quantity: 2, start_date: '2026-04-01T00:00:00.000Z' },
    { addon_id: once, end_date: '2026-05-01T00:00:00.000Z' },
    { addon_id: addon, start_date: '2026-04-16T00:00:00.000Z' },
  ]);
  expect(await totals(id)).toEqual([['SUBSCRIPTION_CREATE', '85']]);
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '90']);
});

describe('detaching', () => {
  it('ends the attachment and its charges with the period, and frees the add-on for archiving', async () => {
    const { id, clockId } = await subscribed();
    const addon = await addonWith(api);
    const attached = await attach(api, id, addon);
    const answer = await detach(api, { addon_association_id: attached.id, reason: 'too many seats' });
    expect(answer).toMatchObject({ status: 200, body: { message: expect.stringContaining('2026-05-01') } });
    expect(await associationsOf(api, id)).toMatchObject([
      {
        addon_status: 'active',
        end_date: '2026-05-01T00:00:00.000Z',
        cancelled_at: '2026-04-16T00:00:00.000Z',
        cancellation_reason: 'too many seats',
      },
    ]);
    const guarded = await api<{ code: string; message: string }>('DELETE', `/addons/${addon}`);
    expect(guarded).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(guarded.body.message).toContain(id);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await associationsOf(api, id)).toEqual([]);
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '30']);
    expect((await api('DELETE', `/addons/${addon}`)).status).toBe(200);
  });

  it('at once gives what was paid for the time after it back to the prepaid wallet', async () => {
    const { id, clockId } = await subscribed();
    const attached = await attach(api, id, await addonWith(api));
    const at = { effective_date: '2026-04-16T00:00:00Z', proration_behavior: 'create_prorations' };
    expect((await detach(api, { addon_association_id: attached.id, ...at })).status).toBe(200);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '30']);
  });

  it('at once keeps what was paid with none', async () => {
    const { id, clockId } = await subscribed();
    const attached = await attach(api, id, await addonWith(api));
    const now = { addon_association_id: attached.id, effective_date: '2026-04-16T00:00:00Z' };
    expect((await detach(api, { ...now, proration_behavior: 'none' })).status).toBe(200);
    expect(await associationsOf(api, id)).toEqual([]);
    expect(await detach(api, { ...now, proration_behavior: 'none' })).toMatchObject({ status: 400 });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '10'],
      ['SUBSCRIPTION_CYCLE', '30'],
    ]);
  });

  it('bills what is due in arrear up to the end', async () => {
    const { id, clockId } = await subscribed();
    const attached = await attach(api, id, await addonWith(api, [{ invoice_cadence: 'ARREAR', amount: '30' }]));
    await advanceTo(api, clockId, '2026-04-22T00:00:00Z');
    const at = { effective_date: '2026-04-25T00:00:00Z', proration_behavior: 'create_prorations' };
    expect((await detach(api, { addon_association_id: attached.id, ...at })).status).toBe(200);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '39']);
  });

  it.each([
    ['an unknown attachment', { addon_association_id: 'addon_assoc_none' }, 404, 'addon_assoc_none'],
    ['no attachment', {}, 400, 'addon_association_id'],
    ['a date that has passed', { effective_date: '2026-04-15T00:00:00Z' }, 400, 'effective_date'],
    ['a date after the period', { effective_date: '2026-05-01T00:00:00.001Z' }, 400, 'effective_date'],
  ])('refuses %s', async (name, fields, status, word) => {
    const { id } = await subscribed();
    const { id: association } = await attach(api, id, await addonWith(api));
    const own = name.startsWith('a date') ? { addon_association_id: association } : {};
    const answer = await detach(api, { ...own, ...fields });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
    expect(await associationsOf(api, id)).toMatchObject([{ cancelled_at: null, end_date: null }]);
  });
});
