import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { invoiceThreshold, subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  type InvoiceView,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { usageWatch } from '../../support/usage-watch.ts';

const platform = await testPlatform();
const { api, temporal } = platform;
const june = '2026-06-01T00:00:00.000Z';
const july = '2026-07-01T00:00:00.000Z';

let plans = 0;
/** A plan that charges usage alone: 1 up to 100, 0.5 above. */
async function usagePlan(plan: Record<string, unknown> = {}, price: Record<string, unknown> = {}) {
  plans += 1;
  const eventName = `metered-${plans}`;
  const { id: planId } = await created(api, '/plans', { name: `Usage ${plans}`, ...plan });
  const meter = await created(api, '/meters', {
    name: eventName,
    event_name: eventName,
    aggregation: { type: 'SUM', field: 'n' },
    reset_usage: 'BILLING_PERIOD',
  });
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: planId,
    type: 'USAGE',
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [{ up_to: 100, unit_amount: '1' }, { unit_amount: '0.5' }],
    billing_period: 'MONTHLY',
    currency: 'usd',
    invoice_cadence: 'ARREAR',
    meter_id: meter.id,
    start_date: '2020-01-01T00:00:00Z',
    ...price,
  });
  return { planId, eventName };
}

/** Lets everything that was sent be looked at. */
const watched = usageWatch(platform);

async function subscribed(plan: { planId: string }, members: Record<string, unknown> = {}) {
  const customer = await clockedCustomer(api, { frozenTime: june, card: sandboxCardNumber('succeeds') });
  const subscription = await subscribe(api, { customer_id: customer.customerId, plan_id: plan.planId, ...members });
  return { ...customer, subscriptionId: subscription.id };
}

const send = (eventName: string, externalId: string, n: number, timestamp: string) =>
  created<unknown>(api, '/events', {
    event_name: eventName,
    external_customer_id: externalId,
    timestamp,
    properties: { n },
  });

const shape = (invoice: InvoiceView | undefined) =>
  invoice && {
    reason: invoice.billing_reason,
    from: invoice.period_start,
    to: invoice.period_end,
    total: invoice.total,
    lines: invoice.line_items.map(({ quantity, amount }) => [quantity, amount]),
  };

describe('a subscription with auto_invoice_threshold', () => {
  it('invoices the usage of a period each time it reaches it, and the rest at the boundary, as one period', async () => {
    const plan = await usagePlan();
    const { subscriptionId, externalId, clockId } = await subscribed(plan, { auto_invoice_threshold: '80' });
    const at = (day: string) => `2026-06-${day}T00:00:00.000Z`;
    await advanceTo(api, clockId, at('12'));
    await send(plan.eventName, externalId, 79.99, at('05'));
    await watched();
    expect((await invoicesOf(api, subscriptionId)).filter((each) => each.billing_reason.includes('THRESHOLD'))).toEqual(
      [],
    );

    await send(plan.eventName, externalId, 10.01, at('06'));
    await watched();
    const [, first] = await invoicesOf(api, subscriptionId);
    expect(first).toMatchObject({ invoice_status: 'FINALIZED', invoice_number: expect.any(String) });
    expect(shape(first)).toEqual({
      reason: 'AUTO_INVOICE_THRESHOLD',
      from: june,
      to: at('12'),
      total: '90',
      lines: [['90', '90']],
    });
    expect(await subscriptionOf(api, subscriptionId)).toMatchObject({
      current_period_start: at('12'),
      current_period_end: july,
    });

    // Tiers go on: 250 cost 175, of which 90 are billed.
    await advanceTo(api, clockId, at('20'));
    await send(plan.eventName, externalId, 100, at('15'));
    await watched();
    expect(await invoicesOf(api, subscriptionId)).toHaveLength(2);
    await send(plan.eventName, externalId, 60, at('16'));
    await watched();
    const third = (await invoicesOf(api, subscriptionId))[2];
    expect(shape(third)).toEqual({
      reason: 'AUTO_INVOICE_THRESHOLD',
      from: at('12'),
      to: at('20'),
      total: '85',
      lines: [['160', '85']],
    });

    await send(plan.eventName, externalId, 10, at('25'));
    // It came late for the first invoice; the period counts it all the same.
    await send(plan.eventName, externalId, 2, at('02'));
    const preview = await api<InvoiceView>('POST', '/invoices/preview', { subscription_id: subscriptionId });
    expect(preview.body.line_items.map(({ amount }) => amount)).toEqual([1]);
    await advanceTo(api, clockId, '2026-07-02T00:00:00.000Z');
    const cycle = (await invoicesOf(api, subscriptionId))[3];
    expect(shape(cycle)).toEqual({
      reason: 'SUBSCRIPTION_CYCLE',
      from: at('20'),
      to: july,
      total: '6',
      lines: [['12', '6']],
    });
    expect((await invoicesOf(api, subscriptionId)).map((each) => each.payment_status)).not.toContain('PENDING');

    // The next period begins anew.
    await send(plan.eventName, externalId, 85, july);
    await watched();
    expect(shape((await invoicesOf(api, subscriptionId))[4])).toMatchObject({ from: july, total: '85' });

    const explained = await api<{ lines: { steps: { kind: string; sentence: string }[] }[] }>(
      'GET',
      `/invoices/${third?.id}/explain`,
    );
    expect(explained.body.lines[0]?.steps.at(-1)).toEqual({
      kind: 'billed_before',
      sentence: expect.stringContaining('billed 90.00 usd for 90 of it already: 85.00 usd is left'),
      amount: '85',
    });
  });

  it('takes the threshold of its plan, unless it has its own; 0 switches it off', async () => {
    const plan = await usagePlan({ auto_invoice_threshold: 50 });
    const [inherits, own, off] = [
      await subscribed(plan, { auto_invoice_threshold: '' }),
      await subscribed(plan, { auto_invoice_threshold: '70.00' }),
      await subscribed(plan, { auto_invoice_threshold: '0' }),
    ];
    for (const { externalId, clockId } of [inherits, own, off]) {
      await advanceTo(api, clockId, '2026-06-10T00:00:00.000Z');
      await send(plan.eventName, externalId, 60, '2026-06-05T00:00:00Z');
    }
    await watched();
    const invoiced = async ({ subscriptionId }: { subscriptionId: string }) =>
      (await invoicesOf(api, subscriptionId)).filter((each) => each.billing_reason === 'AUTO_INVOICE_THRESHOLD').length;
    expect([await invoiced(inherits), await invoiced(own), await invoiced(off)]).toEqual([1, 0, 0]);
    expect((await subscriptionOf(api, own.subscriptionId)) as unknown).toMatchObject({ auto_invoice_threshold: '70' });
    expect((await subscriptionOf(api, inherits.subscriptionId)) as unknown).toMatchObject({
      auto_invoice_threshold: null,
    });
  });

  it('is looked at again when its test clock moves', async () => {
    const plan = await usagePlan();
    const { subscriptionId, externalId, clockId } = await subscribed(plan, { auto_invoice_threshold: '40' });
    await send(plan.eventName, externalId, 50, '2026-06-10T00:00:00Z');
    await watched();
    expect(await invoicesOf(api, subscriptionId)).toHaveLength(1);
    await advanceTo(api, clockId, '2026-06-11T00:00:00.000Z');
    await watched();
    expect(shape((await invoicesOf(api, subscriptionId))[1])).toMatchObject({
      reason: 'AUTO_INVOICE_THRESHOLD',
      total: '50',
    });
  });

  it('is invoiced once, however often and at once it is asked for', async () => {
    const plan = await usagePlan();
    const { subscriptionId, externalId, clockId } = await subscribed(plan, { auto_invoice_threshold: '1000' });
    await advanceTo(api, clockId, '2026-06-12T00:00:00.000Z');
    await send(plan.eventName, externalId, 5000, '2026-06-10T00:00:00Z');
    const workflow = temporal.client.workflow.getHandle(subscriptionWorkflowId(subscriptionId));
    const caller = { actor: 'test', requestId: 'test' };
    const ask = () => workflow.executeUpdate(invoiceThreshold, { args: [{ caller, at: '2026-06-12T00:00:00.000Z' }] });
    await Promise.all([ask(), ask(), watched(), ask()]);
    const invoices = await invoicesOf(api, subscriptionId);
    expect(invoices.filter((each) => each.billing_reason === 'AUTO_INVOICE_THRESHOLD')).toHaveLength(1);
  });

  it('gives a voided intermediate invoice up: the boundary does not bill it again', async () => {
    const plan = await usagePlan();
    const { subscriptionId, externalId, clockId } = await subscribed(plan, {
      auto_invoice_threshold: '80',
      collection_method: 'send_invoice',
    });
    await advanceTo(api, clockId, '2026-06-12T00:00:00.000Z');
    await send(plan.eventName, externalId, 100, '2026-06-05T00:00:00Z');
    await watched();
    const [, invoice] = await invoicesOf(api, subscriptionId);
    expect((await api('POST', `/invoices/${invoice?.id}/void`, {})).status).toBe(200);
    await send(plan.eventName, externalId, 20, '2026-06-15T00:00:00Z');
    await advanceTo(api, clockId, '2026-07-02T00:00:00.000Z');
    expect(shape((await invoicesOf(api, subscriptionId)).at(-1))).toMatchObject({ total: '10', lines: [['20', '10']] });
  });
});

describe('the threshold of a creation', () => {
  it.each([
    ['below zero', '-1'],
    ['a word', 'many'],
    ['a list', [1]],
  ])('is refused when it is %s', async (_, auto_invoice_threshold) => {
    const plan = await usagePlan();
    const { customerId } = await clockedCustomer(api, { frozenTime: june });
    const body = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
    for (const [path, members] of [
      ['/subscriptions', body],
      ['/plans', { name: 'Refused' }],
    ] as const) {
      const answer = await api<{ message: string }>('POST', path, { ...members, auto_invoice_threshold });
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(answer.body.message).toContain('auto_invoice_threshold');
    }
  });

  it('is refused with a FIXED price on the plan, unless it is 0', async () => {
    const { planId } = await monthlyPlan(api);
    const { customerId } = await clockedCustomer(api, { frozenTime: june });
    const body = { customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    expect(await api('POST', '/subscriptions', { ...body, auto_invoice_threshold: '10' })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining('auto_invoice_threshold') },
    });
    expect((await api('POST', '/subscriptions', { ...body, auto_invoice_threshold: '0' })).status).toBeLessThan(300);
  });
});

it('a plan keeps its threshold, changes it, copies it, and gives it up', async () => {
  const plan = await created<{ id: string }>(api, '/plans', { name: 'Kept', auto_invoice_threshold: '12.50' });
  const of = async (id: string) =>
    (await api<{ auto_invoice_threshold: unknown }>('GET', `/plans/${id}`)).body.auto_invoice_threshold;
  expect(await of(plan.id)).toBe('12.5');
  await api('PUT', `/plans/${plan.id}`, { name: 'Kept still' });
  expect(await of(plan.id)).toBe('12.5');
  await api('PUT', `/plans/${plan.id}`, { auto_invoice_threshold: 20 });
  expect(await of(plan.id)).toBe('20');
  const copy = await created<{ id: string }>(api, `/plans/${plan.id}/clone`, {
    name: 'Copy',
    lookup_key: 'copy-of-kept',
  });
  expect(await of(copy.id)).toBe('20');
  await api('PUT', `/plans/${plan.id}`, { auto_invoice_threshold: '' });
  expect(await of(plan.id)).toBeNull();
});
