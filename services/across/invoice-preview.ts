import type { Preview } from '../../billing/line/binding-preview.ts';
import type { ChargeLine, ChargePeriod, ChargeReason } from '../../billing/line/charge.ts';
import { decimal } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { refuseChild } from '../../billing/subscription/hierarchy.ts';
import {
  type ClosedPeriod,
  closePeriod,
  endTrial,
  endTrialInGroup,
  type Period,
} from '../../billing/subscription/subscription.ts';
import { earlier } from '../../billing/time/calendar.ts';
import { customerNow } from '../../db/clock.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { computeCharges } from '../charging/subscription-charge.ts';
import { periodOf } from '../charging/subscription-period.ts';
import { readSubscriptions, type SubscriptionRow } from '../charging/subscription-row.ts';
import { readBillingContext } from '../invoice/draft/billing-context.ts';
import { type BillingReason, type DraftInvoice, draftInvoice } from '../invoice/draft/invoice-draft.ts';
import { promisedDraftLines, watermarkOf } from '../invoice/draft/promised-draft.ts';
import { groupedChildren, mergedLines, termsWithChildren } from '../invoice/draft/subscription-group.ts';
import { childrenRead, heldTo, pricesDigest, promisedPreview, requestDigest } from '../lifecycle/preview-digest.ts';
import { withComingPhases } from '../subscription/phase/subscription-phase-cross.ts';
import type { UsageReader } from '../usage-reader.ts';

/** The invoice to look at: of the current period unless another is named. */
export interface PreviewRequest {
  subscriptionId: string;
  periodStart: string | null;
  periodEnd: string | null;
  /** Leaves out USAGE lines of quantity 0 and amount 0. */
  hideZeroCharges: boolean;
}

/** An invoice that is not stored, and the digest of what it was computed from. */
export interface InvoicePreview {
  draft: DraftInvoice;
  previewDigest: string;
}

type PreviewedPeriod = Pick<PreviewRequest, 'periodStart' | 'periodEnd'>;

/** What an invoice bills and why, before anything is computed. */
interface PreviewedInvoice {
  subscription: SubscriptionRow;
  reason: BillingReason;
  charges: ChargeReason;
  period: Period;
  elapsed: ChargePeriod | null;
  next: ChargePeriod | null;
}

/**
 * The invoice a subscription would get at the end of a period: the arrears and usage of the period, usage up to the customer's
 * present, and what the next period costs in advance; during a trial, what its end brings. The functions are those of the
 * execution, nothing is stored, and what is billed already is not taken off. With the digest of an earlier preview its moment is
 * taken for the present, and other lines or versions throw `version_conflict`. Throws `not_found`, and `validation_error` for a
 * subscription that is not billed any more and for a period that is not inside one billing period.
 * spec: subscriptions-and-invoicing §2.6.1 Preview, §2.15.13; docs: previews.md
 */
export async function previewInvoice(
  tx: ScopedSql,
  request: PreviewRequest,
  readUsage: UsageReader,
  repeated: string | null = null,
): Promise<InvoicePreview> {
  const { environmentId } = tx.scope;
  const row = (await readSubscriptions(tx, environmentId, [request.subscriptionId])).get(request.subscriptionId);
  if (!row) throw missing('subscription', request.subscriptionId, 'subscription_id');
  refuseChild(row, 'previewed');
  const previewed = previewedInvoice(row, request);
  const { subscription, period, reason } = previewed;
  const now = await customerNow(tx, row.customerId);
  const promised = promisedPreview(repeated, now);
  const at = promised?.at ?? now;
  const children = await groupedChildren(tx, environmentId, [row]);
  const merged = children.filter((child) => child.currentPeriodEnd <= row.currentPeriodEnd);
  const invoices = [previewed, ...merged.map((child) => previewedChild(child, row))];
  const requests = invoices.map((one) => ({
    key: one.subscription.id,
    subscription: one.subscription,
    reason: one.charges,
    elapsed: one.elapsed,
    next: one.next,
    usageUntil: earlier(at, period.end),
    withoutBilled: true,
  }));
  const { charges, config, planNames, terms } = await withAllComingPhases(
    tx,
    [row, ...merged],
    period.end,
    async () => ({
      charges: await computeCharges(tx, tx.scope, requests, readUsage),
      ...(await readBillingContext(tx, environmentId, [row, ...merged])),
    }),
  );
  const planName = ({ planId }: SubscriptionRow) => planNames.get(planId) ?? '';
  const lines = [
    ...(charges.get(row.id) ?? []),
    ...merged.flatMap((child) => mergedLines(child, planName(child), charges.get(child.id) ?? [])),
  ];
  const draft = draftInvoice(tx.scope, {
    subscription,
    planName: planName(row),
    reason,
    period,
    lines: request.hideZeroCharges ? lines.filter((line) => !isZeroUsage(line)) : lines,
    billingSequence: 0,
    config,
    terms: termsWithChildren(terms, row.id, merged),
    at,
  });
  const present: Preview = {
    at,
    read: {
      subscription: row.version,
      prices: await pricesDigest(tx, environmentId, [row.id, ...children.map(({ id }) => id)]),
      ...childrenRead(children),
    },
    usage: watermarkOf(lines),
    request: requestDigest(request),
    lines: promisedDraftLines(draft),
  };
  const previewDigest = heldTo(promised, present);
  return {
    draft: { ...draft, row: { ...draft.row, invoiceStatus: 'DRAFT', paymentStatus: 'PENDING' } },
    previewDigest,
  };
}

/** Result of `look` once the coming phases of each subscription have begun and ended. */
function withAllComingPhases<T>(
  tx: ScopedSql,
  [first, ...others]: readonly SubscriptionRow[],
  until: string,
  look: () => Promise<T>,
): Promise<T> {
  if (!first) return look();
  return withComingPhases(tx, tx.scope, first, until, () => withAllComingPhases(tx, others, until, look));
}

const currentPeriod = { periodStart: null, periodEnd: null };

function previewedInvoice(row: SubscriptionRow, request: PreviewedPeriod): PreviewedInvoice {
  if (row.status === 'draft' || row.status === 'cancelled') {
    throw refuse(
      'validation_error',
      `subscription_id names a subscription that is ${row.status} and gets no invoice; preview one that is active, trialing, incomplete or paused`,
      { fields: { subscription_id: `is ${row.status}` } },
    );
  }
  return row.status === 'trialing' ? afterTrial(row, request) : ofPeriod(row, request);
}

function afterTrial(row: SubscriptionRow, request: PreviewedPeriod): PreviewedInvoice {
  const field = request.periodStart !== null ? 'period_start' : 'period_end';
  if (request.periodStart !== null || request.periodEnd !== null) {
    throw badField(field, 'must be left out during a trial: the preview shows the invoice at its end');
  }
  return trialEnded(row, endTrial(row, 'active'));
}

/** Charges that a child brings to the invoice of its parent; one that comes out of its trial before is charged like the others then. spec: §2.13 */
function previewedChild(child: SubscriptionRow, parent: SubscriptionRow): PreviewedInvoice {
  if (child.status !== 'trialing') return previewedInvoice(child, currentPeriod);
  const joins = parent.status !== 'trialing' && child.currentPeriodEnd < parent.currentPeriodEnd;
  if (joins) {
    const closed = endTrialInGroup(child, parent);
    return closed.next === null ? trialEnded(child, closed) : ofPeriod({ ...child, ...closed.state }, currentPeriod);
  }
  const { state } = parent.status === 'trialing' ? endTrial(parent, 'active') : closePeriod(parent);
  return trialEnded(child, endTrialInGroup({ ...child, currentPeriodEnd: parent.currentPeriodEnd }, state));
}

function trialEnded(row: SubscriptionRow, { state, elapsed, next }: ClosedPeriod): PreviewedInvoice {
  const subscription = { ...row, ...state };
  return {
    subscription,
    reason: 'SUBSCRIPTION_TRIAL_END',
    charges: next === null ? 'last' : 'opening',
    period: next ?? elapsed,
    elapsed: null,
    next: next && periodOf(subscription, next.start, next.end),
  };
}

function ofPeriod(row: SubscriptionRow, request: PreviewedPeriod): PreviewedInvoice {
  const start = request.periodStart ?? row.currentPeriodStart;
  if (start < row.startDate)
    throw badField('period_start', `must not be before ${row.startDate}, the subscription's start`);
  const boundary =
    start === row.currentPeriodStart ? row.currentPeriodEnd : periodOf(row, start, row.endDate ?? maxInstant).end;
  const end = request.periodEnd ?? boundary;
  if (end <= start) throw badField('period_end', `must be after period_start, ${start}`);
  if (end > boundary) {
    throw badField('period_end', `must not be after ${boundary}, the end of the billing period that holds ${start}`);
  }
  const { state, next } = closePeriod({ ...row, currentPeriodStart: start, currentPeriodEnd: boundary });
  return {
    subscription: row,
    reason: 'SUBSCRIPTION_CYCLE',
    charges: next === null ? 'last' : 'preview',
    period: { start, end },
    elapsed: periodOf(row, start, end),
    next: next && periodOf({ ...row, ...state }, next.start, next.end),
  };
}

/** Later than every boundary there can be. */
const maxInstant = '9999-12-31T23:59:59.999Z';

function isZeroUsage(line: ChargeLine): boolean {
  return line.priceType === 'USAGE' && decimal(line.quantity).isZero() && decimal(line.amount).isZero();
}
