import type { z } from 'zod';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import { creditMember } from '../../../billing/subscription/replacement.ts';
import { daysBetween } from '../../../billing/time/calendar-days.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { findInvoice, type InvoiceContent } from '../../../services/invoice/read/invoice-read.ts';
import type { ChangeOutcome } from '../../../services/subscription/plan-change/subscription-change.ts';
import { subscriptionStatusOnWire } from '../../../services/subscription/read/subscription-event.ts';
import { findSubscription, type SubscriptionContent } from '../../../services/subscription/read/subscription-read.ts';
import { viewInvoice } from '../../invoice/invoice.schema.ts';
import { viewSubscription } from '../subscription-view.schema.ts';
import { viewChangedResources } from './changed-resources.schema.ts';
import type { planChangeAnswer, replacementAnswer, replacementPreview } from './plan-change.schema.ts';

type Outcome = ChangeOutcome & { effectiveAt: string };

/** What the record of a change of plan tells besides. */
interface Detail {
  change_type: string | null;
  from_plan_id: string;
  to_plan_id: string;
  entity_changes?: { entity_type: string; entity_id: string; reference_id: string; behaviour: string }[];
  schedule_id?: string;
  scheduled_at?: string;
  successor_id?: string;
  credit?: string;
  period?: { start: string; end: string };
  metadata?: Record<string, string>;
}

/** The answer of a change of plan in place. spec: subscriptions-and-invoicing §1.7 v2 */
export async function viewPlanChange(
  tx: Transaction,
  id: string,
  outcome: Outcome,
  status: 'preview' | 'issued',
): Promise<z.output<typeof planChangeAnswer>> {
  const detail = outcome.detail as unknown as Detail;
  const changed = viewSubscription(await findSubscription(tx, id));
  return {
    subscription: changed,
    changed_resources: await viewChangedResources(tx, id, outcome, status),
    change_type: detail.change_type,
    effective_at: outcome.effectiveAt,
    from_plan: await viewPlan(tx, detail.from_plan_id),
    to_plan: await viewPlan(tx, detail.to_plan_id),
    entity_changes: detail.entity_changes ?? [],
    is_scheduled: detail.schedule_id !== undefined,
    schedule_id: detail.schedule_id ?? null,
    scheduled_at: detail.scheduled_at ?? null,
    warnings: changed.warnings.map(({ message }) => message),
    metadata: detail.metadata ?? {},
    preview_digest: outcome.previewDigest ?? null,
  };
}

/** The answer of a replacement. spec: subscriptions-and-invoicing §1.7 v1 execute */
export async function viewReplacement(
  tx: Transaction,
  id: string,
  outcome: Outcome,
): Promise<z.output<typeof replacementAnswer>> {
  const detail = outcome.detail as unknown as Detail;
  const old = await findSubscription(tx, id);
  const successor = detail.successor_id ? await findSubscription(tx, detail.successor_id) : null;
  const opening = await openingOf(tx, outcome, detail);
  return {
    old_subscription: viewSummary(old),
    new_subscription: successor && viewSummary(successor),
    change_type: detail.change_type,
    effective_date: outcome.effectiveAt,
    invoice: opening && viewInvoice(opening),
    warnings: successor ? viewSubscription(successor).warnings.map(({ message }) => message) : [],
    credit_grants: [],
    proration_applied: successor && viewProration(old, opening, detail, outcome),
    is_scheduled: detail.schedule_id !== undefined,
    schedule_id: detail.schedule_id ?? null,
    scheduled_at: detail.scheduled_at ?? null,
    metadata: detail.metadata ?? {},
  };
}

/** The answer of a replacement's preview. spec: subscriptions-and-invoicing §1.7 v1 preview */
export async function viewReplacementPreview(
  tx: Transaction,
  id: string,
  outcome: Outcome,
): Promise<z.output<typeof replacementPreview>> {
  const detail = outcome.detail as unknown as Detail;
  const old = await findSubscription(tx, id);
  const succeeding = detail.successor_id ? await findSubscription(tx, detail.successor_id) : null;
  const successor = succeeding?.row ?? null;
  const told = succeeding ? viewSubscription(succeeding).warnings.map(({ message }) => message) : [];
  const opening = await openingOf(tx, outcome, detail);
  const scheduled = detail.scheduled_at ? [`the change takes place at ${detail.scheduled_at}`] : [];
  return {
    subscription_id: id,
    current_plan: await viewPlan(tx, detail.from_plan_id),
    target_plan: await viewPlan(tx, detail.to_plan_id),
    change_type: detail.change_type,
    proration_details: successor && viewProration(old, opening, detail, outcome),
    next_invoice_preview: opening && viewNextInvoice(opening),
    new_billing_cycle: successor && {
      billing_cadence: successor.billingCadence,
      billing_period: successor.billingPeriod,
      billing_period_count: successor.billingPeriodCount,
      billing_anchor: successor.billingAnchor,
      period_start: successor.currentPeriodStart,
      period_end: successor.currentPeriodEnd,
    },
    effective_date: outcome.effectiveAt,
    warnings: [...scheduled, ...told],
    metadata: detail.metadata ?? {},
    preview_digest: outcome.previewDigest ?? null,
  };
}

async function viewPlan(tx: Transaction, id: string) {
  const plan = await tx.em.findOne(Plan, { id, environmentId: tx.scope.environmentId });
  return plan && { id, name: plan.name, lookup_key: plan.lookupKey ?? '', description: plan.description ?? '' };
}

function viewSummary({ row }: SubscriptionContent) {
  return {
    id: row.id,
    plan_id: row.planId,
    status: subscriptionStatusOnWire(row.subscriptionStatus),
    billing_anchor: row.billingAnchor,
    current_period_start: row.currentPeriodStart,
    current_period_end: row.currentPeriodEnd,
    created_at: row.createdAt,
    archived_at: row.cancelledAt ?? null,
  };
}

async function openingOf(tx: Transaction, outcome: Outcome, detail: Detail): Promise<InvoiceContent | null> {
  for (const id of outcome.invoiceIds) {
    const content = await findInvoice(tx, id, { lines: true, customer: false });
    if (content.row.subscriptionId === detail.successor_id) return content;
  }
  return null;
}

function viewProration({ row }: SubscriptionContent, opening: InvoiceContent | null, detail: Detail, outcome: Outcome) {
  const period = detail.period ?? { start: row.currentPeriodStart, end: row.currentPeriodEnd };
  const lines = opening ? viewInvoice(opening).line_items : [];
  const charge = lines.reduce(
    (all, line) => all.plus(line.amount).plus(line.metadata[creditMember] ?? '0'),
    decimal('0'),
  );
  const credit = decimal(detail.credit ?? '0');
  return {
    credit_amount: decimalString(credit),
    credit_description: 'Unused time of the old plan',
    charge_amount: decimalString(charge),
    charge_description: 'First period of the new plan',
    net_amount: decimalString(charge.minus(credit)),
    currency: row.currency,
    current_period_start: period.start,
    current_period_end: period.end,
    proration_date: outcome.effectiveAt,
    ...daysBetween(period, outcome.effectiveAt),
  };
}

function viewNextInvoice(opening: InvoiceContent) {
  const view = viewInvoice(opening);
  return {
    subtotal: view.subtotal,
    tax_amount: view.total_tax,
    total: view.total,
    currency: view.currency,
    due_date: view.due_date,
    line_items: view.line_items.map((line) => ({
      description: line.display_name,
      amount: line.amount,
      quantity: line.quantity,
      unit_price: decimal(line.quantity).isZero()
        ? '0'
        : decimalString(decimal(line.amount).dividedBy(line.quantity).toDecimalPlaces(15)),
      period_start: line.period_start,
      period_end: line.period_end,
      is_proration: creditMember in line.metadata || line.metadata.is_prorated === 'true',
    })),
  };
}
