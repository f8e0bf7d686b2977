import { expect, test } from 'vitest';
import type { CancellationOrder } from '../../../billing/subscription/subscription-command.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { keepCommand } from '../../../services/lifecycle/kept-command.ts';
import type { KeptCommand } from '../../../workflows/lifecycle.messages.ts';
import { cancelSubscription, subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api, base, temporal } = await testPlatform();
const { planId, eventName } = await monthlyPlan(api);
const weekly = await monthlyPlan(api, { period: 'WEEKLY', fee: '7' });
const frozenTime = '2026-01-30T12:00:00.000Z';
const end = '2026-03-31T12:00:00.000Z';
const hourMs = 3_600_000;

/** There is no wallet before; it is made at the instant at which the first period is closed. */
const onRenewal = { name: 'Welcome', cadence: 'ONETIME', credits: 7, start_date: '2026-02-28T12:00:00Z' };

interface TimelineEntry {
  at: string;
  what: string;
  events: { event_type: string }[];
}

/** Everything a user sees of what time did to subscriptions, without the ids. */
async function livesOf(subscriptions: readonly string[]) {
  return Promise.all(
    subscriptions.map(async (id) => ({
      invoices: (await invoicesOf(api, id)).map((invoice) => [
        invoice.billing_sequence,
        invoice.invoice_status,
        invoice.payment_status,
        invoice.period_start,
        invoice.period_end,
        invoice.due_date,
        invoice.total_prepaid_credits_applied,
        invoice.total,
        invoice.amount_paid,
      ]),
      timeline: (await api<{ items: TimelineEntry[] }>('GET', `/subscriptions/${id}/timeline`)).body.items.map(
        ({ at, what, events }) => [at, what, events.map(({ event_type }) => event_type)],
      ),
    })),
  );
}

interface Owner {
  plans: readonly string[];
  credits?: boolean;
  grants?: readonly object[];
  card?: string;
}

/** A customer with a card and 20 calls, and the subscriptions, credits and grants he is given, on a clock of his own. */
async function customer({ plans, credits = false, grants = [], card = sandboxCardNumber('succeeds') }: Owner) {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime, card });
  if (credits) {
    const wallet = await created(api, '/wallets', { customer_id: customerId, currency: 'usd' });
    // They end between the close of the first period and the finalization of its invoice.
    const topUp = {
      credits_to_add: '5',
      transaction_reason: 'FREE_CREDIT_GRANT',
      idempotency_key: `first-${externalId}`,
    };
    await created(api, `/wallets/${wallet.id}/top-up`, { ...topUp, expiry_date_utc: '2026-02-28T12:30:00Z' });
  }
  const ids: string[] = [];
  for (const [index, plan] of plans.entries()) {
    const period = plan === planId ? 'MONTHLY' : 'WEEKLY';
    const terms = { billing_period: period, lookup_key: `${externalId}-${index}`, credit_grants: grants };
    ids.push((await subscribe(api, { customer_id: customerId, plan_id: plan, ...terms })).id);
  }
  for (let call = 0; call < 20; call += 1) {
    const timestamp = new Date(Date.parse(frozenTime) + (call + 1) * 70 * hourMs).toISOString();
    await created(api, '/events', { event_name: eventName, external_customer_id: externalId, timestamp });
  }
  return { clockId, ids };
}

test.each<[string, Owner]>([
  ['one subscription', { plans: [planId] }],
  ['two subscriptions of one customer', { plans: [planId, weekly.planId] }],
  ['a subscription that is not paid', { plans: [planId], card: sandboxCardNumber('declines') }],
  ['a subscription whose first credits come with a renewal', { plans: [planId], grants: [onRenewal] }],
  ['a subscription beside credits that end', { plans: [planId], credits: true }],
])('one long advance brings %s to where many short ones do', async (_, owner) => {
  const long = await customer(owner);
  const short = await customer(owner);
  await advanceTo(api, long.clockId, end);
  // Every stop lies between the close of a period and the finalization of its invoice, should one end that day.
  for (let at = Date.parse(frozenTime) + hourMs; at < Date.parse(end); at += 24 * hourMs) {
    await advanceTo(api, short.clockId, new Date(at).toISOString());
  }
  await advanceTo(api, short.clockId, end);
  const lives = await livesOf(long.ids);
  expect(lives[0]?.invoices.length).toBeGreaterThanOrEqual(3);
  expect(lives).toEqual(await livesOf(short.ids));
});

test('an invoice shown by an advance that ends in its last hour is still a draft', async () => {
  const { clockId, ids } = await customer({ plans: [planId] });
  await advanceTo(api, clockId, '2026-02-28T13:59:59.000Z');
  const statuses = async () => (await invoicesOf(api, ids[0] as string)).map(({ invoice_status }) => invoice_status);
  expect(await statuses()).toEqual(['FINALIZED', 'DRAFT']);
  await advanceTo(api, clockId, '2026-02-28T14:00:00.000Z');
  expect(await statuses()).toEqual(['FINALIZED', 'FINALIZED']);
});

test('what is asked at an instant the clock has left behind happens as of the time it shows', async () => {
  const { clockId, ids } = await customer({ plans: [planId] });
  const [id = ''] = ids;
  await advanceTo(api, clockId, '2026-02-27T20:00:00.000Z');
  const content: CancellationOrder = {
    cancellationType: 'immediate',
    cancelAt: null,
    invoicePolicy: 'skip',
    prorationBehavior: 'none',
    reason: '',
  };
  const kept = { id: 'late', objectType: 'subscription', objectId: id, command: cancelSubscription.name, content };
  await inSqlTransaction(base.database, base.scope, (tx) => keepCommand(tx, tx.scope, kept));
  const caller = { actor: 'test', requestId: 'test' };
  const args: [KeptCommand] = [{ caller, at: frozenTime, commandId: kept.id }];
  await temporal.client.workflow.getHandle(subscriptionWorkflowId(id)).executeUpdate(cancelSubscription, { args });
  const { subscription_status, cancelled_at } = await subscriptionOf(api, id);
  // The last thing that was due is the notice of the renewal, a day before the period ends.
  expect([subscription_status, cancelled_at]).toEqual(['cancelled', '2026-02-27T12:00:00.000Z']);
});
