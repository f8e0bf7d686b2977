import { expect, test } from 'vitest';
import { decimalText } from '../../../db/rows/columns.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';

const { api, base } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api, { fee: '90' });

/** A subscription that began on 1 April 2026 and whose customer's present is 11 April. */
async function subscribed(fields: object = {}) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  await advanceTo(api, clockId, '2026-04-11T00:00:00Z');
  return { id, clockId, customerId };
}

const post = (id: string, command: string, body: object = {}) => api('POST', `/subscriptions/${id}/${command}`, body);

/** What went to the customer's wallets, with the reason. */
const credited = async (customerId: string): Promise<unknown[]> =>
  inSqlTransaction(base.database, base.scope, async (tx) => {
    const rows = await tx.rows<{ amount: string; transaction_reason: string }>(
      `select t.amount, t.transaction_reason from wallet_transaction t join wallet w on w.id = t.wallet_id
       where w.customer_id = $1 order by t.created_at, t.id`,
      [customerId],
    );
    return rows.map((row) => [decimalText(row.amount), row.transaction_reason]);
  });

const totals = async (id: string) =>
  (await invoicesOf(api, id)).map(({ billing_reason, invoice_status, total }) => [
    billing_reason,
    invoice_status,
    total,
  ]);

test('a pause gives the unused part of the period to the wallet, and the resume charges its rest again', async () => {
  const { id, clockId, customerId } = await subscribed();
  await post(id, 'pause');
  expect(await credited(customerId)).toEqual([['60', 'CREDIT_ADJUSTMENT']]);
  await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
  await post(id, 'resume');
  expect(await totals(id)).toEqual([
    ['SUBSCRIPTION_CREATE', 'FINALIZED', '90'],
    ['SUBSCRIPTION_UPDATE', 'SKIPPED', '0'],
    ['SUBSCRIPTION_CYCLE', 'SKIPPED', '0'],
    ['SUBSCRIPTION_UPDATE', 'FINALIZED', '30'],
  ]);
  await advanceTo(api, clockId, '2026-04-26T00:00:00Z');
  await post(id, 'pause');
  expect(await credited(customerId)).toEqual([
    ['60', 'CREDIT_ADJUSTMENT'],
    ['15', 'CREDIT_ADJUSTMENT'],
  ]);
});

test('a resume with none after a pause that gave back waits for the next boundary', async () => {
  const { id, clockId } = await subscribed();
  await post(id, 'pause');
  await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
  await post(id, 'resume', { proration_behavior: 'none' });
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect((await totals(id)).slice(2)).toEqual([
    ['SUBSCRIPTION_CYCLE', 'SKIPPED', '0'],
    ['SUBSCRIPTION_CYCLE', 'FINALIZED', '90'],
  ]);
});

test('an immediate end with create_prorations gives back what was paid in advance, under the cap of what was charged', async () => {
  const { id, customerId } = await subscribed();
  const ended = await post(id, 'cancel', {
    cancellation_type: 'immediate',
    proration_behavior: 'create_prorations',
    cancel_immediately_invoice_policy: 'generate_invoice',
  });
  expect(ended.body).toMatchObject({
    total_credit_amount: '60',
    proration_invoice: { billing_reason: 'PRORATION', invoice_status: 'SKIPPED' },
    proration_details: [
      { original_amount: '60', credit_amount: '60', charge_amount: '0', proration_days: 20, plan_name: /Plan/ },
    ].map((detail) => ({ ...detail, plan_name: expect.stringMatching(detail.plan_name) })),
  });
  expect(await credited(customerId)).toEqual([['60', 'CREDIT_ADJUSTMENT']]);
});

test('a discounted charge gives back no more than was paid', async () => {
  const coupon = await created(api, '/coupons', {
    name: 'Half',
    type: 'percentage',
    percentage_off: '50',
    cadence: 'forever',
  });
  const { id, customerId } = await subscribed({ coupons: [coupon.id] });
  await post(id, 'cancel', { cancellation_type: 'immediate', proration_behavior: 'create_prorations' });
  expect(await credited(customerId)).toEqual([['45', 'CREDIT_ADJUSTMENT']]);
});

test('a scheduled end, a trial and the default give nothing back', async () => {
  const scheduled = await subscribed();
  await post(scheduled.id, 'cancel', {
    cancellation_type: 'scheduled_date',
    cancel_at: '2026-04-21T00:00:00Z',
    proration_behavior: 'create_prorations',
  });
  await advanceTo(api, scheduled.clockId, '2026-04-22T00:00:00Z');
  expect(await credited(scheduled.customerId)).toEqual([]);
  const trial = await subscribed({ trial_period_days: 30 });
  await post(trial.id, 'cancel', { cancellation_type: 'immediate', proration_behavior: 'create_prorations' });
  expect(await credited(trial.customerId)).toEqual([]);
  const plain = await subscribed();
  await post(plain.id, 'cancel', { cancellation_type: 'immediate' });
  expect(await credited(plain.customerId)).toEqual([]);
});

test('an end while paused gives back only what the pause kept', async () => {
  for (const [behavior, amounts] of [
    ['create_prorations', ['60']],
    ['none', ['30']],
  ] as const) {
    const { id, clockId, customerId } = await subscribed();
    await post(id, 'pause', { proration_behavior: behavior });
    await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
    await post(id, 'cancel', { cancellation_type: 'immediate', proration_behavior: 'create_prorations' });
    expect(await credited(customerId)).toEqual(amounts.map((amount) => [amount, 'CREDIT_ADJUSTMENT']));
  }
});

test('a cancellation at an earlier date gives back what an item that began after it was charged', async () => {
  const { id, clockId, customerId } = await subscribed();
  const { body } = await api<{ line_items: { id: string; display_name: string }[] }>('GET', `/subscriptions/${id}`);
  const base = body.line_items.find(({ display_name }) => display_name === 'Base') as { id: string };
  const quantity_change_params = { line_items: [{ id: base.id, quantity: '2' }] };
  await post(id, 'modify/execute', { type: 'quantity_change', quantity_change_params });
  await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
  const cancellation = { cancellation_type: 'immediate', cancel_at: '2026-04-06T00:00:00Z' };
  await post(id, 'cancel', { ...cancellation, proration_behavior: 'create_prorations' });
  // 90 and 60 were paid; five of thirty days at the old quantity are kept.
  expect((await totals(id)).map(([, , total]) => total)).toEqual(['90', '60']);
  expect(await credited(customerId)).toEqual([['135', 'CREDIT_ADJUSTMENT']]);
});
