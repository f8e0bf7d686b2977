import { effectiveThreshold, thresholdOutcome } from '../../../billing/line/intermediate-invoice.ts';
import { type Decimal, decimal, decimalString, greatest, sum, zero } from '../../../billing/money/money.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { ChargeRequest } from '../../charging/charge-request.ts';
import { type BilledLine, computeCharges } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import type { PlanPrice } from '../item/subscription-item.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

/**
 * Throws `validation_error` for a threshold on a plan that charges more than usage, or on a subscription that is part of a
 * hierarchy. None and 0, which switches a plan's off, fit every subscription. spec: subscriptions-and-invoicing §1.2, error 20
 */
export function checkThreshold(
  threshold: string | null,
  prices: readonly Pick<PlanPrice, 'id' | 'type'>[],
  subscriptionType = 'standalone',
): void {
  if (threshold === null || decimal(threshold).isZero()) return;
  if (subscriptionType !== 'standalone') {
    throw badField(
      'auto_invoice_threshold',
      `needs a standalone subscription; leave it out of one that is ${subscriptionType}`,
    );
  }
  const fixed = prices.find((price) => price.type !== 'USAGE');
  if (fixed) {
    throw badField(
      'auto_invoice_threshold',
      `needs a plan that charges usage alone, and price ${fixed.id} is FIXED; leave it out or choose another plan`,
    );
  }
}

/** A subscription with a threshold in force, and the present of its customer. */
export interface WatchedSubscription {
  subscriptionId: string;
  customerId: string;
  testClockId: string | null;
}

const watchedText = `
select s.id, s.customer_id, s.test_clock_id from subscription s join plan p on p.id = s.plan_id and p.environment_id = s.environment_id
where s.environment_id = $1 and s.customer_id = any($2) and s.subscription_status = 'active' and s.status = 'published'
  and coalesce(s.auto_invoice_threshold, p.auto_invoice_threshold) > 0
order by s.id`;

/** The active subscriptions of customers that have a threshold. spec: subscriptions-and-invoicing §2.14.1 */
export async function watchedSubscriptions(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<WatchedSubscription[]> {
  const rows = await sql.rows<{ id: string; customer_id: string; test_clock_id: string | null }>(watchedText, [
    scope.environmentId,
    customerIds,
  ]);
  return rows.map((row) => ({
    subscriptionId: row.id,
    customerId: row.customer_id,
    testClockId: row.test_clock_id,
  }));
}

/** A threshold in force, and the request for what its invoice would bill. */
export interface ThresholdRequest {
  threshold: string;
  request: ChargeRequest;
}

/**
 * Requests for what the invoices of subscriptions' thresholds would bill at an instant; without those that have no threshold in force
 * then. A request has the key `threshold <subscription id>`. spec: subscriptions-and-invoicing §2.14.1
 */
export async function thresholdRequests(
  sql: Sql,
  scope: Scope,
  rows: readonly SubscriptionRow[],
  at: string,
): Promise<ThresholdRequest[]> {
  const requests: ThresholdRequest[] = [];
  for (const row of rows) {
    if (row.status !== 'active' || at <= row.currentPeriodStart || at >= row.currentPeriodEnd) continue;
    const threshold = effectiveThreshold(row.autoInvoiceThreshold, await thresholdOfPlan(sql, scope, row.planId));
    if (threshold === null || decimal(threshold).lte(0)) continue;
    const elapsed = { ...periodOf(row, row.currentPeriodStart, row.currentPeriodEnd), end: at };
    const key = `threshold ${row.id}`;
    requests.push({ threshold, request: { key, subscription: row, reason: 'threshold', elapsed, next: null } });
  }
  return requests;
}

/** Rest of a threshold behind the lines of its request, 0 where they reach it. */
export function restOfThreshold({ threshold }: ThresholdRequest, lines: readonly BilledLine[]): string {
  return decimalString(greatest(decimal(threshold).minus(costOf(lines)), zero));
}

/**
 * Invoices the usage of the current period until `at` when it has reached the threshold: finalized and collected at once, and
 * the period goes on from there. Under the lock of the row it is looked at again, so one crossing brings one invoice; asked in
 * vain it changes nothing. spec: subscriptions-and-invoicing §2.14.1
 */
export async function invoiceThreshold(
  sql: Sql,
  scope: Scope,
  request: { subscriptionId: string; at: string },
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const { subscriptionId, at } = request;
  const before = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!before) throw new Error(`subscription ${subscriptionId} does not exist`);
  const crossing = await measureThreshold(sql, scope, before, at, readUsage);
  if (!crossing?.isReached) return one(await refreshAgendas(sql, scope.environmentId, [before]));
  const row: SubscriptionRow = {
    ...before,
    currentPeriodStart: at,
    billingSequence: before.billingSequence + 1,
    version: before.version + 1,
  };
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row]);
  const period = { start: before.currentPeriodStart, end: at };
  const draft = draftInvoice(scope, {
    subscription: row,
    planName: planNames.get(row.planId) ?? '',
    reason: 'AUTO_INVOICE_THRESHOLD',
    period,
    lines: crossing.lines,
    billingSequence: row.billingSequence,
    config,
    terms: terms.get(row.id),
    at,
  });
  await insertDrafts(sql, [draft]);
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [
    ...invoiceEvents('invoice.update', draft.row.id, at),
    subscriptionEvent('subscription.updated', row, at),
  ]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'usage invoiced',
      version: row.version,
      occurredAt: at,
      detail: { period_start: period.start, period_end: at, threshold: crossing.threshold, invoice_id: draft.row.id },
    },
  ]);
  await issueInvoices(sql, scope, [{ invoiceId: draft.row.id, at }], null);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}

/** What an intermediate invoice would bill and whether it is due; null where no threshold is in force. */
async function measureThreshold(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  at: string,
  readUsage: UsageReader,
): Promise<{ threshold: string; lines: BilledLine[]; isReached: boolean } | null> {
  const [asked] = await thresholdRequests(sql, scope, [row], at);
  if (!asked) return null;
  const { threshold, request } = asked;
  const lines = (await computeCharges(sql, scope, [request], readUsage)).get(request.key) ?? [];
  const period = { start: row.currentPeriodStart, end: row.currentPeriodEnd };
  const usageAmount = decimalString(costOf(lines));
  const { isReached } = thresholdOutcome({ threshold, usageAmount, period, now: at });
  return { threshold, lines, isReached };
}

function costOf(lines: readonly BilledLine[]): Decimal {
  return sum(lines.map(({ amount }) => decimal(amount)));
}

async function thresholdOfPlan(sql: Sql, scope: Scope, planId: string): Promise<string | null> {
  const [plan] = await sql.rows<{ threshold: string | null }>(
    'select auto_invoice_threshold as threshold from plan where environment_id = $1 and id = $2',
    [scope.environmentId, planId],
  );
  return plan?.threshold ? decimalText(plan.threshold) : null;
}
