import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { sendCommand } from '../../../api/command.ts';
import type { CancellationOrder } from '../../../billing/subscription/subscription-command.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { invoiceWorkflowId } from '../../../workflows/invoice/invoice.messages.ts';
import { cancelSubscription, subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import { payloadsOf } from '../../replay/history.ts';
import {
  clockedCustomer,
  created,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { holdLock } from '../../support/locks/held-lock.ts';

const { api, base, temporal } = await testPlatform();
const { planId } = await monthlyPlan(api);
const frozenTime = '2026-01-15T00:00:00.000Z';
const secret = 'SECRET: he moves to Utrecht';

interface Kept extends Record<string, unknown> {
  command: string;
  content: string;
}

const keptOf = (objectId: string): Promise<Kept[]> =>
  inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<Kept>('select command, content from kept_command where object_id = $1 order by created_at', [objectId]),
  );

async function subscribed(): Promise<string> {
  const { customerId } = await clockedCustomer(api, { frozenTime });
  return (await subscribe(api, { customer_id: customerId, plan_id: planId })).id;
}

/** Description of a workflow by Temporal, its payloads decoded. */
async function textsOf(workflowId: string): Promise<string> {
  const history = JSON.parse(historyToJSON(await temporal.client.workflow.getHandle(workflowId).fetchHistory()));
  return [JSON.stringify(history), ...payloadsOf(history)].join('\n');
}

/** Sends the command once more and gets no answer in time. True when a step then waits for a lock. */
async function isBeingCancelled(send: () => Promise<unknown>): Promise<boolean> {
  await expect(send()).rejects.toThrow('may still be carried out');
  return locksAreAwaited(base);
}

test('what a command asks is a row, and its history holds who asks, when, and the id of the row', async () => {
  const id = await subscribed();
  await api('POST', `/subscriptions/${id}/pause`, { reason: secret, metadata: { note: secret } });
  await api('POST', `/subscriptions/${id}/resume`, { metadata: { note: secret } });
  await api('PUT', `/subscriptions/${id}`, { metadata: { note: secret } });
  await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate', reason: secret });
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'cancelled', metadata: { note: secret } });
  const kept = await keptOf(id);
  expect(kept.map(({ command }) => command)).toEqual([
    ...['createSubscription', 'pauseSubscription', 'resumeSubscription', 'updateSubscription', 'cancelSubscription'],
  ]);
  expect(kept.at(-1)?.content).toContain(secret);
  expect(await textsOf(subscriptionWorkflowId(id))).not.toContain('SECRET');
});

test('a refusal reaches its caller in its own words and Temporal by its code, and nothing is kept', async () => {
  const { customerId } = await clockedCustomer(api, { frozenTime });
  const amounts = { subtotal: '4711.23', total: '4711.23', amount_due: '4711.23' };
  const invoice = await created(api, '/invoices', { customer_id: customerId, currency: 'usd', ...amounts });
  const lines = { type: 'line_item', line_item_params: { action: 'remove', line_item_ids: [secret] } };
  const { status, body } = await api<{ message: string }>('POST', `/invoices/${invoice.id}/modify/execute`, lines);
  expect([status, body.message]).toEqual([404, expect.stringContaining(secret)]);
  expect((await keptOf(invoice.id)).map(({ command }) => command)).toEqual(['createInvoice']);
  const texts = await textsOf(invoiceWorkflowId(invoice.id));
  expect(texts).toContain('was refused');
  expect(texts).not.toContain('SECRET');
  expect(texts).not.toContain(amounts.total);
});

test('a command without an answer in time keeps its content, and is carried out later', async () => {
  const { customerId, clockId } = await clockedCustomer(api, { frozenTime });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const sender = { server: { dependencies: base }, temporal: temporal.client, scope: base.scope, log: console };
  const object = { kind: 'subscription', id, customerId, testClockId: clockId, at: frozenTime } as const;
  const content: CancellationOrder = {
    cancellationType: 'immediate',
    cancelAt: null,
    invoicePolicy: 'skip',
    prorationBehavior: 'none',
    reason: secret,
  };
  const send = () => sendCommand(sender, object, cancelSubscription, { id: 'subs_change_late', content }, 500);
  const other = await holdLock(base, 'select from subscription where id = $1 for update', [id]);
  try {
    // On a busy machine a command may not reach its workflow in time, so it is sent again until a step waits for the row.
    await expect.poll(() => isBeingCancelled(send), { timeout: 60_000 }).toBe(true);
    expect((await keptOf(id)).map(({ command }) => command)).toEqual(['createSubscription', 'cancelSubscription']);
    expect((await subscriptionOf(api, id)).subscription_status).toBe('active');
  } finally {
    await other.end();
  }
  const statusNow = async () => (await subscriptionOf(api, id)).subscription_status;
  await expect.poll(statusNow, { timeout: 30_000 }).toBe('cancelled');
}, 120_000);
