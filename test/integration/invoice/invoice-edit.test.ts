import { describe, expect, it } from 'vitest';
import { advanceTo, created, eventsOf, subscriptionOf, testPlatform } from '../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';
import { goodwill, invoiceEdits } from './invoice-edit.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const { read, edit, oneOff } = invoiceEdits(api);

async function finalized(customer: Awaited<ReturnType<typeof billedCustomer>>): Promise<Wire> {
  const draft = await firstDraft(api, customer);
  expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
  return read(draft.id);
}

describe('POST /invoices/{id}/compute', () => {
  it('bills what was used since, and keeps the lines and their ids', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    await countCalls(api, customer, 5, '2026-02-10T00:00:00Z');
    const { status, body } = await api<Wire>('POST', `/invoices/${draft.id}/compute`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ skipped: false, invoice: { id: draft.id, total: '30.5', invoice_status: 'DRAFT' } });
    const ids = (lines: Wire[]) => lines.map((line) => line.id);
    expect(ids(body.invoice.line_items)).toEqual(ids(draft.line_items));
    const again = await api<Wire>('POST', `/invoices/${draft.id}/compute`);
    expect(again.body.invoice).toMatchObject({ total: '30.5' });
  });

  it('puts the automatic finalization off until the window is over again', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    await advanceTo(api, customer.clockId, '2026-02-15T01:00:00Z');
    await api('POST', `/invoices/${draft.id}/compute`);
    await advanceTo(api, customer.clockId, '2026-02-15T02:30:00Z');
    expect(await read(draft.id)).toMatchObject({ invoice_status: 'DRAFT' });
    await advanceTo(api, customer.clockId, '2026-02-15T03:00:00Z');
    expect(await read(draft.id)).toMatchObject({
      invoice_status: 'FINALIZED',
      finalized_at: '2026-02-15T03:00:00.000Z',
    });
  });
});

describe('POST /invoices/{id}/modify', () => {
  it('adds to a draft in place, which no timer finalizes from then on', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    const { status, body } = await edit(draft.id, goodwill);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.invoice).toMatchObject({
      id: draft.id,
      total: '20',
      is_manually_edited: true,
      invoice_status: 'DRAFT',
    });
    await advanceTo(api, customer.clockId, '2026-02-20T00:00:00Z');
    expect(await read(draft.id)).toMatchObject({ invoice_status: 'DRAFT' });
    expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
    expect(await read(draft.id)).toMatchObject({ invoice_status: 'FINALIZED', total: '20' });
  });

  it('gives an updated line a new id and copies what is not said', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const [line] = draft.line_items;
    const { body } = await edit(draft.id, { action: 'update', items: [{ line_item_id: line.id, amount: '25' }] });
    const updated = body.invoice.line_items.find((one: Wire) => one.display_name === line.display_name);
    expect(updated).toMatchObject({ amount: '25', quantity: line.quantity, price_id: line.price_id });
    expect(updated.id).not.toBe(line.id);
    expect(body.invoice.line_items).toHaveLength(draft.line_items.length);
  });

  it('removes lines, and nothing at all when one of them is not there', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const [line] = draft.line_items;
    const unknown = await edit(draft.id, { action: 'remove', line_item_ids: [line.id, 'inv_line_none'] });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await read(draft.id)).toMatchObject({ is_manually_edited: false, total: draft.total });
    const { body } = await edit(draft.id, { action: 'remove', line_item_ids: [line.id] });
    expect(body.invoice.line_items.map((one: Wire) => one.id)).not.toContain(line.id);
  });

  it('voids a final invoice and edits a linked draft with its content, unpaid and without a number', async () => {
    const invoice = await finalized(await billedCustomer(platform));
    const { body } = await edit(invoice.id, goodwill);
    expect(body.invoice).toMatchObject({
      invoice_status: 'DRAFT',
      invoice_number: null,
      payment_status: 'PENDING',
      amount_paid: '0',
      total: '20',
      is_manually_edited: true,
      billing_reason: invoice.billing_reason,
      billing_sequence: invoice.billing_sequence,
      period_start: invoice.period_start,
    });
    const original = await read(invoice.id);
    expect(original).toMatchObject({
      invoice_status: 'VOIDED',
      invoice_number: invoice.invoice_number,
      recalculated_invoice_id: body.invoice.id,
      total: '30',
    });
    expect(await eventsOf(api, invoice.id)).toContain('invoice.update.voided');
    expect(await edit(invoice.id, goodwill)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('takes the coupons and taxes of a one-off over to its replacement, without redeeming again', async () => {
    const rate = await created<Wire>(api, '/taxes/rates', { name: 'E', code: 'EDIT-VAT', percentage_value: '10' });
    const half = await created<Wire>(api, '/coupons', {
      name: 'Half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'once',
      max_redemptions: 1,
    });
    const invoice = await oneOff({ coupons: [half.id], tax_rates: [rate.id] });
    expect(invoice.total).toBe('55');
    const { body } = await edit(invoice.id, goodwill);
    // (100 − 10) × 50 % and 10 % on it.
    expect(body.invoice).toMatchObject({ total_discount: '45', total_tax: '4.5', total: '49.5' });
    expect((await api<Wire>('GET', `/coupons/${half.id}`)).body.total_redemptions).toBe(1);
    await api('POST', `/invoices/${body.invoice.id}/void`);
    expect((await api<Wire>('GET', `/coupons/${half.id}`)).body.total_redemptions).toBe(0);
  });

  it('shows in a preview what the execution would make, and stores nothing', async () => {
    const invoice = await finalized(await billedCustomer(platform));
    const { status, body } = await edit(invoice.id, goodwill, 'preview');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.invoice).toMatchObject({ invoice_status: 'DRAFT', total: '20' });
    expect(await read(invoice.id)).toEqual(invoice);
    expect(await api('GET', `/invoices/${body.invoice.id}`)).toMatchObject({ status: 404 });
  });
});

describe('PUT /invoices/{id} apply_discount', () => {
  it('computes a draft again any number of times, and replaces a final invoice', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    for (const _ of [1, 2]) {
      const { body } = await api<Wire>('PUT', `/invoices/${draft.id}`, { apply_discount: true });
      expect(body).toMatchObject({ id: draft.id, total: draft.total, is_manually_edited: false });
    }
    await api('POST', `/invoices/${draft.id}/finalize`);
    const { body } = await api<Wire>('PUT', `/invoices/${draft.id}`, { apply_discount: true });
    expect(body).toMatchObject({ invoice_status: 'DRAFT', total: draft.total });
    expect(await read(draft.id)).toMatchObject({ invoice_status: 'VOIDED', recalculated_invoice_id: body.id });
  });
});

describe('POST /invoices/{id}/recalculate', () => {
  it('makes a draft of what was used by now, which its subscription finalizes', async () => {
    const customer = await billedCustomer(platform);
    const invoice = await finalized(customer);
    await countCalls(api, customer, 7, '2026-02-12T00:00:00Z');
    const { status, body } = await api<Wire>('POST', `/invoices/${invoice.id}/recalculate`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      invoice_status: 'DRAFT',
      total: '30.7',
      billing_sequence: invoice.billing_sequence,
      workflow_id: `invoice/${invoice.id}`,
      run_id: expect.any(String),
      message: expect.any(String),
    });
    expect(await read(invoice.id)).toMatchObject({ invoice_status: 'VOIDED', recalculated_invoice_id: body.id });
    await advanceTo(api, customer.clockId, '2026-02-15T02:00:00Z');
    expect(await read(body.id)).toMatchObject({ invoice_status: 'FINALIZED', total: '30.7' });
    const again = await api<Wire>('POST', `/invoices/${invoice.id}/recalculate`);
    expect(again).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('computes a draft in place with recalculate-v2, and finalizes it when asked', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    await countCalls(api, customer, 2, '2026-02-12T00:00:00Z');
    const computed = await api<Wire>('POST', `/invoices/${draft.id}/recalculate-v2`);
    expect(computed).toMatchObject({ status: 200, body: { id: draft.id, invoice_status: 'DRAFT', total: '30.2' } });
    const final = await api<Wire>('POST', `/invoices/${draft.id}/recalculate-v2?finalize=true`);
    expect(final.body).toMatchObject({ invoice_status: 'FINALIZED', total: '30.2' });
    expect(final.body.invoice_number).toMatch(/^INV-/);
  });
});

describe('PUT /invoices/{id}/payment', () => {
  it('marks an invoice paid, tells so, and ends its collection', async () => {
    const invoice = await oneOff();
    const { status, body } = await api<Wire>('PUT', `/invoices/${invoice.id}/payment`, { payment_status: 'SUCCEEDED' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100', amount_remaining: '0' });
    expect(body.paid_at).toBe('2026-02-01T00:00:00.000Z');
    expect(await eventsOf(api, invoice.id)).toContain('invoice.update.payment');
    expect(await api('POST', `/invoices/${invoice.id}/payment/attempt`)).toMatchObject({ status: 400 });
  });

  it('keeps a part, more than all, and nothing, each by its status', async () => {
    const note = (id: string, body: Record<string, unknown>) => api<Wire>('PUT', `/invoices/${id}/payment`, body);
    const invoice = await oneOff();
    const part = await note(invoice.id, { payment_status: 'PENDING', amount: 40 });
    expect(part.body).toMatchObject({ payment_status: 'PENDING', amount_paid: '40', amount_remaining: '60' });
    const failed = await note(invoice.id, { payment_status: 'FAILED' });
    expect(failed.body).toMatchObject({ payment_status: 'FAILED', amount_paid: '0' });
    const more = await note(invoice.id, { payment_status: 'OVERPAID', amount: '130' });
    expect(more.body).toMatchObject({ payment_status: 'OVERPAID', amount_paid: '130', overpaid_amount: '30' });
  });

  it.each([
    ['a part as all of it', 'SUCCEEDED', '40'],
    ['more as all of it', 'SUCCEEDED', 130],
    ['less as more than all', 'OVERPAID', '99.99'],
    ['all as more than all', 'OVERPAID', '100'],
  ])('refuses %s, names what is due and writes nothing', async (_what, payment_status, amount) => {
    const invoice = await oneOff();
    const answer = await api<Wire>('PUT', `/invoices/${invoice.id}/payment`, { payment_status, amount });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toMatch(/amount_due, 100\b/);
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}`);
    expect(body).toMatchObject({ payment_status: 'PENDING', amount_paid: '0', amount_remaining: '100', paid_at: null });
    expect(await eventsOf(api, invoice.id)).not.toContain('invoice.update.payment');
  });

  it('takes amount_due as all of it, however it is written', async () => {
    const invoice = await oneOff();
    const paid = { payment_status: 'SUCCEEDED', amount: '100.000' };
    const { body } = await api<Wire>('PUT', `/invoices/${invoice.id}/payment`, paid);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100', amount_remaining: '0' });
  });

  it('refuses a draft, as POST /payments does', async () => {
    const draft = await oneOff({ invoice_status: 'DRAFT' });
    for (const payment_status of ['SUCCEEDED', 'PENDING', 'FAILED']) {
      const answer = await api<Wire>('PUT', `/invoices/${draft.id}/payment`, { payment_status });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
      expect(answer.body.message).toContain('is DRAFT; only a finalized invoice can be paid');
    }
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body).toMatchObject({ invoice_status: 'DRAFT', payment_status: 'PENDING', amount_paid: '0' });
  });

  it('activates the incomplete subscription whose opening invoice is paid', async () => {
    const customer = await billedCustomer(platform, {
      subscription: { collection_method: 'send_invoice', payment_behavior: 'default_incomplete' },
    });
    expect(await subscriptionOf(api, customer.subscriptionId)).toMatchObject({ subscription_status: 'incomplete' });
    const [opening] = await invoicesOf(api, customer.customerId);
    await api('PUT', `/invoices/${opening.id}/payment`, { payment_status: 'SUCCEEDED' });
    await advanceTo(api, customer.clockId, '2026-01-16T00:00:00Z');
    expect(await subscriptionOf(api, customer.subscriptionId)).toMatchObject({ subscription_status: 'active' });
  });

  it('is refused once a payment record succeeded', async () => {
    const invoice = await oneOff();
    await created(api, '/payments', {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_method_type: 'OFFLINE',
      amount: '100',
      currency: 'usd',
      process_payment: true,
    });
    const answer = await api<Wire>('PUT', `/invoices/${invoice.id}/payment`, { payment_status: 'SUCCEEDED' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  });
});

describe('events on request', () => {
  it('asks for a mail about a final invoice and sends a missed event again', async () => {
    const invoice = await oneOff();
    expect(await api('POST', `/invoices/${invoice.id}/comms/trigger`)).toMatchObject({ status: 200 });
    const again = { event_name: 'invoice.update.finalized' };
    const { status, body } = await api<Wire>('POST', `/invoices/${invoice.id}/webhook/trigger`, again);
    expect({ status, body }).toMatchObject({ status: 200, body: again });
    expect(await eventsOf(api, invoice.id)).toEqual([
      'invoice.update',
      'invoice.update.finalized',
      'invoice.communication.triggered',
      'invoice.update.finalized',
    ]);
    const [, event] = (await api<Wire>('GET', `/webhooks/events?entity_id=${invoice.id}`)).body.items;
    const { payload } = (await api<Wire>('GET', `/webhooks/events/${event.id}`)).body;
    expect(payload.invoice).toMatchObject({ total: invoice.total, line_items: [{ amount: invoice.total }] });
  });

  it('that did not happen is refused with what did', async () => {
    const { id } = await oneOff({ invoice_status: 'DRAFT' });
    const texts = {
      'invoice.update.finalized': 'and was never finalized; finalize it first',
      'invoice.update.voided': 'and not voided; void it first',
      'invoice.update.payment': 'and cannot be paid; finalize it first',
      'invoice.communication.triggered': 'and cannot be sent to its customer; finalize it first',
    };
    for (const [event_name, text] of Object.entries(texts)) {
      const { status, body } = await api<Wire>('POST', `/invoices/${id}/webhook/trigger`, { event_name });
      expect([status, body.message]).toEqual([400, `invoice ${id} is DRAFT ${text}`]);
    }
    expect((await api<Wire>('POST', `/invoices/${id}/comms/trigger`)).body.message).toContain('cannot be sent');
  });
});
