import { expect, test } from 'vitest';
import { invoiceToPay, paymentPlatform } from './payment.fixture.ts';

const platform = await paymentPlatform();
const { api, base, gateway } = platform;

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const payBody = (invoiceId: string, fields: object = {}) => ({
  destination_type: 'INVOICE',
  destination_id: invoiceId,
  payment_method_type: 'CARD',
  amount: '100',
  currency: 'usd',
  ...fields,
});
const pay = (invoiceId: string, fields: object = {}, headers: Record<string, string> = {}) =>
  api<Wire>('POST', '/payments', payBody(invoiceId, fields), headers);

async function sql<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  const client = await base.database.pool.connect();
  try {
    await client.query('begin');
    await client.query(`set local perennial.environment_id = '${base.scope.environmentId}'`);
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const invoiceRow = async (id: string) =>
  (
    await sql<Wire>(
      'select payment_status, amount_paid, amount_remaining, overpaid_amount, paid_at, version from invoice where id = $1',
      id,
    )
  )[0];
const eventsOf = async (id: string) =>
  (
    await sql<{ event_name: string }>(
      'select event_name from outbox_event where entity_id = $1 and event_name not in ($$invoice.update$$, $$invoice.update.finalized$$) order by sequence',
      id,
    )
  ).map((row) => row.event_name);
const intentOf = (payment: Wire) => `${payment.destination_id}:1`;

test('an invoice is paid by the customer’s card', async () => {
  const { invoiceId, paymentMethodId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const { status, body } = await pay(invoiceId);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    payment_status: 'SUCCEEDED',
    payment_method_id: paymentMethodId,
    payment_gateway: 'sandbox',
    gateway_payment_id: expect.stringMatching(/^sandbox_charge_/),
    amount: '100',
    track_attempts: true,
    error_message: null,
    invoice_number: expect.stringMatching(/^N-/),
    succeeded_at: expect.any(String),
    attempts: [{ attempt_number: 1, payment_status: 'SUCCEEDED', payment_id: body.id }],
  });
  expect(await invoiceRow(invoiceId)).toMatchObject({
    payment_status: 'SUCCEEDED',
    amount_paid: '100',
    amount_remaining: '0',
    version: 2,
  });
  expect(await eventsOf(body.id)).toEqual(['payment.created', 'payment.pending', 'payment.success']);
  expect(await eventsOf(invoiceId)).toEqual(['invoice.update.payment']);
  const audit = await sql<{ action: string }>(
    'select action from audit_entry where object_id = $1 order by id',
    body.id,
  );
  expect(audit.map((row) => row.action)).toEqual(['created', 'processing', 'succeeded']);
  expect((await pay(invoiceId, { amount: '1' })).body).toMatchObject({ code: 'invalid_operation' });
});

test('a declined card fails its payment and leaves the invoice as it was', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'declines_times', count: 1 });
  const declined = await pay(invoiceId);
  expect(declined.body).toMatchObject({
    payment_status: 'FAILED',
    error_message: 'card_declined',
    failed_at: expect.any(String),
    attempts: [{ attempt_number: 1, payment_status: 'FAILED', error_message: 'card_declined' }],
  });
  expect(await invoiceRow(invoiceId)).toMatchObject({ payment_status: 'PENDING', amount_paid: '0', version: 1 });
  expect(await eventsOf(declined.body.id)).toEqual(['payment.created', 'payment.pending', 'payment.failed']);
  // The same request after a failure is a new payment.
  const second = await pay(invoiceId);
  expect(second.body).toMatchObject({ payment_status: 'SUCCEEDED' });
  expect(second.body.id).not.toBe(declined.body.id);
});

test('partial-then-over: money received outside a gateway pays in parts, and too much is kept as overpaid', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100' });
  const offline = (amount: string) =>
    pay(invoiceId, { payment_method_type: 'OFFLINE', amount, metadata: { slip: '7' } });
  const first = await offline('40');
  expect(first.body).toMatchObject({
    payment_status: 'SUCCEEDED',
    track_attempts: false,
    attempts: [],
    payment_gateway: null,
    metadata: { slip: '7' },
  });
  expect(await invoiceRow(invoiceId)).toMatchObject({
    payment_status: 'PENDING',
    amount_paid: '40',
    amount_remaining: '60',
    paid_at: null,
  });
  await offline('60.01');
  expect(await invoiceRow(invoiceId)).toMatchObject({
    payment_status: 'OVERPAID',
    amount_paid: '100.01',
    amount_remaining: '0',
    overpaid_amount: '0.01',
    paid_at: expect.any(String),
  });
  expect(await eventsOf(invoiceId)).toEqual(['invoice.update.payment', 'invoice.update.payment']);
});

test('a repeated request returns its payment, by its own key, by a given one and by the header', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const offline = { payment_method_type: 'OFFLINE', amount: '10' };
  const first = await pay(invoiceId, offline);
  const again = await pay(invoiceId, offline);
  expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  const named = await pay(invoiceId, { ...offline, idempotency_key: 'slip-7' });
  expect(named.body.id).not.toBe(first.body.id);
  expect(named.body.idempotency_key).toBe('slip-7');
  expect((await pay(invoiceId, { ...offline, idempotency_key: 'slip-7' })).body.id).toBe(named.body.id);
  const header = { 'idempotency-key': 'by-header' };
  const card = await pay(invoiceId, { amount: '20' }, header);
  expect((await pay(invoiceId, { amount: '20' }, header)).body).toEqual(card.body);
  expect(await invoiceRow(invoiceId)).toMatchObject({ amount_paid: '40' });
});

test('of requests that come together one charges', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const answers = await Promise.all(Array.from({ length: 4 }, () => pay(invoiceId)));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  expect(await invoiceRow(invoiceId)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100' });
  expect(await eventsOf(answers[0]!.body.id)).toEqual(['payment.created', 'payment.pending', 'payment.success']);
});

test('what cannot be paid so is refused by the first rule it breaks, and nothing is written', async () => {
  const open = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const cardless = await invoiceToPay(base, { amountDue: '100' });
  const draft = await invoiceToPay(base, { amountDue: '100', invoiceStatus: 'DRAFT' });
  const voided = await invoiceToPay(base, { amountDue: '100', invoiceStatus: 'VOIDED' });
  const cases: [string, object, number, string, string][] = [
    [open.invoiceId, { amount: '0' }, 400, 'validation_error', 'amount'],
    [open.invoiceId, { amount: 'ten' }, 400, 'validation_error', 'amount'],
    [open.invoiceId, { amount: '1.001' }, 400, 'validation_error', 'amount'],
    [open.invoiceId, { destination_type: 'ORDER' }, 400, 'validation_error', 'destination_type'],
    [open.invoiceId, { destination_type: 'CUSTOMER' }, 404, 'not_found', open.invoiceId],
    [open.invoiceId, { payment_method_type: 'CREDITS' }, 400, 'invalid_operation', 'postpaid'],
    ['inv_unknown', {}, 404, 'not_found', 'inv_unknown'],
    [voided.invoiceId, { currency: 'eur' }, 400, 'invalid_operation', 'voided'],
    [draft.invoiceId, {}, 400, 'invalid_operation', 'DRAFT'],
    [open.invoiceId, { currency: 'eur' }, 400, 'validation_error', 'currency'],
    [cardless.invoiceId, {}, 400, 'validation_error', 'payment_method_id'],
    [open.invoiceId, { payment_method_id: 'pm_unknown' }, 404, 'not_found', 'pm_unknown'],
    [
      open.invoiceId,
      { payment_method_type: 'OFFLINE', payment_method_id: 'pm_x' },
      400,
      'validation_error',
      'payment_method_id',
    ],
    [open.invoiceId, { payment_gateway: 'stripe' }, 400, 'validation_error', 'payment_gateway'],
    [open.invoiceId, { payment_method_type: 'PAYMENT_LINK' }, 400, 'validation_error', 'payment_gateway'],
    [
      open.invoiceId,
      { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'stripe' },
      400,
      'invalid_operation',
      'stripe',
    ],
    [open.invoiceId, { payment_method_type: 'ACH' }, 400, 'validation_error', 'payment_method_id'],
    [open.invoiceId, { payment_method_type: 'UPI', payment_method_id: 'x' }, 400, 'invalid_operation', 'UPI'],
    [open.invoiceId, { save_card_and_make_default: true }, 400, 'validation_error', 'save_card_and_make_default'],
  ];
  for (const [invoiceId, fields, status, code, names] of cases) {
    const { status: got, body } = await pay(invoiceId, fields);
    expect([fields, got, body.code]).toEqual([fields, status, code]);
    expect(body.message).toContain(names);
  }
  const ids = [open, cardless, draft, voided].map((one) => one.invoiceId);
  expect(await sql('select id from payment where destination_id = any($1)', ids)).toEqual([]);
});

test('a payment is processed later, listed, and deleted only while no money moved', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const pending = await pay(invoiceId, { payment_method_type: 'OFFLINE', amount: '10', process_payment: false });
  expect(pending.body.payment_status).toBe('PENDING');
  expect((await api<Wire>('DELETE', `/payments/${pending.body.id}`)).body.code).toBe('invalid_operation');
  const processed = await api<Wire>('POST', `/payments/${pending.body.id}/process`);
  expect([processed.status, processed.body.payment_status]).toEqual([200, 'SUCCEEDED']);
  expect((await api<Wire>('POST', `/payments/${pending.body.id}/process`)).body.code).toBe('invalid_operation');
  const initiated = await pay(invoiceId, { amount: '20', process_payment: false });
  expect(initiated.body.payment_status).toBe('INITIATED');
  expect((await api<Wire>('POST', `/payments/${initiated.body.id}/process`)).status).toBe(400);
  const list = await api<Wire>('GET', `/payments?destination_id=${invoiceId}&sort=created_at`);
  expect(list.body.items.map((item: Wire) => item.id)).toEqual([initiated.body.id, pending.body.id]);
  expect(list.body.pagination).toEqual({ limit: 50, offset: 50, total: 2 });
  const some = await api<Wire>('GET', `/payments?payment_ids=${pending.body.id},pay_x&payment_status=SUCCEEDED`);
  expect(some.body.items.map((item: Wire) => item.id)).toEqual([pending.body.id]);
  expect(
    (await api<Wire>('GET', `/payments?destination_type=CUSTOMER&destination_id=${invoiceId}`)).body.items,
  ).toEqual([]);
  expect((await api<Wire>('DELETE', `/payments/${initiated.body.id}`)).body).toEqual({
    message: 'payment deleted successfully',
  });
  expect((await api<Wire>('GET', `/payments/${initiated.body.id}`)).status).toBe(404);
});

test('a payment is changed by hand as far as its table allows, and the invoice follows', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'succeeds' });
  const put = (id: string, body: object) => api<Wire>('PUT', `/payments/${id}`, body);
  const { body: card } = await pay(invoiceId, { amount: '20', process_payment: false });
  expect((await put(card.id, { metadata: { slip: '7' } })).body).toMatchObject({
    metadata: { slip: '7' },
    payment_status: 'INITIATED',
  });
  expect((await put(card.id, { payment_status: 'PROCESSING' })).body.code).toBe('invalid_operation');
  expect((await put(card.id, { payment_status: 'REFUNDED' })).body.code).toBe('invalid_operation');
  expect((await put(card.id, { payment_method_id: 'pm_unknown' })).status).toBe(404);
  expect((await put(card.id, { payment_status: 'PENDING' })).body.payment_status).toBe('PENDING');
  expect((await api<Wire>('POST', `/payments/${card.id}/process`)).body.payment_status).toBe('SUCCEEDED');
  expect((await put(card.id, { payment_status: 'VOIDED' })).body.code).toBe('invalid_operation');
  expect((await put(card.id, { refunded_at: '2026-01-01T00:00:00Z' })).status).toBe(400);
  const { body: cash } = await pay(invoiceId, { payment_method_type: 'OFFLINE', amount: '80', process_payment: false });
  const received = await put(cash.id, { payment_status: 'SUCCEEDED', succeeded_at: '2026-01-05T00:00:00Z' });
  expect(received.body).toMatchObject({ payment_status: 'SUCCEEDED', succeeded_at: '2026-01-05T00:00:00.000Z' });
  expect((await put(cash.id, { payment_status: 'FAILED' })).body.code).toBe('invalid_operation');
  expect(await invoiceRow(invoiceId)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100' });
  expect((await put('pay_unknown', { metadata: {} })).status).toBe(404);
});

test('a payment that needs its payer waits, and is confirmed', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'requires_action' });
  const { body } = await pay(invoiceId);
  expect(body).toMatchObject({
    payment_status: 'PROCESSING',
    payment_url: expect.stringContaining('confirm'),
    attempts: [],
  });
  const confirmed = await api<Wire>('POST', `/payments/${body.id}/payer`, { action: 'confirm' });
  expect(confirmed.body).toMatchObject({ payment_status: 'SUCCEEDED', payment_url: null });
  expect(await eventsOf(body.id)).toEqual(['payment.created', 'payment.pending', 'payment.updated', 'payment.success']);
  expect((await api<Wire>('POST', `/payments/${body.id}/payer`, { action: 'fail' })).body.code).toBe(
    'invalid_operation',
  );
});

test('a payment that needs its payer is given up, and nothing else is', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'requires_action' });
  const { body } = await pay(invoiceId);
  const canceled = await api<Wire>('POST', `/payments/${body.id}/cancel`);
  expect(canceled.body).toMatchObject({ payment_status: 'FAILED', error_message: 'canceled' });
  expect(await gateway.lookUp(intentOf(body))).toMatchObject({ status: 'declined' });
  expect((await api<Wire>('POST', `/payments/${body.id}/cancel`)).body.code).toBe('invalid_operation');
});

test('a charge whose answer was lost is found when the payment is read, and recorded once', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'loses_answer' });
  const { body } = await pay(invoiceId);
  expect(body.payment_status).toBe('PROCESSING');
  const read = await api<Wire>('GET', `/payments/${body.id}`);
  expect(read.body).toMatchObject({ payment_status: 'SUCCEEDED', attempts: [{ attempt_number: 1 }] });
  expect(await eventsOf(body.id)).toEqual(['payment.created', 'payment.pending', 'payment.success']);
  expect((await gateway.operator.callsOf(intentOf(body))).map((call) => call.kind)).toEqual(['charge', 'look_up']);
});

test('an answer for another amount is not believed; the look-up tells', async () => {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100', gateway, card: 'answers_wrongly' });
  const { body } = await pay(invoiceId);
  expect(body.payment_status).toBe('PROCESSING');
  expect((await api<Wire>('GET', `/payments/${body.id}`)).body.payment_status).toBe('SUCCEEDED');
  expect(await invoiceRow(invoiceId)).toMatchObject({ amount_paid: '100' });
});

test('every capture is recorded, once', async () => {
  const [recorded] = await sql<{ total: string; n: string }>(
    `select sum(amount)::text as total, count(*) as n from payment where payment_status = 'SUCCEEDED' and payment_gateway = 'sandbox'`,
  );
  const captures = await gateway.operator.captures();
  expect(captures.length).toBe(Number(recorded?.n));
  expect(Number(await gateway.operator.capturedTotal('usd'))).toBe(Number(recorded?.total));
  expect(await gateway.operator.inconsistentIntents()).toEqual([]);
});
