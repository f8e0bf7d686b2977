import type { ChargePeriod, ChargeReason } from '../../../billing/line/charge.ts';
import { closePeriod } from '../../../billing/subscription/subscription.ts';
import { type BillingPeriodInterval, firstPeriod } from '../../../billing/time/calendar.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type BilledLine, computeCharges } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { readBillingContext } from '../draft/billing-context.ts';
import { type BillingReason, type DraftInvoice, draftInvoice } from '../draft/invoice-draft.ts';
import { mergedLines, termsWithChildren } from '../draft/subscription-group.ts';
import { freeLine } from '../draft/trial-line.ts';

/** The members of an invoice's row from which its charges follow. */
export interface RebuildableRow {
  id: string;
  subscription_id: string | null;
  billing_reason: string;
  billing_sequence: number | null;
  period_start: string | null;
  period_end: string | null;
  [column: string]: unknown;
}

/**
 * The invoice of a subscription as it is charged now for the period the invoice stores, not for the subscription's current
 * one. With `keepsId` it is the same invoice, whose lines keep their ids where their charge is still there; without, another.
 * Nothing is written. Throws `not_found` without a subscription. spec: subscriptions-and-invoicing §2.15.2, §2.15.8
 */
export async function rebuildInvoice(
  sql: Sql,
  scope: Scope,
  { row, at, keepsId }: { row: RebuildableRow; at: string; keepsId: boolean },
  readUsage: UsageReader,
): Promise<DraftInvoice> {
  const subscriptionId = row.subscription_id ?? '';
  const subscription = (await readSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!subscription) throw missing('subscription', subscriptionId, 'subscription_id');
  const period = { start: instantText(row.period_start ?? at), end: instantText(row.period_end ?? at) };
  const children = await childrenOn(sql, scope, row);
  const requests = [subscription, ...children].map((one) => {
    const charged = chargedPeriods(one, row.billing_reason, period);
    return { key: one.id, subscription: one, ownInvoiceId: row.id, ...charged };
  });
  const charges = await computeCharges(sql, scope, requests, readUsage);
  const trial = row.billing_reason === 'SUBSCRIPTION_TRIAL_START';
  const context = await readBillingContext(sql, scope.environmentId, [subscription, ...children]);
  const { config, planNames, terms } = context;
  const merged = children.flatMap((child) =>
    mergedLines(child, planNames.get(child.planId) ?? '', charges.get(child.id) ?? []),
  );
  const lines = [...(charges.get(subscription.id) ?? []), ...merged];
  const kept = keepsId ? await lineIds(sql, scope, row.id) : null;
  return draftInvoice(scope, {
    subscription,
    planName: planNames.get(subscription.planId) ?? '',
    reason: row.billing_reason as BillingReason,
    period,
    lines: trial ? lines.map(freeLine) : lines,
    billingSequence: row.billing_sequence ?? 0,
    config,
    terms: termsWithChildren(terms, subscription.id, children),
    at,
    ...(kept ? { existing: { id: row.id, lineId: (line: BilledLine) => kept.get(chargeOf(line)) ?? null } } : {}),
  });
}

/** Subscriptions that are invoiced with this one's, by the lines the invoice has. spec: §2.13 */
async function childrenOn(sql: Sql, scope: Scope, { id, subscription_id }: RebuildableRow): Promise<SubscriptionRow[]> {
  const found = await sql.rows<{ id: string }>(
    `select distinct subscription_id as id from invoice_line_item where environment_id = $1 and invoice_id = $2
       and status = 'published' and subscription_id <> $3 and metadata ? 'child_customer_id' order by 1`,
    [scope.environmentId, id, subscription_id],
  );
  if (found.length === 0) return [];
  const rows = await readSubscriptions(
    sql,
    scope.environmentId,
    found.map((child) => child.id),
  );
  return found.flatMap((child) => rows.get(child.id) ?? []);
}

interface ChargedPeriods {
  reason: ChargeReason;
  elapsed: ChargePeriod | null;
  next: ChargePeriod | null;
}

/** What an invoice of this reason charges: its own period in arrear, or in advance, and for a cycle the one after it. */
function chargedPeriods(row: SubscriptionRow, reason: string, period: { start: string; end: string }): ChargedPeriods {
  const own = wholePeriodOf(row, period);
  switch (reason) {
    case 'SUBSCRIPTION_CREATE':
    case 'SUBSCRIPTION_TRIAL_START':
    case 'SUBSCRIPTION_TRIAL_END':
      return { reason: 'opening', elapsed: null, next: own };
    case 'SUBSCRIPTION_CYCLE': {
      // The trial of a child ends with a period of its parent.
      const opened = row.trialEnd === period.end ? periodOf(row, period.end, row.currentPeriodEnd) : null;
      if (opened) return { reason: 'opening', elapsed: null, next: { ...opened, end: opened.full.end } };
      const then = {
        ...row,
        status: 'active' as const,
        currentPeriodStart: period.start,
        currentPeriodEnd: period.end,
      };
      const { state, next } = closePeriod(then);
      return {
        reason: next === null ? 'last' : 'cycle',
        elapsed: own,
        next: next && periodOf({ ...row, ...state }, next.start, next.end),
      };
    }
    default:
      return { reason: 'closing', elapsed: own, next: null };
  }
}

function wholePeriodOf(row: SubscriptionRow, { start, end }: { start: string; end: string }): BillingPeriodInterval {
  if (start !== row.startDate) return periodOf(row, start, end);
  return firstPeriod({ ...row, anchor: row.billingAnchor, endDate: end });
}

/** The ids of the lines an invoice has, by what they charge. */
async function lineIds(sql: Sql, scope: Scope, invoiceId: string): Promise<Map<string, string>> {
  const rows = await sql.rows<{
    id: string;
    subscription_line_item_id: string | null;
    price_id: string | null;
    period_start: string | null;
  }>(
    `select id, subscription_line_item_id, price_id, period_start from invoice_line_item
     where environment_id = $1 and invoice_id = $2 and status = 'published' and derivation is not null order by position desc`,
    [scope.environmentId, invoiceId],
  );
  return new Map(
    rows.map((row) => [
      chargeOf({
        subscriptionLineItemId: row.subscription_line_item_id ?? '',
        priceId: row.price_id ?? '',
        periodStart: row.period_start === null ? '' : instantText(row.period_start),
      }),
      row.id,
    ]),
  );
}

function chargeOf(line: Pick<BilledLine, 'subscriptionLineItemId' | 'priceId' | 'periodStart'>): string {
  return [line.subscriptionLineItemId, line.priceId, line.periodStart].join(' ');
}
