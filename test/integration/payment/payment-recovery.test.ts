import { expect, test } from 'vitest';
import type { PaymentOutcome } from '../../../billing/payment/payment.ts';
import { workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { openPayment, openPayments } from '../../../services/collection/payment.ts';
import { attendPayment } from '../../../services/payment/payment-agenda.ts';
import { recordPaymentOutcome, recordPaymentOutcomes } from '../../../services/payment/payment-outcome.ts';
import { retry, waitingFor } from '../../../workflows/lifecycle.messages.ts';
import { gatewayNotified, paymentWorkflowId } from '../../../workflows/payment/payment.messages.ts';
import { advanceTo, created } from '../../support/billing.ts';
import { invoiceToPay, paymentPlatform } from './payment.fixture.ts';

// Some outcomes below are told by the test instead of the gateway, and some payments stay open.
const { api, base, gateway, temporal } = await paymentPlatform(['I9', 'I18']);
const at = '2026-01-31T00:00:00.000Z';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const inScope = <T>(work: (tx: SqlTransaction) => Promise<T>) =>
  inSqlTransaction(base.database, workflowScope(base.scope), work);
const outcome = (status: PaymentOutcome['status'], fields: Partial<PaymentOutcome> = {}): PaymentOutcome => ({
  status,
  gatewayPaymentId: null,
  gatewayMetadata: {},
  reason: null,
  actionUrl: null,
  ...fields,
});
const open = (invoiceId: string, attempt = 1) =>
  inScope((tx) => openPayment(tx, { invoiceId, idempotencyKey: `${invoiceId}/${attempt}`, at }));
const record = (paymentId: string, said: PaymentOutcome) =>
  inScope((tx) => recordPaymentOutcome(tx, { paymentId, outcome: said, at }));
const eventsOf = async (id: string) =>
  (
    await inScope((tx) =>
      tx.rows(
        'select event_name from outbox_event where entity_id = $1 and event_name not in ($$invoice.update$$, $$invoice.update.finalized$$) order by sequence',
        [id],
      ),
    )
  ).map((row) => row.event_name);
const agendaOf = (id: string) =>
  inScope((tx) => tx.rows('select kind from agenda_entry where object_id = $1 order by kind', [id]));

async function opened(invoiceId: string): Promise<string> {
  const result = await open(invoiceId);
  if (result.kind !== 'opened') throw new Error(`not opened: ${result.kind}`);
  return result.paymentId;
}

/** A payment of a customer on a test clock that shows `at`. */
async function clockedPayment(card: 'never_answers' | 'answers_late' | 'requires_action', count?: number) {
  const clock = await created(api, '/test-clocks', { frozen_time: at });
  const options = { amountDue: '100', gateway, card, testClockId: clock.id, ...(count === undefined ? {} : { count }) };
  const { invoiceId } = await invoiceToPay(base, options);
  const payment = await created<Wire>(api, '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    amount: '100',
    currency: 'usd',
  });
  return {
    clockId: clock.id,
    payment,
    invoiceId,
    workflow: temporal.client.workflow.getHandle(paymentWorkflowId(payment.id)),
  };
}

const statusOf = async (id: string) =>
  (await inScope((tx) => tx.rows('select payment_status, succeeded_at from payment where id = $1', [id])))[0];

test('one key opens one payment, also when it is asked for concurrently', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const results = await Promise.all(Array.from({ length: 5 }, () => open(invoiceId)));
  expect(results.map((result) => result.kind).sort()).toEqual([
    'existing',
    'existing',
    'existing',
    'existing',
    'opened',
  ]);
  expect(new Set(results.map((result) => 'paymentId' in result && result.paymentId)).size).toBe(1);
});

test('what is said of a set of payments is recorded like of each alone, and answered in the order asked', async () => {
  const [good, bad, slow] = [
    await opened((await invoiceToPay(base, { amountDue: '7', gateway, card: 'succeeds' })).invoiceId),
    await opened((await invoiceToPay(base, { amountDue: '8', gateway, card: 'declines' })).invoiceId),
    await opened((await invoiceToPay(base, { amountDue: '9', gateway, card: 'answers_late' })).invoiceId),
  ];
  const said = [
    { paymentId: bad, outcome: outcome('declined', { reason: 'card_declined' }), at },
    { paymentId: good, outcome: outcome('succeeded', { gatewayPaymentId: 'charge_1' }), at },
    { paymentId: slow, outcome: outcome('processing', { gatewayPaymentId: 'charge_2' }), at },
    { paymentId: good, outcome: outcome('succeeded', { gatewayPaymentId: 'charge_1' }), at },
  ];
  const recorded = await inScope((tx) => recordPaymentOutcomes(tx, said));
  expect(
    recorded.map(({ paymentId, paymentStatus, invoicePaid, awaitsGateway }) => [
      paymentId,
      paymentStatus,
      invoicePaid,
      awaitsGateway,
    ]),
  ).toEqual([
    [bad, 'FAILED', false, false],
    [good, 'SUCCEEDED', true, false],
    [slow, 'PROCESSING', false, true],
    [good, 'SUCCEEDED', false, false],
  ]);
  const told = ['payment.created', 'payment.pending'];
  expect(await eventsOf(bad)).toEqual([...told, 'payment.failed']);
  expect(await eventsOf(good)).toEqual([...told, 'payment.success']);
  expect(await eventsOf(slow)).toEqual([...told, 'payment.updated']);
  const attempts = await inScope((tx) =>
    tx.rows(
      `select payment_id, attempt_number, payment_status, error_message, gateway_attempt_id from payment_attempt
       where payment_id = any($1) order by payment_status`,
      [[good, bad, slow]],
    ),
  );
  const failed = { payment_status: 'FAILED', error_message: 'card_declined', gateway_attempt_id: null };
  const paid = { payment_status: 'SUCCEEDED', error_message: null, gateway_attempt_id: 'charge_1' };
  expect(attempts).toEqual([
    { payment_id: bad, attempt_number: 1, ...failed },
    { payment_id: good, attempt_number: 1, ...paid },
  ]);
  const unknown = { paymentId: 'pay_none', outcome: outcome('succeeded'), at };
  await expect(inScope((tx) => recordPaymentOutcomes(tx, [said[2]!, unknown]))).rejects.toMatchObject({
    type: 'not_found',
  });
});

test('a set of payments is opened like each alone, and answered in the order asked', async () => {
  const paid = await invoiceToPay(base, { amountDue: '0', gateway, card: 'succeeds' });
  const first = await invoiceToPay(base, { amountDue: '7.5', gateway, card: 'succeeds' });
  const second = await invoiceToPay(base, { amountDue: '8', gateway, card: 'succeeds' });
  const ask = (invoiceId: string, attempt: number) => ({ invoiceId, idempotencyKey: `${invoiceId}/${attempt}`, at });
  const asked = [
    ask(second.invoiceId, 1),
    ask(paid.invoiceId, 1),
    ask(first.invoiceId, 1),
    ask(first.invoiceId, 2),
    ask(first.invoiceId, 1),
  ];
  const results = await inScope((tx) => openPayments(tx, asked));
  expect(results.map((result) => result.kind)).toEqual(['opened', 'nothing_due', 'opened', 'in_flight', 'existing']);
  const rows = await inScope((tx) =>
    tx.rows('select amount, intent_token, payment_method_id from payment where destination_id = $1', [first.invoiceId]),
  );
  const { paymentId } = results[2] as { paymentId: string };
  expect(rows).toEqual([
    { amount: '7.5', intent_token: `${first.invoiceId}:1`, payment_method_id: first.paymentMethodId },
  ]);
  expect(await eventsOf(paymentId)).toEqual(['payment.created', 'payment.pending']);
  await expect(
    inScope((tx) => openPayments(tx, [ask(second.invoiceId, 2), ask('inv_unknown', 1)])),
  ).rejects.toMatchObject({ type: 'not_found' });
});

test('while a payment waits for its gateway no other of its invoice is opened', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const paymentId = await opened(invoiceId);
  expect(await open(invoiceId, 2)).toMatchObject({ kind: 'in_flight', paymentId });
  await record(paymentId, outcome('declined', { reason: 'card_declined' }));
  expect(await open(invoiceId)).toMatchObject({ kind: 'existing', paymentStatus: 'FAILED' });
  expect(await open(invoiceId, 2)).toMatchObject({ kind: 'opened' });
});

test('nothing is opened where nothing is due, no card is saved, or the invoice is a draft', async () => {
  const kindOf = async (options: Parameters<typeof invoiceToPay>[1]) =>
    (await open((await invoiceToPay(base, options)).invoiceId)).kind;
  expect(await kindOf({ amountDue: '0', gateway, card: 'succeeds' })).toBe('nothing_due');
  expect(await kindOf({ amountDue: '100' })).toBe('no_payment_method');
  expect(await kindOf({ amountDue: '100', invoiceStatus: 'DRAFT' })).toBe('not_payable');
  await expect(open('inv_unknown')).rejects.toMatchObject({ type: 'not_found' });
});

test('an outcome is recorded once, whoever tells it and however often', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const paymentId = await opened(invoiceId);
  const said = outcome('succeeded', { gatewayPaymentId: 'ch_1' });
  const results = await Promise.all(Array.from({ length: 5 }, () => record(paymentId, said)));
  expect(results.filter((result) => result.invoicePaid).length).toBe(1);
  expect(results.every((result) => result.paymentStatus === 'SUCCEEDED' && !result.awaitsGateway)).toBe(true);
  expect(await eventsOf(paymentId)).toEqual(['payment.created', 'payment.pending', 'payment.success']);
  expect(await eventsOf(invoiceId)).toEqual(['invoice.update.payment']);
  await expect(record(paymentId, outcome('declined'))).rejects.toMatchObject({ type: 'invalid_operation' });
  expect((await record(paymentId, outcome('unknown'))).paymentStatus).toBe('SUCCEEDED');
});

test('an unknown outcome leaves the payment PROCESSING, and its agenda begins when it is attended', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const paymentId = await opened(invoiceId);
  expect(await record(paymentId, outcome('unknown'))).toMatchObject({
    paymentStatus: 'PROCESSING',
    awaitsGateway: true,
  });
  expect(await agendaOf(paymentId)).toEqual([]);
  await inScope((tx) => attendPayment(tx, paymentId, at));
  expect(await agendaOf(paymentId)).toEqual([{ kind: 'pollGateway' }, { kind: 'reportUnanswered' }]);
  await record(paymentId, outcome('succeeded'));
  expect(await agendaOf(paymentId)).toEqual([]);
});

test('a lost notification is recovered by asking again, in the time of the customer’s clock', async () => {
  const { clockId, payment, invoiceId } = await clockedPayment('answers_late', 2);
  expect(payment.payment_status).toBe('PROCESSING');
  await advanceTo(api, clockId, '2026-01-31T00:00:05.000Z');
  expect((await statusOf(payment.id))?.payment_status).toBe('PROCESSING');
  await advanceTo(api, clockId, '2026-01-31T00:01:00.000Z');
  expect(await statusOf(payment.id)).toMatchObject({
    payment_status: 'SUCCEEDED',
    succeeded_at: expect.stringContaining('00:00:10'),
  });
  expect(await eventsOf(payment.id)).toEqual([
    'payment.created',
    'payment.pending',
    'payment.updated',
    'payment.success',
  ]);
  expect(await eventsOf(invoiceId)).toEqual(['invoice.update.payment']);
  const calls = await gateway.operator.callsOf(`${payment.destination_id}:1`);
  expect(calls.map((call) => call.kind)).toEqual(['charge', 'look_up', 'look_up']);
});

test('a payment unanswered for a day is parked, not failed, and goes on when somebody asks', async () => {
  const { clockId, payment, workflow } = await clockedPayment('never_answers');
  await advanceTo(api, clockId, '2026-01-31T23:00:00.000Z');
  expect(await workflow.query(waitingFor)).toMatchObject({ status: 'processing', blockedOn: null });
  await advanceTo(api, clockId, '2026-02-02T00:00:00.000Z');
  expect(await workflow.query(waitingFor)).toMatchObject({ status: 'processing', blockedOn: 'reportUnanswered' });
  const [parked] = await inScope((tx) =>
    tx.rows('select reason from parked_object where object_id = $1', [payment.id]),
  );
  expect(parked?.reason).toContain('24 hours');
  const calls = await gateway.operator.callsOf(`${payment.destination_id}:1`);
  expect(calls.filter((call) => call.kind === 'charge').length).toBe(1);
  expect(calls.length).toBeLessThan(110);
  await gateway.operator.confirm(`${payment.destination_id}:1`);
  await workflow.executeUpdate(retry);
  await workflow.result();
  expect((await statusOf(payment.id))?.payment_status).toBe('SUCCEEDED');
  expect(await inScope((tx) => tx.rows('select 1 from parked_object where object_id = $1', [payment.id]))).toEqual([]);
});

test('a gateway that notifies is asked at once, and twice is like once', async () => {
  const { payment, workflow } = await clockedPayment('requires_action');
  await gateway.operator.confirm(`${payment.destination_id}:1`);
  for (const _ of await gateway.operator.takeNotifications())
    await workflow.signal(gatewayNotified).catch(() => undefined);
  await workflow.signal(gatewayNotified).catch(() => undefined);
  await workflow.result();
  expect((await statusOf(payment.id))?.payment_status).toBe('SUCCEEDED');
  expect(await eventsOf(payment.id)).toEqual([
    'payment.created',
    'payment.pending',
    'payment.updated',
    'payment.success',
  ]);
});
