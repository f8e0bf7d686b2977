import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { Api } from '../../support/app.ts';
import { clockedCustomer, created, monthlyPlan } from '../../support/billing.ts';
import type { TestDatabase } from '../../support/database.ts';

/** One object of every noun, all of one environment. */
export interface Belongings {
  customer: string;
  plan: string;
  price: string;
  feature: string;
  meter: string;
  entitlement: string;
  subscription: string;
  invoice: string;
  payment: string;
  paymentMethod: string;
  testClock: string;
}

/** Makes one object of every noun through the API. The invoice is finalized and unpaid. */
export async function belongings(api: Api): Promise<Belongings> {
  const { planId, meterId } = await monthlyPlan(api);
  const [price] = (await created<{ items: { id: string }[] }>(api, '/prices/search', { plan_ids: [planId] })).items;
  const feature = await created(api, '/features', { name: 'Support', type: 'boolean' });
  const entitlement = await created(api, '/entitlements', {
    plan_id: planId,
    feature_id: feature.id,
    feature_type: 'boolean',
    is_enabled: true,
  });
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-01-01T00:00:00Z',
    card: sandboxCardNumber('succeeds'),
  });
  const subscription = await created<{ id: string; latest_invoice: { id: string } }>(api, '/subscriptions', {
    customer_id: customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    collection_method: 'send_invoice',
  });
  const payment = await created(api, '/payments', {
    destination_type: 'INVOICE',
    destination_id: subscription.latest_invoice.id,
    payment_method_type: 'OFFLINE',
    amount: '1',
    currency: 'usd',
    process_payment: false,
  });
  const methods = await api<{ items: { id: string }[] }>('GET', `/customers/${customerId}/payment-methods`);
  return {
    customer: customerId,
    plan: planId,
    price: price?.id ?? '',
    feature: feature.id,
    meter: meterId,
    entitlement: entitlement.id,
    subscription: subscription.id,
    invoice: subscription.latest_invoice.id,
    payment: payment.id,
    paymentMethod: methods.body.items[0]?.id ?? '',
    testClock: clockId,
  };
}

/** How many rows each table of every schema has, as one text. */
export async function rowCounts({ database }: Pick<TestDatabase, 'database'>): Promise<string> {
  return inSqlTransaction(database, systemScope, async (tx) => {
    const tables = await tx.rows<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema in ('public', 'usage', 'sandbox_gateway') and table_name not like 'mikro%'
         and not exists (select from pg_inherits where inhrelid = format('%I.%I', table_schema, table_name)::regclass) order by 1`,
    );
    const counts = tables.map(({ name }) => `select '${name}' as name, count(*) as rows from ${name}`);
    const rows = await tx.rows<{ name: string; rows: string }>(`${counts.join(' union all ')} order by name`);
    return rows.map((row) => `${row.name} ${row.rows}`).join('\n');
  });
}
