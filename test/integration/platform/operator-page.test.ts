import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { poll } from '../../../dev/processes.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { lifecycleKinds } from '../../../lifecycles/kinds.ts';
import { invoiceWorkflowId } from '../../../workflows/invoice/invoice.messages.ts';
import { retry, waitingFor } from '../../../workflows/lifecycle.messages.ts';
import { paymentWorkflowId } from '../../../workflows/payment/payment.messages.ts';
import { progress, testClockWorkflowId } from '../../../workflows/platform/test-clock.messages.ts';
import { testClockIdKey } from '../../../workflows/search-attributes.ts';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import {
  advanceTo,
  clockedCustomer,
  clockStandsAt,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import { asSuperuser } from '../../support/database.ts';

// The texts that an operator reads on the pages of the Temporal UI, as the UI asks for it.
const { api, base, gateway, temporal } = await testPlatform();
const { planId } = await monthlyPlan(api);

interface Page {
  currentDetails: string;
  definition: Record<
    'queryDefinitions' | 'signalDefinitions' | 'updateDefinitions',
    { name: string; description: string }[]
  >;
}

const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
const pageOf = (workflowId: string) => handleOf(workflowId).query<Page>('__temporal_workflow_metadata');
const rows = <Row extends Record<string, unknown>>(text: string, values: unknown[]) =>
  inSqlTransaction(base.database, base.scope, (tx) => tx.rows<Row>(text, values));

async function subscribed(behaviour: 'succeeds' | 'declines' | 'requires_action') {
  const card = sandboxCardNumber(behaviour);
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  return { ...customer, ...(await subscribe(api, { customer_id: customer.customerId, plan_id: planId })) };
}

test('every message has a description, retry stands first, and nothing stands there twice', async () => {
  const { id, clockId } = await subscribed('requires_action');
  await advanceTo(api, clockId, '2026-01-01T01:00:00Z');
  const [invoice] = await invoicesOf(api, id);
  const [payment] = await rows<{ id: string }>('select id from payment where destination_id = $1', [invoice?.id]);
  const workflowIds = [
    lifecycleKinds.subscription.workflowId(id),
    lifecycleKinds.invoice.workflowId(invoice?.id ?? ''),
    lifecycleKinds.payment.workflowId(payment?.id ?? ''),
    testClockWorkflowId(clockId),
  ];
  for (const workflowId of workflowIds) {
    const { definition, currentDetails } = await pageOf(workflowId);
    expect(definition.updateDefinitions[0]?.name, workflowId).toBe('retry');
    for (const kind of ['updateDefinitions', 'signalDefinitions', 'queryDefinitions'] as const) {
      const messages = definition[kind].filter(({ name }) => !name.startsWith('__'));
      expect(
        messages.filter(({ description }) => !description),
        `${workflowId} ${kind}`,
      ).toEqual([]);
      expect(new Set(messages.map(({ name }) => name)).size).toBe(messages.length);
    }
    const entries = currentDetails.split('\n').filter((line) => line.startsWith('- ') || line.includes('next: '));
    const named = entries.flatMap((line) => line.match(/\w+ at 20\S+|20\S+ \w+ ?\w*/g) ?? []);
    const instants = named.map((entry) => entry.split(' ').toSorted().join(' ').replace(' at', ''));
    expect(new Set(instants).size, currentDetails).toBe(instants.length);
  }
});

test('the page of a parked object says why it is parked and what to press', async () => {
  const { id, clockId } = await subscribed('succeeds');
  await advanceTo(api, clockId, '2026-01-01T01:00:00Z');
  await asSuperuser(base.ownerUrl, 'alter table invoice add constraint bewitched check (false) not valid');
  await advanceTo(api, clockId, '2026-02-02T00:00:00Z');
  await asSuperuser(base.ownerUrl, 'alter table invoice drop constraint bewitched');
  const workflow = handleOf(subscriptionWorkflowId(id));
  const { currentDetails } = await pageOf(subscriptionWorkflowId(id));
  expect(currentDetails).toMatch(/^active · period .* · \*\*parked\*\* at closePeriod: .*bewitched/m);
  expect(currentDetails).toMatch(
    /^\*\*What to do:\*\* mend the cause, then send the Update `retry` of this page, or POST/m,
  );
  expect(currentDetails).toContain(`/v1/billing-run/subscription/${id}/retry`);
  expect(await workflow.query(waitingFor)).toMatchObject({
    blockedOn: 'closePeriod',
    blockedReason: expect.stringContaining('bewitched'),
  });

  await workflow.executeUpdate(retry);
  expect((await pageOf(subscriptionWorkflowId(id))).currentDetails).not.toContain('parked**');
  await advanceTo(api, clockId, '2026-02-03T00:00:00Z');
});

test('a declined payment shows its reason, on the page of its invoice and on its own', async () => {
  const declined = await subscribed('declines');
  await advanceTo(api, declined.clockId, '2026-01-01T01:00:00Z');
  const [unpaid] = await invoicesOf(api, declined.id);
  const { currentDetails } = await pageOf(invoiceWorkflowId(unpaid?.id ?? ''));
  expect(currentDetails).toMatch(/^finalized · payment \w+ · 0 retries · last charge declined: card_declined · due/m);

  const asked = await subscribed('requires_action');
  await advanceTo(api, asked.clockId, '2026-01-01T01:00:00Z');
  const [waiting] = await invoicesOf(api, asked.id);
  const text = 'select id, intent_token from payment where destination_id = $1';
  const [payment] = await rows<{ id: string; intent_token: string }>(text, [waiting?.id]);
  await gateway.operator.fail(payment?.intent_token ?? '', 'authentication_failed');
  await api('POST', `/payments/${payment?.id}/process`);
  await handleOf(paymentWorkflowId(payment?.id ?? ''))
    .signal('gatewayNotified')
    .catch(() => undefined);
  expect(await handleOf(paymentWorkflowId(payment?.id ?? '')).result()).toEqual({
    status: 'failed',
    details: 'failed: authentication_failed',
  });
  expect((await pageOf(paymentWorkflowId(payment?.id ?? ''))).currentDetails).toContain(
    'failed: authentication_failed',
  );
});

test('a test clock carries its labels, says why it is parked, and is parked no longer after a retry', async () => {
  // Nobody lives on it: workflows of others would not stand what is done to their table.
  const { id: clockId } = await created(api, '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const workflow = handleOf(testClockWorkflowId(clockId));
  await asSuperuser(base.ownerUrl, 'alter table agenda_entry rename to agenda_entry_away');
  await api('POST', `/test-clocks/${clockId}/advance`, { to: '2026-01-02T00:00:00Z' });
  const parked = await poll(async () => ((await workflow.query(progress)).blockedOn ? true : undefined), 60_000, 50);
  await asSuperuser(base.ownerUrl, 'alter table agenda_entry_away rename to agenda_entry');
  expect(parked).toBe(true);
  const { currentDetails } = await pageOf(testClockWorkflowId(clockId));
  expect(currentDetails).toMatch(
    /^Test clock \S+\n\n\*\*parked\*\* on its way to 2026-01-02T00:00:00.000Z: .*agenda_entry.*\n\n\*\*What to do:\*\* .*`retry`/,
  );
  const labels = async () => (await workflow.describe()).searchAttributes;
  expect(await labels()).toMatchObject({ ObjectStatus: ['advancing'], BlockedOn: ['advanceClock'] });
  await workflow.executeUpdate(retry);
  await clockStandsAt(api, clockId, '2026-01-02T00:00:00Z');
  const rested = await poll(
    async () => ((await labels()).ObjectStatus?.[0] === 'ready' ? labels() : undefined),
    20_000,
    50,
  );
  expect(rested).toMatchObject({
    ObjectStatus: ['ready'],
    TenantId: [base.scope.tenantId],
    EnvironmentId: [base.scope.environmentId],
    TestClockId: [clockId],
  });
  const found = await temporal.client.workflow.count(
    `WorkflowId = "${testClockWorkflowId(clockId)}" AND BlockedOn IS NOT NULL AND ExecutionStatus = "Running"`,
  );
  expect(found.count).toBe(0);
  expect((await workflow.describe()).typedSearchAttributes.get(testClockIdKey)).toBe(clockId);
});

test('a run that goes on after others says on its first line what it is, and keeps the summary in its memo', async () => {
  const { id, clockId, customerId } = await subscribed('succeeds');
  const { runId } = await handleOf(subscriptionWorkflowId(id)).describe();
  await advanceTo(api, clockId, '2026-04-01T03:00:00Z');
  expect((await handleOf(subscriptionWorkflowId(id)).describe()).runId).not.toBe(runId);
  const { currentDetails } = await pageOf(subscriptionWorkflowId(id));
  expect(currentDetails.split('\n')[0]).toBe(`subscription ${id}, customer ${customerId}`);
  const { memo } = await handleOf(subscriptionWorkflowId(id)).describe();
  expect(memo).toEqual({ summary: `Subscription ${id}, customer ${customerId}` });
});
