import type { FastifyRequest } from 'fastify';
import { customerNow } from '../../db/clock.ts';
import { readWholeSubscription } from '../../db/stores/subscription/subscription-plain.ts';
import {
  latestInvoice,
  planOf,
  type SubscriptionContent,
  subscriptionOwner,
} from '../../db/stores/subscription/subscription-read.ts';
import { inReadTransaction, type Transaction } from '../../db/transaction.ts';
import { viewInvoice } from '../schemas/invoice.ts';
import { viewPlanRecord } from '../schemas/plan-record.ts';
import { viewSubscription } from '../schemas/subscription-view.ts';

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
