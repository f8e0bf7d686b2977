import { expect, test } from 'vitest';
import { invoiceToPay, paymentPlatform } from '../payment/payment.fixture.ts';

const platform = await paymentPlatform();
const { api, base, gateway } = platform;

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const lineOf = async (invoiceId: string) => (await api<Wire>('GET', `/invoices/${invoiceId}`)).body.line_items[0].id;

/** An unpaid invoice of 100 usd, or one paid by a card, with a body that credits `amount` of its line. */
async function invoice(paidBy?: 'succeeds' | 'offline'): Promise<{ id: string; lineId: string; note: NoteBody }> {
  const card = paidBy === 'succeeds' ? { gateway, card: 'succeeds' as const } : {};
  const { invoiceId: id } = await invoiceToPay(base, { amountDue: '100', ...card });
  if (paidBy) {
    const method = { payment_method_type: paidBy === 'succeeds' ? 'CARD' : 'OFFLINE', amount: '100', currency: 'usd' };
    const paid = await api<Wire>('POST', '/payments', { destination_type: 'INVOICE', destination_id: id, ...method });
    expect(paid.body.payment_status).toBe('SUCCEEDED');
  }
  const lineId = await lineOf(id);
  const note: NoteBody = (amount, fields = {}) => ({
    invoice_id: id,
    reason: 'SERVICE_ISSUE',
    line_items: [{ invoice_line_item_id: lineId, amount }],
    ...fields,
  });
  return { id, lineId, note };
}
type NoteBody = (amount: string, fields?: object) => object;

const make = (body: object) => api<Wire>('POST', '/creditnotes', body);
const invoiceOf = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;
const eventsOf = async (id: string) => {
  const client = await base.database.pool.connect();
  try {
    await client.query(`begin; set local perennial.environment_id = '${base.scope.environmentId}'`);
    const { rows } = await client.query<{ event_name: string }>(
      'select event_name from outbox_event where entity_id = $1 order by sequence',
      [id],
    );
    return rows.map((row) => row.event_name);
  } finally {
    await client.query('rollback');
    client.release();
  }
};

test('an unpaid invoice is adjusted: less is due, and nothing remaining settles it', async () => {
  const { id, lineId, note } = await invoice();
  const { status, body } = await make(note('30', { memo: 'Outage', metadata: { ticket: '7' } }));
  expect(status).toBe(201);
  expect(body).toMatchObject({
    credit_note_number: expect.stringMatching(/^CN-\d{9}$/),
    credit_note_status: 'FINALIZED',
    credit_note_type: 'ADJUSTMENT',
    invoice_id: id,
    invoice: { id, adjustment_amount: '30' },
    customer: { id: body.customer_id },
    subscription: null,
    currency: 'usd',
    memo: 'Outage',
    metadata: { ticket: '7' },
    refund_status: null,
    total_amount: '30',
    finalized_at: expect.any(String),
    voided_at: null,
    line_items: [{ invoice_line_item_id: lineId, display_name: 'Work', amount: '30', credit_note_id: body.id }],
  });
  expect(await eventsOf(body.id)).toEqual(['credit_note.created', 'credit_note.updated']);
  expect(await invoiceOf(id)).toMatchObject({ amount_due: '70', amount_remaining: '70', payment_status: 'PENDING' });
  await make(note('70'));
  expect(await invoiceOf(id)).toMatchObject({
    total: '100',
    adjustment_amount: '100',
    amount_due: '0',
    amount_remaining: '0',
    payment_status: 'SUCCEEDED',
    paid_at: expect.any(String),
  });
  expect((await eventsOf(id)).slice(-3)).toEqual(['invoice.update', 'invoice.update', 'invoice.update.payment']);
});

test('a draft changes nothing until it is finalized, and then its limits are checked again', async () => {
  const { id, note } = await invoice();
  const draft = await make(note('60', { process_credit_note: false }));
  expect(draft.body).toMatchObject({ credit_note_status: 'DRAFT', finalized_at: null });
  expect(await eventsOf(draft.body.id)).toEqual(['credit_note.created']);
  expect((await invoiceOf(id)).amount_due).toBe('100');
  // Its lines are taken all the same: 60 and 41 are more than the line.
  expect((await make(note('41'))).body.message).toContain('the 40 that invoice line');
  const done = await api<Wire>('POST', `/creditnotes/${draft.body.id}/finalize`);
  expect([done.status, done.body.credit_note_status]).toEqual([200, 'FINALIZED']);
  expect((await invoiceOf(id)).amount_due).toBe('40');
  const again = await api<Wire>('POST', `/creditnotes/${draft.body.id}/finalize`);
  expect([again.status, again.body.code]).toEqual([400, 'validation_error']);
});

test('a draft whose invoice was paid meanwhile is refused, because it would be of another type', async () => {
  const { id, note } = await invoice();
  const { body: draft } = await make(note('10', { process_credit_note: false }));
  await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: id,
    payment_method_type: 'OFFLINE',
    amount: '100',
    currency: 'usd',
  });
  const { status, body } = await api<Wire>('POST', `/creditnotes/${draft.id}/finalize`);
  expect([status, body.code]).toEqual([400, 'validation_error']);
  expect(body.message).toContain('takes REFUND');
});

test('a voided adjustment makes its invoice due again, and frees its key', async () => {
  const { id, note } = await invoice();
  const { body } = await make(note('100'));
  expect((await invoiceOf(id)).payment_status).toBe('SUCCEEDED');
  const voided = await api<Wire>('POST', `/creditnotes/${body.id}/void`);
  expect(voided.body).toMatchObject({ credit_note_status: 'VOIDED', voided_at: expect.any(String) });
  expect(await invoiceOf(id)).toMatchObject({
    adjustment_amount: '0',
    amount_due: '100',
    amount_remaining: '100',
    payment_status: 'PENDING',
    paid_at: null,
  });
  const again = await api<Wire>('POST', `/creditnotes/${body.id}/void`);
  expect([again.status, again.body.code]).toEqual([400, 'validation_error']);
  expect((await make(note('100'))).status).toBe(201);
});

test('money of a paid invoice goes back through the gateway it came by', async () => {
  const { id, note } = await invoice('succeeds');
  const { status, body } = await make(note('30', { refund_target: 'BACK_TO_SOURCE' }));
  expect(status).toBe(201);
  expect(body).toMatchObject({ credit_note_type: 'REFUND', total_amount: '30' });
  expect(await invoiceOf(id)).toMatchObject({
    refunded_amount: '30',
    amount_paid: '100',
    amount_due: '100',
    amount_remaining: '0',
    payment_status: 'PARTIALLY_REFUNDED',
  });
  const refund = await settled(body.id);
  expect(refund).toMatchObject({
    refund_status: 'SUCCEEDED',
    refund_destination: 'GATEWAY',
    refund_target: 'BACK_TO_SOURCE',
    refund_reason: 'SERVICE_ISSUE',
    payment_gateway: 'sandbox',
    gateway_refund_id: expect.stringMatching(/^sandbox_refund_/),
    amount: '30',
    settled_amount: '30',
    attempt: 0,
  });
  expect(await eventsOf(refund.id)).toEqual(['refund.created', 'refund.succeeded']);
  const payment = (await api<Wire>('GET', `/payments/${refund.payment_id}`)).body;
  expect(payment).toMatchObject({ payment_status: 'PARTIALLY_REFUNDED', refunded_at: expect.any(String) });
  expect((await api<Wire>('GET', `/creditnotes/${body.id}`)).body.refund_status).toBe('SUCCEEDED');
  await settled((await make(note('70', { refund_target: 'BACK_TO_SOURCE' }))).body.id);
  expect((await invoiceOf(id)).payment_status).toBe('REFUNDED');
  expect((await api<Wire>('GET', `/payments/${refund.payment_id}`)).body.payment_status).toBe('REFUNDED');
  const more = await make(note('1'));
  expect([more.status, more.body.code]).toEqual([400, 'validation_error']);
  const voided = await api<Wire>('POST', `/creditnotes/${body.id}/void`);
  expect([voided.status, voided.body.code]).toEqual([400, 'validation_error']);
});

async function settled(creditNoteId: string): Promise<Wire> {
  return expect
    .poll(() => refundOf(creditNoteId), { timeout: 20_000 })
    .toMatchObject({ refund_status: 'SUCCEEDED' })
    .then(() => refundOf(creditNoteId));
}
async function refundOf(creditNoteId: string): Promise<Wire> {
  return (await api<Wire>('GET', `/refunds?credit_note_id=${creditNoteId}`)).body.items[0];
}

test('what is refused names the field and writes nothing', async () => {
  const { id, lineId, note } = await invoice();
  const other = await invoice();
  const refusals: [string, object, number, string, string][] = [
    ['an unknown invoice', { ...note('1'), invoice_id: 'inv_none' }, 404, 'not_found', 'invoice'],
    [
      'a line of another invoice',
      note('1', { line_items: [{ invoice_line_item_id: other.lineId, amount: '1' }] }),
      400,
      'validation_error',
      'line_items[0]',
    ],
    ['more than the line', note('100.01'), 400, 'validation_error', 'line_items[0].amount'],
    [
      'two lines above the one',
      note('1', { line_items: [60, 41].map((amount) => ({ invoice_line_item_id: lineId, amount })) }),
      400,
      'validation_error',
      'line_items[1].amount',
    ],
    ['finer than the currency', note('1.001'), 400, 'validation_error', 'line_items[0].amount'],
    ['zero', note('0'), 400, 'validation_error', 'line_items'],
    ['no line', note('1', { line_items: [] }), 400, 'validation_error', 'line_items'],
    ['an unknown reason', note('1', { reason: 'MOOD' }), 400, 'validation_error', 'reason'],
    ['an unknown target', note('1', { refund_target: 'CASH' }), 400, 'validation_error', 'refund_target'],
  ];
  for (const [name, body, status, code, names] of refusals) {
    const answer = await make(body);
    expect([name, answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([name, status, code]);
    expect(JSON.stringify(answer.body), name).toContain(names);
  }
  expect((await api<Wire>('GET', `/creditnotes?invoice_id=${id}`)).body.pagination.total).toBe(0);
  const draft = await invoiceToPay(base, { amountDue: '100', invoiceStatus: 'DRAFT' });
  const onDraft = await make({ ...note('1'), invoice_id: draft.invoiceId });
  expect([onDraft.status, onDraft.body.code]).toEqual([400, 'validation_error']);
});

test('the same note twice, and a number twice, are refused by name', async () => {
  const { note } = await invoice();
  const first = await make(note('10', { credit_note_number: 'CN-1' }));
  const again = await make(note('10'));
  expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
  expect(again.body.message).toContain(first.body.id);
  const number = await make(note('11', { credit_note_number: 'CN-1' }));
  expect([number.status, number.body.code]).toEqual([409, 'already_exists']);
  expect((await make(note('10', { idempotency_key: 'mine' }))).status).toBe(201);
  expect((await make(note('12', { idempotency_key: 'mine' }))).status).toBe(409);
});

test('notes are numbered in one series by month, without a gap, and pass over a number that a caller gave', async () => {
  const { note } = await invoice();
  const first = (await make(note('1'))).body.credit_note_number;
  const later = (places: number) => `${first.slice(0, 7)}${String(Number(first.slice(7)) + places).padStart(5, '0')}`;
  expect((await make(note('2', { process_credit_note: false }))).body.credit_note_number).toBe(later(1));
  expect((await make(note('3', { credit_note_number: later(3) }))).status).toBe(201);
  expect((await make(note('1000'))).status).toBe(400);
  expect((await make(note('4'))).body.credit_note_number).toBe(later(2));
  expect((await make(note('5'))).body.credit_note_number).toBe(later(4));
  const others = await Promise.all([invoice(), invoice(), invoice()]);
  const atOnce = await Promise.all(others.map((other) => make(other.note('6'))));
  expect(atOnce.map(({ body }) => body.credit_note_number).sort()).toEqual([later(5), later(6), later(7)]);
});

test('a finalized note is a PDF of its number; a draft and a void one have none', async () => {
  const { note } = await invoice();
  const { body: draft } = await make(note('10', { process_credit_note: false }));
  const pdf = (id: string) => api<Wire>('GET', `/creditnotes/${id}/pdf`);
  expect(await pdf(draft.id)).toMatchObject({ status: 400, body: { message: expect.stringContaining('has no PDF') } });
  await api('POST', `/creditnotes/${draft.id}/finalize`, {});
  const headers = { 'x-api-key': base.apiKey };
  const answer = await platform.app.inject({ method: 'GET', url: `/v1/creditnotes/${draft.id}/pdf`, headers });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/pdf']);
  expect(answer.headers['content-disposition']).toBe(`inline; filename="${draft.credit_note_number}.pdf"`);
  expect(answer.rawPayload.toString('latin1', 0, 5)).toBe('%PDF-');
  await api('POST', `/creditnotes/${draft.id}/void`, {});
  expect((await pdf(draft.id)).body.message).toContain('it takes nothing off any more');
  expect((await pdf('cn_none')).status).toBe(404);
});

test('two notes at once for the same rest: one is made', async () => {
  const { id, note } = await invoice();
  const answers = await Promise.all([make(note('80')), make(note('90'))]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  expect(['20', '10']).toContain((await invoiceOf(id)).amount_due);
});

test('credit notes are listed by invoice, status and type, with what expand names', async () => {
  const { id, note } = await invoice();
  const one = await make(note('10'));
  const two = await make(note('20', { process_credit_note: false }));
  const list = async (query: string) => (await api<Wire>('GET', `/creditnotes?invoice_id=${id}${query}`)).body;
  expect((await list('')).items.map((item: Wire) => item.id).sort()).toEqual([one.body.id, two.body.id].sort());
  expect((await list('&credit_note_status=DRAFT')).items.map((item: Wire) => item.id)).toEqual([two.body.id]);
  expect((await list('&credit_note_type=REFUND')).items).toEqual([]);
  const [expanded] = (await list('&credit_note_status=DRAFT&expand=invoice')).items;
  expect([expanded.invoice.id, expanded.customer]).toEqual([id, null]);
  expect((await api<Wire>('GET', '/creditnotes/cn_none')).status).toBe(404);
});
