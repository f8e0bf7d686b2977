import type { FastifyRequest } from 'fastify';
import { customerNow } from '../../db/clock.ts';
import { inReadTransaction, type Transaction } from '../../db/transaction.ts';
import { readWholeSubscription } from '../../services/subscription/read/subscription-plain.ts';
import {
  latestInvoice,
  planOf,
  type SubscriptionContent,
  subscriptionOwner,
} from '../../services/subscription/read/subscription-read.ts';
import { viewPlanRecord } from '../catalogue/plan-record.schema.ts';
import { viewInvoice } from '../invoice/invoice.schema.ts';
import { viewSubscription } from './subscription-view.schema.ts';

/** A subscription as one that is read alone shows it: with its plan and its latest invoice. spec: subscriptions-and-invoicing §1.3 */
export async function viewWhole(tx: Transaction, content: SubscriptionContent) {
  const [invoice, plan] = await Promise.all([latestInvoice(tx, content.row.id), planOf(tx, content.row)]);
  return viewSubscription(content, {
    latestInvoice: invoice && viewInvoice(invoice),
    plan: plan && viewPlanRecord(plan),
  });
}

/** The view of `viewWhole` of a subscription by its id, for what is asked all the time. Throws `not_found`. */
export async function readWhole({ server, scope }: Pick<FastifyRequest, 'server' | 'scope'>, id: string) {
  const read = await inReadTransaction(server.dependencies.database, scope, (tx) => readWholeSubscription(tx, id));
  return viewSubscription(read.content, {
    latestInvoice: read.latestInvoice && viewInvoice(read.latestInvoice),
    plan: read.plan && viewPlanRecord(read.plan),
  });
}

/** The subscription as a command's object, on its customer's clock. */
export async function objectOf(tx: Transaction, id: string) {
  const { customerId, testClockId, metadata } = await subscriptionOwner(tx, id);
  return {
    kind: 'subscription' as const,
    id,
    customerId,
    testClockId,
    metadata,
    at: await customerNow(tx, customerId),
  };
}
