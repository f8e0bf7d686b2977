import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { GatewayOutcomeUnknown } from '../../../../integrations/payment-gateway.ts';
import type { SandboxGateway } from '../../../../integrations/sandbox-gateway/gateway.ts';
import { retry, waitingFor } from '../../../../workflows/lifecycle.messages.ts';
import { gatewayNotified, paymentWorkflowId, refreshPayment } from '../../../../workflows/payment/payment.messages.ts';
import { testApp } from '../../../support/app.ts';
import { advanceTo, created } from '../../../support/billing.ts';
import { testDatabase } from '../../../support/database.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { invoiceToPay } from '../payment.fixture.ts';

// Invoices are made by hand, without the digest of a finalization.
const base = await testDatabase({ breaks: ['I19'] });
const temporal = await testTemporal();
const app = await testApp(base, temporal);
const { api, gateway } = app;
let saysOfCharges: 'truth' | 'nothing' | 'processing' = 'truth';
const worded: SandboxGateway = {
  ...gateway,
  charges: {
    ...gateway.charges,
    async lookUp({ intentToken }) {
      if (saysOfCharges === 'nothing') throw new GatewayOutcomeUnknown('the gateway is silent');
      const known = await gateway.lookUp(intentToken);
      if (known.status === 'not_found' || saysOfCharges === 'truth') return known;
      return { ...known, status: 'processing', actionUrl: null };
    },
  },
};
await startWorkers(base, temporal, { gateway: worded });

const start = '2026-01-31T00:00:00.000Z';

/** A payment on a test clock whose payer has to confirm. */
async function askedPayer() {
  saysOfCharges = 'truth';
  const clock = await created(api, '/test-clocks', { frozen_time: start });
  const options = { amountDue: '100', gateway, card: 'requires_action', testClockId: clock.id } as const;
  const { invoiceId, customerId } = await invoiceToPay(base, options);
  const { id } = await created(api, '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    amount: '100',
    currency: 'usd',
  });
  const workflow = temporal.client.workflow.getHandle(paymentWorkflowId(id));
  const token = `${invoiceId}:1`;
  return { clockId: clock.id, customerId, id, workflow, token };
}

const parkedOf = (id: string) =>
  inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ reason: string }>('select reason from parked_object where object_id = $1', [id]),
  );
const statusOf = async (id: string) => (await api('GET', `/payments/${id}`)).body.payment_status;
const runsOf = async (query: string) => (await temporal.client.workflow.count(query)).count;

test('a payer may take ten weeks: nobody is alarmed, one run waits, and the operator reads for whom and until when', async () => {
  const { clockId, customerId, id, workflow, token } = await askedPayer();
  const { runId } = await workflow.describe();
  await advanceTo(api, clockId, '2026-02-02T12:00:00Z');
  expect(await workflow.query(waitingFor)).toMatchObject({ status: 'processing', blockedOn: null });
  await advanceTo(api, clockId, '2026-04-11T00:00:00Z');

  expect(await workflow.query(waitingFor)).toMatchObject({
    status: 'processing',
    blockedOn: null,
    agenda: [{ kind: 'pollGateway' }],
  });
  expect(await parkedOf(id)).toEqual([]);
  const run = await api('GET', '/billing-run?at=2026-04-11T00:00:00Z');
  expect(run.body).toMatchObject({ parked: { total: 0 } });
  const { currentDetails } = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain(
    `processing · waits for its payer to confirm since ${start}; the gateway is asked after growing pauses, ` +
      'at least daily until 2026-03-02T00:00:00.000Z and ever more rarely after that · next: pollGateway at 2026-',
  );
  const { historyLength, runId: lastRun } = await workflow.describe();
  expect(lastRun).toBe(runId);
  expect(historyLength).toBeLessThan(1_000);
  expect(await runsOf(`CustomerId = "${customerId}"`)).toBe(1);
  expect(await runsOf(`CustomerId = "${customerId}" AND ExecutionStatus = "Running"`)).toBe(1);
  const calls = await gateway.operator.callsOf(token);
  expect(calls.filter((call) => call.kind === 'charge')).toHaveLength(1);
  expect(calls.length).toBeLessThan(55);

  await gateway.operator.confirm(token);
  await workflow.signal(gatewayNotified);
  await workflow.result();
  const { body } = await api('GET', `/payments/${id}`);
  expect(body).toMatchObject({ payment_status: 'SUCCEEDED', succeeded_at: '2026-04-11T00:00:00.000Z' });
});

test('without any notification the payer is found to have confirmed when the gateway is asked next', async () => {
  const { clockId, id, workflow, token } = await askedPayer();
  await advanceTo(api, clockId, '2026-02-05T00:00:00Z');
  await gateway.operator.confirm(token);
  await advanceTo(api, clockId, '2026-02-06T00:00:00Z');
  await workflow.result();
  expect(await statusOf(id)).toBe('SUCCEEDED');
});

test('a gateway that falls silent while the payer takes its time is reported after a day, and mended by retry', async () => {
  const { clockId, id, workflow, token } = await askedPayer();
  await advanceTo(api, clockId, '2026-02-05T00:00:00Z');
  saysOfCharges = 'nothing';
  await advanceTo(api, clockId, '2026-02-05T20:00:00Z');
  expect(await workflow.query(waitingFor)).toMatchObject({ blockedOn: null });
  await advanceTo(api, clockId, '2026-02-07T00:00:00Z');
  expect(await workflow.query(waitingFor)).toMatchObject({ blockedOn: 'reportUnanswered' });
  expect(await parkedOf(id)).toEqual([{ reason: 'the gateway has not answered for 24 hours' }]);

  saysOfCharges = 'truth';
  await workflow.executeUpdate(retry);
  await advanceTo(api, clockId, '2026-02-12T00:00:00Z');
  expect(await parkedOf(id)).toEqual([]);
  const { currentDetails } = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain(`waits for its payer to confirm since ${start}`);
  await gateway.operator.confirm(token);
  await workflow.signal(gatewayNotified);
  await workflow.result();
  expect(await statusOf(id)).toBe('SUCCEEDED');
});

test('once the payer has confirmed, a gateway that does not decide has a day from then', async () => {
  const { clockId, id, workflow, token } = await askedPayer();
  await advanceTo(api, clockId, '2026-02-05T00:00:00Z');
  saysOfCharges = 'processing';
  await workflow.executeUpdate(refreshPayment);
  await advanceTo(api, clockId, '2026-02-05T23:00:00Z');
  const { agenda, blockedOn } = await workflow.query(waitingFor);
  expect(blockedOn).toBeNull();
  expect(agenda).toContainEqual({ at: '2026-02-06T00:00:00.000Z', kind: 'reportUnanswered', ref: '' });
  saysOfCharges = 'truth';
  await gateway.operator.confirm(token);
  await advanceTo(api, clockId, '2026-02-06T00:00:00Z');
  await workflow.result();
  expect(await statusOf(id)).toBe('SUCCEEDED');
});
