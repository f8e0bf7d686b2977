import { describe, expect, it } from 'vitest';
import { systemScope } from '../../../../db/scope.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';

const { api, base } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api, { fee: '30', perCall: '0.10' });

interface RehearsedInvoice {
  billing_reason: string;
  invoice_status: string;
  payment_status: string;
  period_start: string;
  period_end: string;
  total: string;
  amount_paid: string;
  line_items: { display_name: string; quantity: string; amount: string; period_start: string; period_end: string }[];
}

interface RehearsalView {
  from: string;
  until: string;
  subscription_status: string;
  current_period_end: string;
  total: string;
  invoices: RehearsedInvoice[];
  steps: { at: string; kind: string; invoice_ids: string[] }[];
}

async function subscribed(fields: object = {}) {
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-31T00:00:00Z', card });
  const subscription = await subscribe(api, { customer_id: customer.customerId, plan_id: plan.planId, ...fields });
  // The opening invoice is paid before anything is rehearsed.
  await advanceTo(api, customer.clockId, '2026-01-31T00:00:01Z');
  return { ...customer, id: subscription.id };
}

const rehearse = (id: string, body: object) => created<RehearsalView>(api, `/subscriptions/${id}/rehearse`, body);

/** What rehearsal and execution must agree on. */
const figures = (invoice: RehearsedInvoice) => ({
  billing_reason: invoice.billing_reason,
  invoice_status: invoice.invoice_status,
  payment_status: invoice.payment_status,
  period: `${invoice.period_start} ${invoice.period_end}`,
  total: invoice.total,
  amount_paid: invoice.amount_paid,
  lines: invoice.line_items.map((line) => ({
    name: line.display_name,
    quantity: line.quantity,
    amount: line.amount,
    period: `${line.period_start} ${line.period_end}`,
  })),
});

const rowCounts = () =>
  inSqlTransaction(base.database, systemScope, (tx) =>
    tx.rows(
      `select (select count(*) from invoice) as invoices, (select count(*) from outbox_event) as events,
         (select count(*) from audit_entry) as audits, (select count(*) from payment) as payments,
         (select count(*) from usage.event) as usage, (select json_agg(s) from invoice_number_sequence s) as numbers`,
    ),
  );

describe('a rehearsal', () => {
  it('brings the invoices that the year brings when it comes, to the cent', async () => {
    const { id, clockId, externalId } = await subscribed();
    const year = '2027-02-01T00:00:00.000Z';
    const calls = ['2026-02-10T00:00:00Z', '2026-02-28T00:00:00Z', '2026-11-30T23:59:59Z'].map((timestamp, index) => ({
      event_name: plan.eventName,
      timestamp,
      properties: {},
      count: 7 * (index + 1),
    }));

    const rehearsed = await rehearse(id, { until: year, usage: calls });

    for (const { count, ...call } of calls) {
      const events = Array.from({ length: count }, () => ({ ...call, external_customer_id: externalId }));
      await created(api, '/events/bulk', { events });
    }
    const opening = await invoicesOf(api, id);
    await advanceTo(api, clockId, year);
    const made = (await invoicesOf(api, id)).filter((invoice) => !opening.some((known) => known.id === invoice.id));
    const real: RehearsedInvoice[] = [];
    for (const { id: invoiceId } of made) real.push((await api('GET', `/invoices/${invoiceId}`)).body as never);
    const byPeriod = (a: RehearsedInvoice, b: RehearsedInvoice) => (a.period_start < b.period_start ? -1 : 1);
    expect(rehearsed.invoices).toHaveLength(12);
    expect(rehearsed.invoices.map(figures)).toEqual(real.toSorted(byPeriod).map(figures));
    expect(rehearsed.total).toBe('364.2');
    expect(rehearsed.current_period_end).toBe((await subscriptionOf(api, id)).current_period_end);
  });

  it('changes nothing: no invoice, event, audit row, payment, usage or number stays', async () => {
    const { id, externalId } = await subscribed();
    const subscription = await subscriptionOf(api, id);
    const events = await eventsOf(api, id);
    const before = await rowCounts();

    const { invoices } = await rehearse(id, {
      until: '2026-06-01T00:00:00Z',
      usage: [{ event_name: plan.eventName, timestamp: '2026-02-10T00:00:00Z', count: 3 }],
    });

    expect(invoices).toHaveLength(4);
    expect(await rowCounts()).toEqual(before);
    expect(await subscriptionOf(api, id)).toEqual(subscription);
    expect(await eventsOf(api, id)).toEqual(events);
    const usage = await created(api, '/events/usage', {
      external_customer_id: externalId,
      event_name: plan.eventName,
      aggregation_type: 'COUNT',
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2027-01-01T00:00:00Z',
    });
    expect(usage).toMatchObject({ value: 0 });
  });

  it('tells step by step what would be performed, and stops where the subscription ends', async () => {
    const { id } = await subscribed({ end_date: '2026-03-15T00:00:00Z' });

    const { steps, subscription_status } = await rehearse(id, { until: '2026-06-01T00:00:00Z' });

    expect(subscription_status).toBe('cancelled');
    expect(steps.map(({ at, kind }) => `${at} ${kind}`)).toEqual([
      '2026-02-27T00:00:00.000Z noticeRenewal',
      '2026-02-28T00:00:00.000Z closePeriod',
      '2026-02-28T02:00:00.000Z finalizeInvoice',
      '2026-02-28T02:00:00.000Z chargePayment',
      '2026-03-15T00:00:00.000Z closePeriod',
    ]);
  });

  it.each([
    ['a time that is past', { until: '2026-01-01T00:00:00Z' }, 'until'],
    ['a time far away', { until: '2036-01-01T00:00:00Z' }, 'until'],
    ['no time', {}, 'until'],
    [
      'a bad event',
      { until: '2026-06-01T00:00:00Z', usage: [{ event_name: '', timestamp: '2026-02-10T00:00:00Z' }] },
      'usage[0].event_name',
    ],
    [
      'too many events',
      {
        until: '2026-06-01T00:00:00Z',
        usage: Array.from({ length: 2 }, () => ({ event_name: 'x', timestamp: '2026-02-10T00:00:00Z', count: 6_000 })),
      },
      'usage',
    ],
  ])('refuses %s', async (_, body, field) => {
    const { id } = await subscribed();
    const { status, body: answer } = await api<{ details: { fields: object } }>(
      'POST',
      `/subscriptions/${id}/rehearse`,
      body,
    );
    expect(status).toBe(400);
    expect(Object.keys(answer.details.fields)).toContain(field);
  });

  it('knows no subscription of somebody else', async () => {
    expect((await api('POST', '/subscriptions/subs_nobody/rehearse', { until: '2030-01-01T00:00:00Z' })).status).toBe(
      404,
    );
  });
});
