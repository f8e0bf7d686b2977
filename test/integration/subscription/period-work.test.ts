import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import type { RecordedHistory } from '../../replay/history.ts';
import { advanceTo, clockedCustomer, invoicesOf, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';

const { api, temporal } = await testPlatform();
const periods = 12;

/** How often each type of event is in all runs of a subscription's workflow so far. */
async function eventsOfRuns(subscriptionId: string): Promise<Map<string, number>> {
  const { workflow } = temporal.client;
  const workflowId = subscriptionWorkflowId(subscriptionId);
  const { raw } = await workflow.getHandle(workflowId).describe();
  const types = new Map<string, number>();
  for (let runId = raw.workflowExecutionInfo?.firstRunId; runId; ) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { eventType } of (JSON.parse(historyToJSON(history)) as RecordedHistory).events) {
      const type = eventType.replace('EVENT_TYPE_', '');
      types.set(type, (types.get(type) ?? 0) + 1);
    }
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return types;
}

test('three periods that are noticed, closed, finalized and paid cost three messages, four tasks, and no activity beside them', async () => {
  const frozenTime = '2026-01-15T00:00:00.000Z';
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime, card: sandboxCardNumber('succeeds') });
  const { planId } = await monthlyPlan(api);
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  // The opening invoice, which its own activity charges, is paid before the first notice.
  await advanceTo(api, clockId, '2026-01-16T00:00:00.000Z');
  const before = await eventsOfRuns(id);
  await advanceTo(api, clockId, '2027-01-15T03:00:00.000Z');
  const after = await eventsOfRuns(id);

  expect((await invoicesOf(api, id)).map(({ payment_status }) => payment_status)).toEqual(
    Array(periods + 1).fill('SUCCEEDED'),
  );
  const costs = (type: string) => ((after.get(type) ?? 0) - (before.get(type) ?? 0)) / periods;
  const all = [...after.keys()].reduce((sum, type) => sum + costs(type), 0);
  // A task for the notice, the close, the invoice and its payment, one after the other; and the first of the run after three periods.
  // A crowded machine lets the clock tell a member once more than it has to, now and then.
  expect(costs('MARKER_RECORDED')).toBeLessThan(3.5);
  expect(costs('WORKFLOW_EXECUTION_UPDATE_COMPLETED')).toBeLessThan(1.5);
  expect(costs('WORKFLOW_TASK_COMPLETED')).toBeLessThan(1.8);
  expect(costs('WORKFLOW_EXECUTION_CONTINUED_AS_NEW')).toBeLessThan(0.6);
  expect(costs('ACTIVITY_TASK_SCHEDULED')).toBe(0);
  expect(costs('UPSERT_WORKFLOW_SEARCH_ATTRIBUTES')).toBe(0);
  expect(all).toBeLessThan(11);
});
