import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../db/transaction.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../support/billing.ts';

const { api, base } = await testPlatform();

test('a subscription bills its fee in advance, its usage in arrear, and is paid', async () => {
  const { planId } = await monthlyPlan(api);
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-01-15T00:00:00Z',
    card: sandboxCardNumber('succeeds'),
  });
  const subscription = await created<{ id: string; subscription_status: string; current_period_end: string }>(
    api,
    '/subscriptions',
    {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
    },
  );
  expect(subscription.subscription_status).toBe('active');
  expect(subscription.current_period_end).toBe('2026-02-15T00:00:00.000Z');
  await advanceTo(api, clockId, '2026-03-20T00:00:00Z');
  const invoices = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows(
      'select billing_reason, invoice_status, payment_status, total, invoice_number, period_start, period_end from invoice where subscription_id = $1 order by billing_sequence',
      [subscription.id],
    ),
  );
  expect(invoices.length).toBe(3);
});
