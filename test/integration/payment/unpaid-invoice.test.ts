import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import {
  advanceTo,
  clockedCustomer,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';

const { api, base } = await testPlatform();

test('invoices nobody pays are followed to their due dates for as long as the subscription lives', async () => {
  const { planId } = await monthlyPlan(api);
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const to = '2026-07-20T00:00:00Z';
  await advanceTo(api, clockId, to);
  const due = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows('select object_id, kind, due_at from agenda_entry where due_at <= $1', [to]),
  );
  expect(due).toEqual([]);
  const invoices = await invoicesOf(api, id);
  expect(invoices.length).toBe(7);
  for (const invoice of invoices) {
    const wasDue = Date.parse(invoice.due_date) <= Date.parse(to);
    expect((await eventsOf(api, invoice.id)).includes('invoice.payment.overdue'), invoice.id).toBe(wasDue);
  }
});
