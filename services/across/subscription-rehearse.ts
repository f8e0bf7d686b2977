import type { AgendaItem } from '../../billing/agenda.ts';
import { refuseChild } from '../../billing/subscription/hierarchy.ts';
import { customerNow } from '../../db/clock.ts';
import { Customer } from '../../db/entities/customer/customer.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { readSubscriptions, type SubscriptionRow } from '../charging/subscription-row.ts';
import {
  type AttendedSubscription,
  one,
  refreshIncomplete,
  refreshSubscriptions,
} from '../charging/subscription-snapshot.ts';
import { findInvoices, type InvoiceContent } from '../invoice/read/invoice-read.ts';
import { recordPaymentOutcome } from '../payment/payment-outcome.ts';
import type { SubscriptionMoment } from '../subscription/period/subscription-moment.ts';
import { refreshStep, type SubscriptionStep, subscriptionSteps } from '../subscription/period/subscription-steps.ts';
import { subscriptionOwner } from '../subscription/read/subscription-read.ts';
import type { UsageReader } from '../usage-reader.ts';

export interface RehearsalRequest {
  subscriptionId: string;
  until: string;
}

/** What time would bring to a subscription. */
export interface Rehearsal {
  from: string;
  /** The subscription as it would stand. */
  subscription: SubscriptionRow;
  /** What would be performed, in order, with the invoice it is about. */
  steps: (AgendaItem & { invoiceIds: string[] })[];
  /** Invoices that would come, and drafts that would be issued; in the order in which they are made. */
  invoices: InvoiceContent[];
}

/** A year of daily periods; with its notice, invoice and charge a period takes four steps. */
const maxSteps = 1_600;
const maxYears = 5;
const yearMs = 366 * 24 * 60 * 60 * 1000;

/**
 * Lets time come to a subscription until `until`: every entry of its agenda is performed in order by the functions its
 * workflow performs, on its own catalogue, balances and usage, and every charge of a card succeeds. It writes what they write:
 * the caller takes the transaction back. Attempts to collect an unpaid invoice, which its own workflow makes, are left out.
 * Throws `not_found`, and `validation_error` for an `until` that is not to come or too far. Own operation
 */
export async function rehearseSubscription(
  tx: Transaction,
  { subscriptionId, until }: RehearsalRequest,
  readUsage: UsageReader,
): Promise<Rehearsal> {
  const { environmentId } = tx.scope;
  const row = (await readSubscriptions(tx, environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) throw missing('subscription', subscriptionId);
  refuseChild(row, 'rehearsed');
  const from = await customerNow(tx, row.customerId);
  refuseTime(from, until);
  const known = await invoiceIds(tx, subscriptionId, ['FINALIZED', 'VOIDED', 'SKIPPED']);
  const steps: Rehearsal['steps'] = [];
  let attended = one(await refreshSubscriptions(tx, environmentId, [subscriptionId]));
  for (let due = nextDue(attended, until); due; due = nextDue(attended, until)) {
    if (steps.length === maxSteps)
      throw badField('until', `brings more than ${maxSteps} steps; rehearse a shorter time`);
    const before = new Set(await invoiceIds(tx, subscriptionId));
    attended = await perform(tx, { subscriptionId, at: due.at, ref: due.ref }, due.kind, readUsage);
    const made = (await invoiceIds(tx, subscriptionId)).filter((id) => !before.has(id));
    steps.push({ ...due, invoiceIds: due.kind === 'finalizeInvoice' ? [due.ref] : made });
  }
  const ids = (await invoiceIds(tx, subscriptionId)).filter((id) => !known.includes(id));
  const contents = new Map(
    (await findInvoices(tx, ids, { lines: true, customer: false })).map((content) => [content.row.id, content]),
  );
  return { from, subscription: attended.row, steps, invoices: ids.flatMap((id) => contents.get(id) ?? []) };
}

/** By which external id usage of a subscription's customer is sent. Throws `not_found`. */
export async function externalCustomerOf(tx: Transaction, subscriptionId: string): Promise<string> {
  const { customerId } = await subscriptionOwner(tx, subscriptionId);
  const { externalId } = await tx.em.findOneOrFail(Customer, { id: customerId, environmentId: tx.scope.environmentId });
  return externalId;
}

function refuseTime(from: string, until: string): void {
  if (until <= from) throw badField('until', `must be after the customer's present, ${from}`);
  if (Date.parse(until) - Date.parse(from) > maxYears * yearMs) {
    throw badField('until', `must lie within ${maxYears} years of the customer's present, ${from}`);
  }
}

function nextDue({ agenda }: AttendedSubscription, until: string): AgendaItem | null {
  const [first] = agenda;
  return first && first.at <= until ? first : null;
}

async function perform(
  tx: Transaction,
  moment: SubscriptionMoment,
  kind: string,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  if (kind === 'chargePayment') {
    const outcome = {
      status: 'succeeded',
      gatewayPaymentId: null,
      gatewayMetadata: {},
      reason: null,
      actionUrl: null,
    } as const;
    const recorded = await recordPaymentOutcome(tx, { paymentId: moment.ref, outcome, at: moment.at });
    await refreshIncomplete(tx, tx.scope.environmentId, [recorded]);
    return one(await refreshStep(tx, tx.scope, [moment], readUsage));
  }
  const step = (subscriptionSteps as Record<string, SubscriptionStep>)[kind];
  if (!step) throw new Error(`a rehearsal has no step ${kind}`);
  return one(await step(tx, tx.scope, [moment], readUsage));
}

async function invoiceIds(
  tx: Transaction,
  subscriptionId: string,
  statuses: string[] | null = null,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and subscription_id = $2 and ($3::text[] is null or invoice_status = any($3))
     order by billing_sequence, id`,
    [tx.scope.environmentId, subscriptionId, statuses],
  );
  return rows.map(({ id }) => id);
}
