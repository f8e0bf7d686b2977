import { describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

/** How many rows there are that a refused command must not add to. */
async function written(): Promise<unknown> {
  return inSqlTransaction(base.database, base.scope, async (tx) => {
    const [row] = await tx.rows(
      `select (select count(*) from audit_entry) as audit, (select count(*) from outbox_event) as events,
         (select count(*) from payment) as payments, (select sum(version) from invoice) as versions`,
    );
    return row;
  });
}

async function finalized(customer: Awaited<ReturnType<typeof billedCustomer>>): Promise<Wire> {
  const draft = await firstDraft(api, customer);
  expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
  return (await api<Wire>('GET', `/invoices/${draft.id}`)).body;
}

describe('POST /invoices/{id}/finalize', () => {
  it('gives the draft its number, final amounts and dates', async () => {
    const customer = await billedCustomer(platform);
    await countCalls(api, customer, 12, '2026-02-01T00:00:00Z');
    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({ invoice_number: null, invoice_status: 'DRAFT', subtotal: '31.2' });

    const answer = await api('POST', `/invoices/${draft.id}/finalize`);
    expect(answer).toMatchObject({ status: 200, body: { message: 'invoice finalized successfully' } });
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body.invoice_number).toMatch(/^INV-202602-\d{5}$/);
    expect(body).toMatchObject({
      invoice_status: 'FINALIZED',
      amount_due: '31.2',
      finalized_at: '2026-02-15T00:00:00.000Z',
      issue_date: '2026-02-15T00:00:00.000Z',
      due_date: '2026-02-16T00:00:00.000Z',
    });
  });

  it('leaves nothing to its timer, which finds the work done', async () => {
    const customer = await billedCustomer(platform);
    const invoice = await finalized(customer);
    await advanceTo(api, customer.clockId, '2026-02-16T00:00:00Z');
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}`);
    expect(body).toMatchObject({ invoice_number: invoice.invoice_number, finalized_at: invoice.finalized_at });
  });

  it('bills usage that came during the draft window', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    await countCalls(api, customer, 3, '2026-02-10T00:00:00Z');
    await api('POST', `/invoices/${draft.id}/finalize`);
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body).toMatchObject({ invoice_status: 'FINALIZED', total: '30.3' });
  });

  it('happens once, however many ask at the same time, and numbers have no gap', async () => {
    const drafts = await Promise.all([1, 2, 3].map(async () => firstDraft(api, await billedCustomer(platform))));
    const asked = drafts.flatMap(({ id }) => [id, id, id]);
    const answers = await Promise.all(asked.map((id) => api('POST', `/invoices/${id}/finalize`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400, 400, 400, 400, 400]);
    const { body } = await api<Wire>('POST', '/invoices/search', { invoice_ids: drafts.map(({ id }) => id) });
    const sequences = body.items.map((invoice: Wire) => Number(invoice.invoice_number.slice(-5))).sort();
    expect(sequences[2] - sequences[0]).toBe(2);
  });

  it('is refused a second time and writes nothing', async () => {
    const invoice = await finalized(await billedCustomer(platform));
    const before = await written();
    const again = await api('POST', `/invoices/${invoice.id}/finalize`);
    expect(again).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(again.body.message).toContain('FINALIZED');
    expect(await written()).toEqual(before);
  });

  it('answers the same to the same Idempotency-Key', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const headers = { 'idempotency-key': `finalize-${draft.id}` };
    const first = await api('POST', `/invoices/${draft.id}/finalize`, undefined, headers);
    const second = await api('POST', `/invoices/${draft.id}/finalize`, undefined, headers);
    expect(second).toMatchObject({ status: 200, body: first.body });
  });

  it('charges the saved card in the same call', async () => {
    const customer = await billedCustomer(platform, { card: sandboxCardNumber('succeeds') });
    const { id } = await finalized(customer);
    // The charge is the workflow's next step; the attempt comes behind it in the same inbox.
    await api('POST', `/invoices/${id}/payment/attempt`);
    const { body } = await api<Wire>('GET', `/invoices/${id}`);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30', amount_remaining: '0' });
  });
});

describe('POST /invoices/{id}/void', () => {
  it('voids a draft and keeps the metadata it is given', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const answer = await api('POST', `/invoices/${draft.id}/void`, { metadata: { reason: 'billed twice' } });
    expect(answer).toMatchObject({ status: 200, body: { message: 'invoice voided successfully' } });
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body).toMatchObject({
      invoice_status: 'VOIDED',
      invoice_number: null,
      voided_at: '2026-02-15T00:00:00.000Z',
      metadata: { reason: 'billed twice' },
    });
  });

  it('leaves the life of its subscription as it is', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    await api('POST', `/invoices/${draft.id}/void`);
    await advanceTo(api, customer.clockId, '2026-03-15T00:00:00Z');
    const invoices = await invoicesOf(api, customer.customerId);
    expect(invoices.map((invoice) => [invoice.billing_sequence, invoice.invoice_status])).toEqual([
      [1, 'FINALIZED'],
      [2, 'VOIDED'],
      [3, 'DRAFT'],
    ]);
  });

  it('keeps the number of a finalized invoice', async () => {
    const invoice = await finalized(await billedCustomer(platform));
    expect(await api('POST', `/invoices/${invoice.id}/void`)).toMatchObject({ status: 200 });
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}`);
    expect(body).toMatchObject({ invoice_status: 'VOIDED', invoice_number: invoice.invoice_number });
  });

  it('is refused for a voided invoice and writes nothing', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    await api('POST', `/invoices/${draft.id}/void`);
    const before = await written();
    const again = await api('POST', `/invoices/${draft.id}/void`);
    expect(again).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(again.body.message).toContain('VOIDED');
    expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 400 });
    expect(await written()).toEqual(before);
  });

  it('refuses metadata that is no map of texts', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const answer = await api('POST', `/invoices/${draft.id}/void`, { metadata: { n: 1 } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('metadata.n');
  });
});

describe('POST /invoices/{id}/payment/attempt', () => {
  it('says that nothing could be charged without a saved method', async () => {
    const invoice = await finalized(await billedCustomer(platform));
    const answer = await api<Wire>('POST', `/invoices/${invoice.id}/payment/attempt`);
    expect(answer.status).toBe(200);
    expect(answer.body.message).toContain('no payment method is saved');
  });

  it('collects from a card that was saved after the invoice', async () => {
    const customer = await billedCustomer(platform);
    const invoice = await finalized(customer);
    await api('POST', `/customers/${customer.customerId}/payment-methods`, {
      gateway: 'sandbox',
      card_number: sandboxCardNumber('succeeds'),
      set_default: true,
    });
    const answer = await api('POST', `/invoices/${invoice.id}/payment/attempt`);
    expect(answer).toMatchObject({
      status: 200,
      body: { message: expect.stringMatching(/^payment pay_\w+ succeeded$/) },
    });
    const again = await api('POST', `/invoices/${invoice.id}/payment/attempt`);
    expect(again).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('tells of a decline', async () => {
    const customer = await billedCustomer(platform, { subscription: { payment_behavior: 'default_active' } });
    const invoice = await finalized(customer);
    await api('POST', `/customers/${customer.customerId}/payment-methods`, {
      gateway: 'sandbox',
      card_number: sandboxCardNumber('declines'),
      set_default: true,
    });
    const answer = await api('POST', `/invoices/${invoice.id}/payment/attempt`);
    expect(answer).toMatchObject({
      status: 200,
      body: { message: expect.stringMatching(/^payment pay_\w+ failed: /) },
    });
  });

  it('is refused for a draft', async () => {
    const draft = await firstDraft(api, await billedCustomer(platform));
    const answer = await api('POST', `/invoices/${draft.id}/payment/attempt`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('only a FINALIZED one can');
  });
});

describe('PUT /invoices/{id}', () => {
  it('moves the due date, and the overdue notice with it', async () => {
    const customer = await billedCustomer(platform);
    const invoice = await finalized(customer);
    const moved = await api<Wire>('PUT', `/invoices/${invoice.id}`, { due_date: '2026-03-01T00:00:00Z' });
    expect(moved).toMatchObject({
      status: 200,
      body: { due_date: '2026-03-01T00:00:00.000Z', version: invoice.version + 1 },
    });
    const overdue = async () =>
      inSqlTransaction(base.database, base.scope, (tx) =>
        tx.rows("select 1 from outbox_event where entity_id = $1 and event_name = 'invoice.payment.overdue'", [
          invoice.id,
        ]),
      );
    await advanceTo(api, customer.clockId, '2026-02-27T00:00:00Z');
    expect(await overdue()).toHaveLength(0);
    await advanceTo(api, customer.clockId, '2026-03-02T00:00:00Z');
    expect(await overdue()).toHaveLength(1);
  });

  it('refuses a due date in the past of the customer, and a voided invoice', async () => {
    const customer = await billedCustomer(platform);
    const draft = await firstDraft(api, customer);
    const before = await written();
    const past = await api('PUT', `/invoices/${draft.id}`, { due_date: '2026-02-15T00:00:00Z' });
    expect(past).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(past.body.message).toContain('due_date must be after 2026-02-15T00:00:00.000Z');
    expect(await written()).toEqual(before);
    await api('POST', `/invoices/${draft.id}/void`);
    const voided = await api('PUT', `/invoices/${draft.id}`, { metadata: { a: 'b' } });
    expect(voided).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});

describe('commands and foreign invoices', () => {
  it.each(['finalize', 'void', 'payment/attempt'])('answers 404 to %s of an unknown invoice', async (command) => {
    const answer = await api('POST', `/invoices/inv_unknown/${command}`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

it('lists the invoices of a customer in the order they were drafted', async () => {
  const customer = await billedCustomer(platform);
  await firstDraft(api, customer);
  const invoices = await invoicesOf(api, customer.customerId);
  expect(invoices.map((invoice) => invoice.billing_reason)).toEqual(['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE']);
});
