import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { freePort } from '../../../dev/ports.ts';
import { poll } from '../../../dev/processes.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { lifecycleWatchScheduleId } from '../../../workflows/check/lifecycle-watch.messages.ts';
import { invoiceWorkflowId } from '../../../workflows/invoice/invoice.messages.ts';
import { testClockWorkflowId } from '../../../workflows/platform/test-clock.messages.ts';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import { testApp } from '../../support/app.ts';
import { advanceTo, clockedCustomer, created, invoicesOf, monthlyPlan, subscribe } from '../../support/billing.ts';
import { crashingWorkers } from '../../support/crashing-worker.ts';
import { testDatabase } from '../../support/database.ts';
import { closedFromOutside, lookNow } from '../../support/lifecycle-watch.ts';
import { testTemporal } from '../../support/temporal.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base, temporal);
// The production worker, which registers the schedule at its start and serves its metrics.
const metricsAddress = `127.0.0.1:${await freePort()}`;
await crashingWorkers(base, temporal).startWorker('', { METRICS_ADDRESS: metricsAddress });
const { planId } = await monthlyPlan(api);

const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
const restartsOf = (objectId: string) =>
  inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ actor: string; object_type: string; detail: Record<string, string> }>(
      `select actor, object_type, detail from audit_entry where object_id = $1 and action = 'workflow restarted'`,
      [objectId],
    ),
  );

/** The restarts of a kind as the worker's /metrics tells them. */
async function countedRestarts(kind: string): Promise<number> {
  const text = await (await fetch(`http://${metricsAddress}/metrics`)).text();
  const counted = text
    .split('\n')
    .find((line) => line.startsWith('perennial_restarted_lifecycles_total{') && line.includes(`kind="${kind}"`));
  return Number(counted?.split(' ').at(-1) ?? 0);
}

test('the schedule of the production worker looks at least every 30 seconds, and one look never waits for another', async () => {
  const described = await poll(
    () =>
      temporal.client.schedule
        .getHandle(lifecycleWatchScheduleId)
        .describe()
        .catch(() => undefined),
    60_000,
  );
  expect(described?.spec.intervals).toMatchObject([{ every: 30_000 }]);
  expect(described?.policies.overlap).toBe('SKIP');
});

test('a terminated subscription and its unpaid invoice run again at the next look, audited and counted, and bill on', {
  timeout: 120_000,
}, async () => {
  const card = sandboxCardNumber('declines');
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await advanceTo(api, clockId, '2026-01-01T06:00:00Z');
  const [unpaid] = await invoicesOf(api, id);
  const workflowIds = [subscriptionWorkflowId(id), invoiceWorkflowId(unpaid?.id ?? '')] as const;
  const closed: { runId: string }[] = [];
  for (const workflowId of workflowIds) closed.push(await closedFromOutside(temporal.client, workflowId));
  await lookNow(temporal.client);

  for (const [index, workflowId] of workflowIds.entries()) {
    const { status, runId } = await handleOf(workflowId).describe();
    expect([workflowId, status.name]).toEqual([workflowId, 'RUNNING']);
    expect(runId).not.toBe(closed[index]?.runId);
  }
  const detail = (index: number) => ({
    run_id: closed[index]?.runId,
    reason: 'its workflow was closed from outside (TERMINATED) although it still waits for something',
    closed_at: expect.any(String),
  });
  expect(await restartsOf(id)).toEqual([{ actor: 'system', object_type: 'subscription', detail: detail(0) }]);
  expect(await restartsOf(unpaid?.id ?? '')).toEqual([{ actor: 'system', object_type: 'invoice', detail: detail(1) }]);
  expect(await countedRestarts('subscription')).toBe(1);
  expect(await countedRestarts('invoice')).toBe(1);

  await lookNow(temporal.client);
  expect(await restartsOf(id)).toHaveLength(1);
  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');
  expect(await invoicesOf(api, id)).toHaveLength(2);
});

test('what has ended by its row stays ended, however its workflow was closed', { timeout: 120_000 }, async () => {
  const { customerId, clockId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId, collection_method: 'send_invoice' });
  const { runId } = await closedFromOutside(temporal.client, subscriptionWorkflowId(id));
  // The command starts the workflow again by itself and ends the subscription.
  const cancelled = await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  expect(cancelled.status).toBe(200);
  await advanceTo(api, clockId, '2026-01-01T06:00:00Z');
  const { closed } = await lookNow(temporal.client);
  expect(closed).toBeGreaterThan(0);
  expect((await handleOf(subscriptionWorkflowId(id)).describe()).status.name).toBe('COMPLETED');
  expect((await handleOf(subscriptionWorkflowId(id)).describe()).runId).not.toBe(runId);
  expect(await restartsOf(id)).toEqual([]);
});

test('a test clock that was terminated on its way goes on to where it was sent', { timeout: 120_000 }, async () => {
  const clock = await created(api, '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const { customerId } = await clockedCustomer(api, { frozenTime: '', clockId: clock.id });
  await subscribe(api, { customer_id: customerId, plan_id: planId });
  await api('POST', `/test-clocks/${clock.id}/advance`, { to: '2028-01-01T00:00:00Z' });
  await closedFromOutside(temporal.client, testClockWorkflowId(clock.id));
  await lookNow(temporal.client);
  const arrived = await poll(
    async () => {
      const { body } = await api('GET', `/test-clocks/${clock.id}?wait=10`);
      return body.clock_status === 'ready' ? body : undefined;
    },
    90_000,
    100,
  );
  expect(arrived).toMatchObject({ frozen_time: '2028-01-01T00:00:00.000Z' });
  expect(await restartsOf(clock.id)).toHaveLength(1);
});
