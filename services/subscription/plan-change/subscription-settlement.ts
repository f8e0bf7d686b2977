import type { ProrationBehavior } from '../../../billing/line/proration.ts';
import { decimal } from '../../../billing/money/money.ts';
import { cadenceRelation } from '../../../billing/time/cadence.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { currentPeriodOf } from '../../charging/subscription-period.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { type DraftInvoice, draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import type { PlanPrice } from '../item/subscription-item.ts';

/** Line items that begin within the current period. */
export interface Addition {
  row: SubscriptionRow;
  items: readonly { id: string; price: PlanPrice }[];
  /** Since when they are in force. */
  from: string;
  at: string;
  behavior: ProrationBehavior;
  /** Names the change: asked again it is billed once. */
  changeKey: string;
}

/**
 * Bills at once what new line items charge in advance for the rest of the current period: each its cost × the remaining
 * share, one-time charges and own periods of a longer cadence whole. With `none` only the latter, because no later boundary
 * would charge them. The invoice is issued; nothing to charge makes none.
 * spec: subscriptions-and-invoicing §2.8.2 add_item, §2.8.3, §2.9.6
 */
export async function billAddition(
  sql: Sql,
  scope: Scope,
  addition: Addition,
  readUsage: UsageReader,
): Promise<{ row: SubscriptionRow; invoiceId: string | null }> {
  const { row, at } = addition;
  const drafted = await draftAddition(sql, scope, addition, readUsage);
  if (drafted === null) return { row, invoiceId: null };
  const { billed, draft } = drafted;
  await insertDrafts(sql, [draft]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, at));
  await issueInvoices(sql, scope, [{ invoiceId: draft.row.id, at }], null);
  return { row: billed, invoiceId: draft.row.id };
}

/** The invoice of what new line items charge at once, not written, and the subscription with its sequence; null for nothing to charge. */
export async function draftAddition(
  sql: Sql,
  scope: Scope,
  addition: Addition,
  readUsage: UsageReader,
): Promise<{ billed: SubscriptionRow; draft: DraftInvoice } | null> {
  const { row, at, from } = addition;
  const lineItemIds = chargedNow(addition);
  if (lineItemIds.size === 0) return null;
  const period = currentPeriodOf(row);
  const request = {
    key: row.id,
    subscription: row,
    reason: 'cycle' as const,
    elapsed: period,
    next: period,
    lineItemIds,
  };
  const lines = (await computeCharges(sql, scope, [request], readUsage)).get(row.id) ?? [];
  if (lines.every((line) => decimal(line.amount).isZero())) return null;
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row]);
  const billed = { ...row, billingSequence: row.billingSequence + 1 };
  const draft = draftInvoice(scope, {
    subscription: billed,
    planName: planNames.get(row.planId) ?? '',
    reason: 'SUBSCRIPTION_UPDATE',
    period: { start: from, end: period.end },
    lines,
    billingSequence: billed.billingSequence,
    config,
    terms: terms.get(row.id),
    at,
    changeKey: addition.changeKey,
  });
  return { billed, draft };
}

function chargedNow({ row, items, behavior }: Addition): ReadonlySet<string> {
  const charged = items.filter(({ price }) => {
    if (price.type !== 'FIXED' || price.invoiceCadence !== 'ADVANCE') return false;
    return behavior === 'create_prorations' || cadenceRelation(price, row) === 'longer';
  });
  return new Set(charged.map(({ id }) => id));
}
