import { expect, it, test } from 'vitest';
import { reconcile } from '../../../../activities/check/reconcile.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';

const { api, base, gateway, temporal } = await testPlatform();
const plan = await monthlyPlan(api);
const from = '2026-04-01T00:00:00Z';

async function customerWith(card: SandboxBehaviour | null, count = 0) {
  return clockedCustomer(api, {
    frozenTime: from,
    ...(card === null ? {} : { card: sandboxCardNumber(card, count) }),
  });
}

const bodyFor = (customerId: string, fields: object = {}) => ({
  customer_id: customerId,
  plan_id: plan.planId,
  currency: 'usd',
  billing_period: 'MONTHLY',
  payment_behavior: 'error_if_incomplete',
  ...fields,
});

type Answer = { id: string; code: string; message: string; subscription_status: string };
const create = (customerId: string, fields: object = {}, headers: Record<string, string> = {}) =>
  api<Answer>('POST', '/subscriptions', bodyFor(customerId, fields), headers);

const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  inSqlTransaction(base.database, base.scope, (tx) => tx.rows<Row & Record<string, unknown>>(text, values));

/** Everything that a creation could leave behind for a customer. */
async function leftBehind(customerId: string): Promise<Record<string, number> | undefined> {
  const [counts] = await rows<Record<string, number>>(
    `select (select count(*)::int from subscription where customer_id = $1) as subscriptions,
       (select count(*)::int from invoice where customer_id = $1) as invoices,
       (select count(*)::int from payment where customer_id = $1) as payments,
       (select count(*)::int from kept_command where content::jsonb ->> 'customerId' = $1) as commands,
       (select count(*)::int from opening_charge where customer_id = $1 and charge_status = 'open') as charges`,
    [customerId],
  );
  return counts;
}

const nothing = { subscriptions: 0, invoices: 0, payments: 0, commands: 0, charges: 0 };
const capturesNow = async () => (await gateway.operator.captures()).length;

test('a paid creation answers an active subscription whose opening invoice is paid already', async () => {
  const { customerId } = await customerWith('succeeds');
  const captures = await capturesNow();
  const { status, body } = await create(customerId);
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({
    subscription_status: 'active',
    latest_invoice: { invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED', amount_remaining: '0', total: '30' },
  });
  expect(await capturesNow()).toBe(captures + 1);
  const [invoice] = await invoicesOf(api, body.id);
  expect(invoice!.invoice_number).not.toBeNull();
  expect(await eventsOf(api, body.id)).toEqual(['subscription.created']);
  expect((await eventsOf(api, invoice!.id)).slice(-2)).toEqual(['invoice.update.finalized', 'invoice.update.payment']);
  const payments = await api<{ items: { payment_status: string }[] }>('GET', `/payments?destination_id=${invoice!.id}`);
  expect(payments.body.items).toMatchObject([{ payment_status: 'SUCCEEDED', amount: '30' }]);
});

test('a declined card refuses the creation and leaves nothing: no record, no number, no event, no key', async () => {
  const declined = await customerWith('declines');
  const paying = await customerWith('succeeds');
  const before = (await create(paying.customerId)).body;
  const [numbered] = await invoicesOf(api, before.id);
  const refused = await create(declined.customerId, { lookup_key: 'only-once' });
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('card_declined') },
  });
  expect(await leftBehind(declined.customerId)).toEqual(nothing);

  const after = (await create(paying.customerId, { lookup_key: 'only-once' })).body;
  const [next] = await invoicesOf(api, after.id);
  const sequenceOf = (number: string | null) => Number(number!.split('-').at(-1));
  expect(sequenceOf(next!.invoice_number)).toBe(sequenceOf(numbered!.invoice_number) + 1);
  const { body } = await api<{ items: { entity_id: string; payload: object }[] }>('GET', '/outbound-events?limit=1000');
  const about = body.items.filter((event) => JSON.stringify(event.payload).includes(declined.customerId));
  expect(about.map((event) => event.entity_id)).toEqual(about.map(() => declined.customerId));
});

test('the same key answers the same subscription, and after a decline it may be tried again with a better card', async () => {
  const { customerId } = await customerWith('declines_times', 1);
  const headers = { 'idempotency-key': `paid-first-${customerId}` };
  expect((await create(customerId, {}, headers)).status).toBe(400);
  const made = await create(customerId, {}, headers);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  expect((await create(customerId, {}, headers)).body.id).toBe(made.body.id);
  expect(await leftBehind(customerId)).toEqual({ subscriptions: 1, invoices: 1, payments: 1, commands: 1, charges: 0 });
});

it('asks on when the answer is lost or late, and charges once', async () => {
  for (const [card, count] of [
    ['loses_answer', 0],
    ['answers_late', 1],
    ['answers_wrongly', 0],
    ['unreachable_times', 1],
  ] as const) {
    const { customerId } = await customerWith(card, count);
    const captures = await capturesNow();
    const { status, body } = await create(customerId);
    expect(status, `${card} ${JSON.stringify(body)}`).toBe(201);
    expect(await capturesNow(), card).toBe(captures + 1);
  }
});

it('gives up a charge that its payer would have to confirm', async () => {
  const { customerId } = await customerWith('requires_action');
  const captures = await capturesNow();
  expect(await create(customerId)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(await leftBehind(customerId)).toEqual(nothing);
  expect(await capturesNow()).toBe(captures);
});

it('refuses a customer without a payment method before any gateway is asked, and invoices sent by hand', async () => {
  const { customerId } = await customerWith(null);
  expect(await create(customerId)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(await create(customerId, { collection_method: 'send_invoice' })).toMatchObject({
    status: 400,
    body: { code: 'validation_error' },
  });
  expect(await leftBehind(customerId)).toEqual(nothing);
});

it('charges nothing for what costs nothing yet: a trial, a draft, a plan of usage alone', async () => {
  const { customerId } = await customerWith('declines');
  const free = await monthlyPlan(api, { fee: '0' });
  expect((await create(customerId, { trial_period_days: 14 })).body.subscription_status).toBe('TRIALING');
  expect((await create(customerId, { subscription_status: 'draft' })).body.subscription_status).toBe('DRAFT');
  expect((await create(customerId, { plan_id: free.planId })).body.subscription_status).toBe('active');
});

test('a draft is activated once it is paid, and stays a draft when the card declines', async () => {
  const { customerId } = await customerWith('declines_times', 1);
  const { id } = (await create(customerId, { subscription_status: 'draft' })).body;
  const activate = () => api<Answer>('POST', `/subscriptions/${id}/activate`, { start_date: from });
  expect(await activate()).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'DRAFT', version: 1 });
  expect(await invoicesOf(api, id)).toEqual([]);
  expect(await activate()).toMatchObject({ status: 200, body: { subscription_status: 'active' } });
  expect(await invoicesOf(api, id)).toMatchObject([{ payment_status: 'SUCCEEDED' }]);
  expect(await eventsOf(api, id)).toEqual(['subscription.draft.created', 'subscription.activated']);
});

test('a renewal that is declined leaves its invoice pending and the subscription active', async () => {
  const { customerId, clockId } = await customerWith('succeeds');
  const { id } = (await create(customerId)).body;
  await created(api, `/customers/${customerId}/payment-methods`, {
    gateway: 'sandbox',
    card_number: sandboxCardNumber('declines'),
    set_default: true,
  });
  await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
  expect((await invoicesOf(api, id)).map((invoice) => invoice.payment_status)).toEqual(['SUCCEEDED', 'PENDING']);
});

test('what was captured for a creation that is refused after all goes back', async () => {
  const slow = await customerWith('answers_late', 3);
  const quick = await customerWith('succeeds');
  const slowly = create(slow.customerId, { lookup_key: 'taken-meanwhile' });
  const open = () => rows(`select id from opening_charge where customer_id = $1`, [slow.customerId]);
  await expect.poll(async () => (await open()).length, { timeout: 20_000 }).toBe(1);
  expect((await create(quick.customerId, { lookup_key: 'taken-meanwhile' })).status).toBe(201);
  expect(await slowly).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  const [charge] = await rows<{ id: string; charge_status: string }>(
    `select id, charge_status from opening_charge where customer_id = $1`,
    [slow.customerId],
  );
  expect(charge?.charge_status).toBe('returned');
  const refunds = await gateway.operator.refunds();
  expect(refunds).toContainEqual(expect.objectContaining({ intentToken: `${charge!.id}:1`, amount: '30' }));
  expect(await leftBehind(slow.customerId)).toEqual(nothing);
});

test('a charge whose run was lost is taken back by reconcile, which finds it without a subscription', async () => {
  const { customerId, clockId } = await customerWith('succeeds');
  const [method] = await rows<{ id: string; gateway_token: string }>(
    'select id, gateway_token from payment_method where customer_id = $1',
    [customerId],
  );
  const charge = { id: 'pay_lost_run', subscription: 'subs_lost_run', token: 'pay_lost_run:1' };
  const { tenantId, environmentId } = base.scope;
  await rows(
    `insert into opening_charge (id, tenant_id, environment_id, subscription_id, customer_id, created_at, at, payment_method_id,
       payment_gateway, intent_token, amount, currency, test_clock_id)
     values ($1, $2, $3, $4, $5, now(), $6, $7, 'sandbox', $8, 30, 'usd', $9)`,
    [charge.id, tenantId, environmentId, charge.subscription, customerId, from, method!.id, charge.token, clockId],
  );
  await gateway.charge({
    intentToken: charge.token,
    amount: '30',
    currency: 'usd',
    paymentMethodToken: method!.gateway_token,
    description: '',
    metadata: {},
  });
  await reconcile({ database: base.database, temporal: temporal.client });
  const status = () =>
    rows<{ charge_status: string }>('select charge_status from opening_charge where id = $1', [charge.id]);
  await expect.poll(async () => (await status())[0]?.charge_status, { timeout: 20_000 }).toBe('returned');
});
