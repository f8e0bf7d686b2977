import type { NewInvoice } from '../../../billing/invoice/invoice-request.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { checkNamedByLines } from './invoice-own-line.ts';

/** What is known of the ones an invoice is for, and what its environment says of invoices. */
export interface InvoiceFacts {
  customerId: string;
  testClockId: string | null;
  /** Null for one of no subscription. */
  subscription: {
    id: string;
    customerId: string;
    planId: string;
    paymentTerms: string | null;
    collectionMethod: string;
  } | null;
  /** The next of the subscription for its own invoices; null for others. */
  billingSequence: number | null;
  config: Record<string, unknown> | null;
}

interface FactsRow {
  status: string;
  test_clock_id: string | null;
  config: Record<string, unknown> | null;
  [column: string]: unknown;
}

interface SubscriptionFacts {
  id: string;
  customer_id: string;
  invoicing_customer_id: string;
  plan_id: string;
  currency: string;
  payment_terms: string | null;
  collection_method: string;
  [column: string]: unknown;
}

/**
 * Reads and locks what a new invoice names. Throws `not_found` for a customer who is not published and for a subscription, price,
 * plan, meter or line item that is not there, `validation_error` for a subscription of somebody else or of another currency and
 * for a line item of another subscription.
 * spec: subscriptions-and-invoicing §1.11.1, error 3
 */
export async function findInvoiceFacts(sql: Sql, scope: Scope, request: NewInvoice): Promise<InvoiceFacts> {
  const [customer] = await sql.rows<FactsRow>(
    `select c.status, c.test_clock_id,
       (select value from setting where environment_id = $1 and key = 'invoice_config' and status = 'published') as config
     from customer c where c.environment_id = $1 and c.id = $2 for share of c`,
    [scope.environmentId, request.customerId],
  );
  if (customer?.status !== 'published') throw missing('customer', request.customerId, 'customer_id');
  const subscription = request.subscriptionId === null ? null : await subscriptionFacts(sql, scope, request);
  await checkNamedByLines(sql, scope, request, request.lines);
  return {
    customerId: request.customerId,
    testClockId: customer.test_clock_id,
    subscription: subscription && {
      id: subscription.id,
      customerId: subscription.customer_id,
      planId: subscription.plan_id,
      paymentTerms: subscription.payment_terms,
      collectionMethod: subscription.collection_method,
    },
    billingSequence: subscription && (await takeSequence(sql, scope, subscription.id)),
    config: customer.config,
  };
}

async function subscriptionFacts(sql: Sql, scope: Scope, request: NewInvoice): Promise<SubscriptionFacts> {
  const [row] = await sql.rows<SubscriptionFacts>(
    `select id, customer_id, invoicing_customer_id, plan_id, currency, payment_terms, collection_method from subscription
     where environment_id = $1 and id = $2 for update`,
    [scope.environmentId, request.subscriptionId],
  );
  if (!row) throw missing('subscription', request.subscriptionId ?? '', 'subscription_id');
  if (![row.customer_id, row.invoicing_customer_id].includes(request.customerId)) {
    throw badField('subscription_id', `names a subscription of another customer, ${row.customer_id}`);
  }
  if (row.currency !== request.currency) throw badField('currency', `must be ${row.currency}, the subscription's`);
  return row;
}

async function takeSequence(sql: Sql, scope: Scope, subscriptionId: string): Promise<number> {
  const [row] = await sql.rows<{ billing_sequence: number }>(
    `update subscription set billing_sequence = billing_sequence + 1
     where environment_id = $1 and id = $2 returning billing_sequence`,
    [scope.environmentId, subscriptionId],
  );
  return Number(row?.billing_sequence);
}
