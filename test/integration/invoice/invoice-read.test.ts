import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../db/id.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

const customer = await billedCustomer(platform);
await countCalls(api, customer, 12, '2026-02-01T00:00:00Z');
const draft = await firstDraft(api, customer);
await api('POST', `/invoices/${draft.id}/finalize`);
const { body: whole } = await api<Wire>('GET', `/invoices/${draft.id}?expand=customer,subscription`);

const facts = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));

const search = async (body: Record<string, unknown>) =>
  api<Wire>('POST', '/invoices/search', { customer_id: customer.customerId, ...body });
const idsOf = (answer: { body: Wire }) => answer.body.items.map((invoice: Wire) => invoice.id);

describe('GET /invoices/{id}', () => {
  it('shows every documented key, decimals as texts, and null where there is nothing', () => {
    expect(Object.keys(whole).sort()).toEqual(Object.keys(facts.components.schemas.Invoice.properties).sort());
    const [fixed, usage] = whole.line_items;
    expect(Object.keys(fixed).sort()).toEqual(Object.keys(facts.components.schemas.InvoiceLineItem.properties).sort());
    expect(whole).toMatchObject({
      subtotal: '31.2',
      total_tax: '0',
      paid_at: null,
      coupon_applications: [],
      taxes: [],
    });
    expect(fixed).toMatchObject({
      price_type: 'FIXED',
      quantity: '1',
      amount: '30',
      period_start: '2026-02-15T00:00:00.000Z',
    });
    expect(usage).toMatchObject({
      price_type: 'USAGE',
      quantity: '12',
      amount: '1.2',
      period_start: '2026-01-15T00:00:00.000Z',
    });
  });

  it('shows customer and subscription when they are asked for', async () => {
    expect(whole.customer.id).toBe(customer.customerId);
    expect(whole.subscription.id).toBe(customer.subscriptionId);
    const { body } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(body).toMatchObject({ customer: null, subscription: null });
  });

  it('answers 404 for an unknown id and for the id of another tenant', async () => {
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    expect(await api('GET', '/invoices/inv_unknown')).toMatchObject({ status: 404 });
    const foreign = await api('GET', `/invoices/${draft.id}`, undefined, { 'x-api-key': other.apiKey });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const command of ['finalize', 'void', 'payment/attempt']) {
      const answer = await api('POST', `/invoices/${draft.id}/${command}`, {}, { 'x-api-key': other.apiKey });
      expect(answer.status).toBe(404);
    }
    const explained = await api('GET', `/invoices/${draft.id}/explain`, undefined, { 'x-api-key': other.apiKey });
    expect(explained.status).toBe(404);
  });
});

describe('POST /invoices/search', () => {
  it('pages and echoes the offset that was asked for', async () => {
    const page = await search({ limit: 1, offset: 1 });
    expect(page.body.pagination).toEqual({ limit: 1, offset: 1, total: 2 });
    expect(page.body.items).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['status', { invoice_status: ['FINALIZED'], billing_reason: 'SUBSCRIPTION_CYCLE' }, 1],
    ['several statuses', { invoice_status: ['DRAFT', 'VOIDED'] }, 0],
    ['payment status', { payment_status: ['SUCCEEDED'] }, 0],
    ['amount due', { amount_due_gt: '30' }, 1],
    ['amount due as a number', { amount_due_gt: 29.99 }, 2],
    ['amount remaining', { amount_remaining_gt: '31.2' }, 0],
    ['period start', { period_start_gte: '2026-01-15T00:00:00Z', period_start_lte: '2026-01-15T00:00:00Z' }, 2],
    ['period end', { period_end_gte: '2026-02-15T00:00:00Z', period_end_lte: '2026-02-15T00:00:00Z' }, 2],
    ['period end before', { period_end_lte: '2026-02-14T00:00:00Z' }, 0],
    ['currency in any case', { currency: 'USD' }, 2],
    ['type', { invoice_type: 'ONE_OFF' }, 0],
    ['subscriber', { subscription_customer_id: ['cust_nobody'] }, 0],
    ['ids', { invoice_ids: ['inv_nothing'] }, 0],
    ['no ids', { invoice_ids: [] }, 2],
    ['external customer', { customer_id: null, external_customer_id: 'nobody' }, 0],
    ['a condition', { filters: [{ field: 'total', operator: 'gt', data_type: 'number', value: { number: 30 } }] }, 1],
  ])('filters by %s', async (_name, body, count) => {
    const answer = await search(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.pagination.total).toBe(count);
  });

  it('finds the same by query string', async () => {
    const query = `customer_id=${customer.customerId}&invoice_status=DRAFT,FINALIZED&amount_due_gt=30&skip_line_items=true`;
    const listed = await api<Wire>('GET', `/invoices?${query}`);
    expect(idsOf(listed)).toEqual([draft.id]);
    expect(listed.body.items[0].line_items).toEqual([]);
    const external = await api<Wire>('GET', `/invoices?external_customer_id=${customer.externalId}&expand=customer`);
    expect(external.body.pagination.total).toBe(2);
    expect(external.body.items[0].customer.external_id).toBe(customer.externalId);
  });

  it('sorts, with the subscription beside each', async () => {
    const answer = await search({ sort: [{ field: 'total', direction: 'desc' }], expand: 'subscription' });
    expect(answer.body.items.map((invoice: Wire) => invoice.total)).toEqual(['31.2', '30']);
    expect(answer.body.items[1].subscription.id).toBe(customer.subscriptionId);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown status', { invoice_status: ['PAID'] }, 'invoice_status[0]'],
    ['a text that is no decimal', { amount_due_gt: 'much' }, 'amount_due_gt must be a decimal'],
    ['a time without a zone', { period_start_gte: '2026-01-01T00:00:00' }, 'period_start_gte'],
    ['a currency of four letters', { currency: 'euro' }, 'currency must be a currency of three letters'],
    ['an unknown part', { expand: 'plan' }, 'expand must name only customer, subscription'],
    ['an unknown column', { sort: [{ field: 'secret' }] }, 'sort[0].field'],
    ['too large a page', { limit: 1001 }, 'limit must be an integer from 1 to 1000'],
    ['a status that is no list', { invoice_status: 'DRAFT' }, 'invoice_status'],
  ])('refuses %s and names it', async (_name, body, message) => {
    const answer = await search(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(message);
  });
});

describe('PUT /invoices/{id}', () => {
  it('replaces metadata and reports one change, and none when nothing changes', async () => {
    const count = async () =>
      inSqlTransaction(base.database, base.scope, async (tx) => {
        const sql =
          "select count(*)::int as n from outbox_event where entity_id = $1 and event_name = 'invoice.update'";
        return (await tx.rows<{ n: number }>(sql, [draft.id]))[0]?.n ?? 0;
      });
    const before = await count();
    const body = { metadata: { purchase_order: 'PO-17' }, invoice_pdf_url: 'https://files.example/1.pdf' };
    const first = await api<Wire>('PUT', `/invoices/${draft.id}`, body);
    expect(first).toMatchObject({ status: 200, body });
    const second = await api<Wire>('PUT', `/invoices/${draft.id}`, body);
    expect(second.body.version).toBe(first.body.version);
    expect(await count()).toBe(before + 1);
    const cleared = await api<Wire>('PUT', `/invoices/${draft.id}`, { invoice_pdf_url: '', metadata: {} });
    expect(cleared.body).toMatchObject({ invoice_pdf_url: null, metadata: {} });
  });

  it.each<[Record<string, unknown>, number, string]>([
    [{ invoice_pdf_url: 'file:///etc/passwd' }, 400, 'invoice_pdf_url must be an http or https address'],
    [{ due_date: '2026-05-01' }, 400, 'due_date must be an RFC 3339 timestamp'],
    [{ due_date: '2020-05-01T00:00:00Z' }, 400, 'due_date must be after'],
    [{ metadata: { a: 1 } }, 400, 'metadata.a'],
  ])('refuses %j', async (body, status, message) => {
    const answer = await api('PUT', `/invoices/${draft.id}`, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(message);
  });

  it('answers 404 for an unknown invoice', async () => {
    expect(await api('PUT', '/invoices/inv_unknown', { metadata: {} })).toMatchObject({ status: 404 });
  });
});

it('shows the whole invoice in its events, as it is now', async () => {
  const isFinalized = (event: Wire) => event.event_type === 'invoice.update.finalized' && event.entity_id === draft.id;
  // The feed shows an event once no older transaction of the server runs, whosever it is.
  let finalized: Wire;
  for (let after = ''; !finalized; ) {
    const { body } = await api<Wire>('GET', `/outbound-events?limit=1000&wait=5${after}`);
    finalized = body.items.find(isFinalized);
    after = `&after=${body.next}`;
  }
  const { body: invoice } = await api<Wire>('GET', `/invoices/${draft.id}?expand=customer`);
  expect(finalized.payload).toEqual({ event_type: 'invoice.update.finalized', invoice });
});

describe('GET /customers/{id}/invoices/summary', () => {
  it('sums up what is owed, as numbers', async () => {
    const { status, body } = await api<Wire>('GET', `/customers/${customer.customerId}/invoices/summary`);
    expect(status).toBe(200);
    expect(body).toEqual({
      customer_id: customer.customerId,
      default_currency: 'usd',
      summaries: [
        {
          customer_id: customer.customerId,
          currency: 'usd',
          total_invoice_count: 2,
          unpaid_invoice_count: 2,
          overdue_invoice_count: 0,
          total_revenue_amount: 61.2,
          total_unpaid_amount: 61.2,
          total_overdue_amount: 0,
          unpaid_usage_charges: 1.2,
          unpaid_fixed_charges: 60,
        },
      ],
    });
  });

  it('is empty for a customer without invoices, and 404 for nobody', async () => {
    const { id } = await created(api, '/customers', { external_id: newId('ext'), name: 'New' });
    const { body } = await api<Wire>('GET', `/customers/${id}/invoices/summary`);
    expect(body).toEqual({ customer_id: id, default_currency: 'usd', summaries: [] });
    expect(await api('GET', '/customers/cust_unknown/invoices/summary')).toMatchObject({ status: 404 });
  });
});

describe('GET /invoices/{id}/explain', () => {
  it('tells every amount, the number, the dates and the history from what is stored', async () => {
    const { status, body } = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    expect(status).toBe(200);
    const usage = body.lines[1];
    expect(usage.derivation).toMatchObject({ charge: 'usage', amount: '1.20' });
    expect(usage.steps.map((step: Wire) => step.kind)).toEqual(['usage', 'price', 'rounding']);
    const measured = 'Meter "Calls" measured 12 from 2026-01-15T00:00:00Z until 2026-02-15T00:00:00Z';
    expect(usage.steps[0].sentence).toMatch(new RegExp(`^${measured}, counting every event received by 20\\S+Z\\.$`));
    expect(usage.steps[1].sentence).toBe('Flat fee: 12 × 0.10 = 1.20 usd.');
    expect(body.totals.find((step: Wire) => step.step === 'amount_due').amount).toBe('31.2');
    expect(body.number).toContain(whole.invoice_number);
    expect(body.dates.map((step: Wire) => step.date)).toContain('finalized_at');
    expect(body.history.map((entry: Wire) => entry.action)).toContain('finalized');
  });

  it('shows the same after the price was changed behind its back: it never computes again', async () => {
    const before = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows("update price set amount = '999' where id = any($1)", [
        before.body.lines.map((line: Wire) => line.price_id),
      ]),
    );
    const after = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    expect(after.body.lines).toEqual(before.body.lines);
  });

  it('counts what arrived after the invoice was final, and changes nothing else', async () => {
    const { body: before } = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    const [fixed, usage] = before.lines;
    expect(fixed.late_usage).toBeNull();
    expect(usage.late_usage).toEqual({ event_count: 0, voided_count: 0, quantity: '0' });
    expect(before.late_usage).toEqual({ event_count: 0, voided_count: 0 });

    await countCalls(api, customer, 2, '2026-02-14T23:59:59Z');
    await countCalls(api, customer, 3, '2026-02-15T00:00:00Z');
    const { body: after } = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    const sentence = '2 events arrived after this invoice was final (quantity 2); they are not billed.';
    const late_usage = { event_count: 2, voided_count: 0, quantity: '2' };
    const line = { ...usage, late_usage, steps: [...usage.steps, { kind: 'late_usage', sentence, amount: null }] };
    expect(after).toEqual({ ...before, late_usage: { event_count: 2, voided_count: 0 }, lines: [fixed, line] });
  });

  it('knows nothing late of a draft, which is measured again', async () => {
    const open = await billedCustomer(platform);
    const { id } = await firstDraft(api, open);
    await countCalls(api, open, 1, '2026-02-01T00:00:00Z');
    const { body } = await api<Wire>('GET', `/invoices/${id}/explain`);
    expect(body).toMatchObject({ invoice_status: 'DRAFT', late_usage: null });
    expect(body.lines.map((line: Wire) => line.late_usage)).toEqual([null, null]);
  });
});

it('shows drafts and finalized invoices in one list', async () => {
  expect(await invoicesOf(api, customer.customerId)).toHaveLength(2);
});
