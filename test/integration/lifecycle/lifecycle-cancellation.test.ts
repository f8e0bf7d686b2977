import { expect, test } from 'vitest';
import { scheduleLifecycleWatch } from '../../../activities/check/lifecycle-watch.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { SandboxGateway } from '../../../integrations/sandbox-gateway/gateway.ts';
import { invoiceWorkflowId } from '../../../workflows/invoice/invoice.messages.ts';
import { waitingFor } from '../../../workflows/lifecycle.messages.ts';
import { paymentWorkflowId, refreshPayment } from '../../../workflows/payment/payment.messages.ts';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import { testApp } from '../../support/app.ts';
import {
  advanceTo,
  clockedCustomer,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
} from '../../support/billing.ts';
import { testDatabase } from '../../support/database.ts';
import { closedFromOutside, lookNow } from '../../support/lifecycle-watch.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const app = await testApp(base, temporal);
const { api, gateway } = app;
const held = heldCharges(gateway);
await startWorkers(base, temporal, { gateway: held.gateway });
await scheduleLifecycleWatch(temporal.client);
const { planId } = await monthlyPlan(api);
const card = sandboxCardNumber('succeeds');

/** The gateway, whose charges of one card wait until the test lets them go. */
function heldCharges(real: SandboxGateway) {
  let holds = false;
  const letGo = Promise.withResolvers<void>();
  const arrived: string[] = [];
  const waiting: { count: number; resolve(): void }[] = [];
  const gatewayOfTest: SandboxGateway = {
    ...real,
    charges: {
      ...real.charges,
      async charge(request) {
        if (holds) {
          arrived.push(request.intentToken);
          for (const { count, resolve } of waiting) if (arrived.length >= count) resolve();
          await letGo.promise;
        }
        return real.charges.charge(request);
      },
    },
  };
  return {
    gateway: gatewayOfTest,
    hold: () => (holds = true),
    letGo: () => letGo.resolve(),
    arrived: (count: number) =>
      new Promise<readonly string[]>((resolve) => {
        const done = () => resolve(arrived);
        if (arrived.length >= count) done();
        else waiting.push({ count, resolve: done });
      }),
  };
}

const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
const detailsOf = async (workflowId: string) =>
  (await handleOf(workflowId).query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;

test('a subscription whose workflow is asked to cancel bills its next periods, and says that it goes on', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const workflow = handleOf(subscriptionWorkflowId(id));
  expect(await workflow.query(waitingFor)).toMatchObject({ cancelRequestedAt: null });
  await workflow.cancel();
  expect(await workflow.query(waitingFor)).toMatchObject({
    status: 'active',
    cancelRequestedAt: expect.stringMatching(/^20\d\d-.*Z$/),
  });
  expect(await detailsOf(subscriptionWorkflowId(id))).toMatch(
    /\*\*Not cancelled:\*\* Temporal was asked at .* It goes on.*POST \/v1\/subscriptions\/\{id\}\/cancel/,
  );
  const { runId } = await workflow.describe();

  // Half a year is more than one run holds, however its messages fall together.
  for (const month of [2, 3, 4, 5, 6, 7]) await advanceTo(api, clockId, `2026-0${month}-01T03:00:00Z`);
  expect((await invoicesOf(api, id)).map((invoice) => [invoice.billing_sequence, invoice.payment_status])).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((sequence) => [sequence, 'SUCCEEDED']),
  );
  // The clock has its answer before the run that gave it hands over to the next.
  await expect.poll(async () => (await workflow.describe()).runId, { timeout: 20_000 }).not.toBe(runId);
  expect((await workflow.describe()).status.name).toBe('RUNNING');
  expect(await detailsOf(subscriptionWorkflowId(id))).toContain('**Not cancelled:**');

  await workflow.cancel();
  const cancelled = await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  expect(cancelled.status).toBe(200);
  await workflow.result();
  expect((await workflow.describe()).status.name).toBe('COMPLETED');
});

test('on real time its timer stays set, also when it is asked twice', async () => {
  const externalId = 'in-real-time';
  const customer = await api('POST', '/customers', { external_id: externalId, name: externalId });
  const { id } = await subscribe(api, { customer_id: customer.body.id, plan_id: planId });
  const workflow = handleOf(subscriptionWorkflowId(id));
  await workflow.cancel();
  await workflow.cancel();
  expect(await workflow.query(waitingFor)).toMatchObject({ cancelRequestedAt: expect.any(String) });
  const { events } = await workflow.fetchHistory();
  const kinds = (events ?? []).map((event) => Object.keys(event).find((key) => key.endsWith('EventAttributes')));
  expect(kinds.filter((kind) => kind?.startsWith('workflowExecutionCancelRequested'))).toHaveLength(1);
  expect(kinds.filter((kind) => kind?.startsWith('timerStarted'))).toHaveLength(1);
  expect(kinds.filter((kind) => kind?.startsWith('timerCanceled'))).toEqual([]);
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'active' });
});

test('an unpaid invoice and a payment that waits for its payer are asked to cancel and go on', async () => {
  const asking = sandboxCardNumber('requires_action');
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card: asking });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await advanceTo(api, clockId, '2026-01-02T06:00:00Z');
  const [invoice] = await invoicesOf(api, id);
  const [payment] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ id: string; intent_token: string }>('select id, intent_token from payment where destination_id = $1', [
      invoice?.id,
    ]),
  );
  const workflows = [invoiceWorkflowId(invoice?.id ?? ''), paymentWorkflowId(payment?.id ?? '')];
  for (const workflowId of workflows) {
    await handleOf(workflowId).cancel();
    expect(await handleOf(workflowId).query(waitingFor)).toMatchObject({ cancelRequestedAt: expect.any(String) });
    expect(await detailsOf(workflowId)).toContain('**Not cancelled:**');
  }

  await gateway.operator.confirm(payment?.intent_token ?? '');
  await handleOf(paymentWorkflowId(payment?.id ?? '')).executeUpdate(refreshPayment);
  for (const workflowId of workflows) {
    await handleOf(workflowId).result();
    expect((await handleOf(workflowId).describe()).status.name).toBe('COMPLETED');
  }
  expect((await invoicesOf(api, id))[0]).toMatchObject({ payment_status: 'SUCCEEDED' });
});

test('one terminated while its card is being charged goes on with that charge: the money moves once', {
  timeout: 120_000,
}, async () => {
  // Not decided at once, so that the workflow asks the gateway.
  const slow = sandboxCardNumber('answers_twice');
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card: slow });
  held.hold();
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const [first] = await held.arrived(1);
  const { runId } = await closedFromOutside(temporal.client, subscriptionWorkflowId(id));
  await lookNow(temporal.client);
  await held.arrived(2);
  held.letGo();
  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');

  expect((await handleOf(subscriptionWorkflowId(id)).describe()).runId).not.toBe(runId);
  expect(await held.arrived(2)).toEqual(expect.arrayContaining([first]));
  const captures = await gateway.operator.captures();
  expect(captures.filter((capture) => capture.intentToken === first)).toHaveLength(1);
  const invoices = await invoicesOf(api, id);
  expect(invoices.map((invoice) => [invoice.payment_status, invoice.amount_paid])).toEqual([
    ['SUCCEEDED', '30'],
    ['SUCCEEDED', '30'],
  ]);
});
