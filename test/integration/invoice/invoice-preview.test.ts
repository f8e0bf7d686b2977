import { describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { advanceTo, testPlatform } from '../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

const preview = (body: Record<string, unknown>) => api<Wire>('POST', '/invoices/preview', body);

async function rowCounts(): Promise<unknown> {
  return inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows(
      `select (select count(*) from invoice) as invoices, (select count(*) from invoice_line_item) as lines,
         (select count(*) from outbox_event) as events, (select count(*) from audit_entry) as audit,
         (select sum(billing_sequence) from subscription) as sequence`,
    ),
  );
}

describe('POST /invoices/preview', () => {
  it('shows what the close then bills, line by line', async () => {
    const customer = await billedCustomer(platform);
    await countCalls(api, customer, 12, '2026-02-01T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-02-14T23:00:00Z');
    const before = await rowCounts();
    const { status, body } = await preview({ subscription_id: customer.subscriptionId });
    expect(status).toBe(200);
    expect(await rowCounts()).toEqual(before);

    const draft = await firstDraft(api, customer);
    const amounts = (line: Wire) => [
      line.display_name,
      Number(line.quantity),
      Number(line.amount),
      line.period_start,
      line.period_end,
    ];
    expect(body.line_items.map(amounts)).toEqual(draft.line_items.map(amounts));
    expect(body).toMatchObject({
      id: null,
      invoice_number: null,
      billing_sequence: null,
      invoice_status: 'DRAFT',
      billing_reason: draft.billing_reason,
      period_start: draft.period_start,
      period_end: draft.period_end,
      due_date: draft.due_date,
    });
  });

  it('carries every amount as a JSON number', async () => {
    const customer = await billedCustomer(platform);
    const { body } = await preview({ subscription_id: customer.subscriptionId });
    const amounts = Object.entries(body).filter(
      ([key]) => /^(sub)?total|amount|tax$/.test(key) && key !== 'tax_summary',
    );
    expect(amounts.length).toBeGreaterThanOrEqual(11);
    for (const [key, value] of amounts) expect(value, key).toBeTypeOf('number');
    for (const line of body.line_items) {
      for (const key of ['quantity', 'amount', 'line_item_discount', 'invoice_level_discount']) {
        expect(line[key], key).toBeTypeOf('number');
      }
    }
    expect(body.total).toBe(30);
  });

  it('counts usage up to the present only, and leaves zero lines out where that is asked for', async () => {
    const customer = await billedCustomer(platform);
    await countCalls(api, customer, 5, '2026-02-01T00:00:00Z');
    const { body } = await preview({ subscription_id: customer.subscriptionId });
    expect(body.line_items.map((line: Wire) => [line.price_type, line.quantity])).toEqual([
      ['FIXED', 1],
      ['USAGE', 0],
    ]);
    const hidden = await preview({ subscription_id: customer.subscriptionId, hide_zero_charges_line_items: true });
    expect(hidden.body.line_items.map((line: Wire) => line.price_type)).toEqual(['FIXED']);
  });

  it('measures a part of the period when it is named', async () => {
    const customer = await billedCustomer(platform);
    await countCalls(api, customer, 3, '2026-01-20T00:00:00Z');
    await countCalls(api, customer, 4, '2026-02-01T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-02-10T00:00:00Z');
    const { body } = await preview({ subscription_id: customer.subscriptionId, period_end: '2026-01-31T00:00:00Z' });
    expect(body).toMatchObject({ period_start: '2026-01-15T00:00:00.000Z', period_end: '2026-01-31T00:00:00.000Z' });
    expect(body.line_items[1]).toMatchObject({ price_type: 'USAGE', quantity: 3, amount: 0.3 });
    expect(body.line_items[0]).toMatchObject({ price_type: 'FIXED', period_start: '2026-02-15T00:00:00.000Z' });
  });

  it('shows the invoice at the end of a trial', async () => {
    const customer = await billedCustomer(platform, { subscription: { trial_period_days: 10 } });
    const { body } = await preview({ subscription_id: customer.subscriptionId });
    expect(body).toMatchObject({
      billing_reason: 'SUBSCRIPTION_TRIAL_END',
      period_start: '2026-01-25T00:00:00.000Z',
      total: 30,
    });
    const named = await preview({ subscription_id: customer.subscriptionId, period_end: '2026-01-20T00:00:00Z' });
    expect(named).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(named.body.message).toContain('period_end must be left out during a trial');
  });

  it('shows no advance charge when the subscription ends at the boundary', async () => {
    const customer = await billedCustomer(platform);
    await countCalls(api, customer, 2, '2026-01-14T00:00:00Z');
    const cancelled = await api('POST', `/subscriptions/${customer.subscriptionId}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    expect(cancelled.status).toBe(200);
    const { body } = await preview({ subscription_id: customer.subscriptionId });
    expect(body.line_items.map((line: Wire) => line.price_type)).toEqual(['USAGE']);
  });

  it('refuses a subscription that is over, and one it does not know', async () => {
    const customer = await billedCustomer(platform);
    await api('POST', `/subscriptions/${customer.subscriptionId}/cancel`, { cancellation_type: 'immediate' });
    const over = await preview({ subscription_id: customer.subscriptionId });
    expect(over).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(over.body.message).toContain('cancelled');
    expect(await preview({ subscription_id: 'subs_unknown' })).toMatchObject({ status: 404 });
  });

  it('refuses periods that are none, and names the field', async () => {
    const { subscriptionId } = await billedCustomer(platform);
    const cases: [Record<string, unknown>, string][] = [
      [{}, 'subscription_id is required'],
      [{ subscription_id: subscriptionId, period_start: '2026-01-01T00:00:00Z' }, 'period_start must not be before'],
      [
        { subscription_id: subscriptionId, period_end: '2026-01-15T00:00:00Z' },
        'period_end must be after period_start',
      ],
      [
        { subscription_id: subscriptionId, period_end: '2026-02-16T00:00:00Z' },
        'period_end must not be after 2026-02-15',
      ],
      [{ subscription_id: subscriptionId, period_end: 'soon' }, 'period_end must be an RFC 3339 timestamp'],
      [{ subscription_id: subscriptionId, hide_zero_charges_line_items: 'yes' }, 'hide_zero_charges_line_items'],
    ];
    for (const [body, message] of cases) {
      const answer = await preview(body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(answer.body.message).toContain(message);
    }
  });
});
