import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { InvoiceWallet } from '../../../billing/invoice/invoice-input.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { anyOf, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import { hasPrepaidCredits } from '../terms/invoice-credit.ts';
import { type OwnTermedDraft, readOwnTerms } from '../terms/invoice-own-terms.ts';
import {
  type AppliedRows,
  computeAmounts,
  type InvoiceTerms,
  readInvoiceTerms,
  replaceApplied,
} from '../terms/invoice-terms.ts';
import { childIdsOf, termsWithChildren } from './subscription-group.ts';

/** A draft as its amounts are computed from it. */
export interface DraftRow {
  id: string;
  subscription_id: string | null;
  invoice_status: string;
  invoice_type: string;
  billing_reason: string;
  collection_method: string;
  currency: string;
  adjustment_amount: string;
  amount_paid: string;
  invoice_number: string | null;
  issue_date: string | null;
  due_date: string | null;
  period_start: string | null;
  period_end: string | null;
  subscription_customer_id: string | null;
  plan_id: string | null;
  total_discount: string;
  no_tax_reason: string | null;
  is_manually_edited: boolean;
  customer_id: string;
  has_prepaid_credits: boolean;
  payment_status: string;
  own_terms: OwnTerms | null;
  version: number;
  collection_attempts: number;
  gateway_payment_method_id: string | null;
  config: Record<string, unknown> | null;
  lines: {
    id: string;
    amount: string;
    priceType: 'FIXED' | 'USAGE' | null;
    priceId: string | null;
    subscriptionLineItemId: string | null;
    priceUnitId: string | null;
    periodStart: string | null;
    periodEnd: string | null;
    subscriptionId?: string | null;
    isCarriedCredit?: boolean;
  }[];
  has_carried_credit: boolean;
  [column: string]: unknown;
}

const lockDraftsText = `
select i.id, i.subscription_id, i.invoice_status, i.invoice_type, i.billing_reason, i.collection_method, i.currency, i.adjustment_amount,
  i.amount_paid, i.invoice_number, i.issue_date, i.due_date, i.period_start, i.period_end,
  i.subscription_customer_id, i.total_discount, i.no_tax_reason, i.is_manually_edited, i.version, i.collection_attempts,
  i.customer_id, i.payment_status, i.own_terms, ${hasPrepaidCredits} as has_prepaid_credits,
  (select s.gateway_payment_method_id from subscription s where s.id = i.subscription_id) as gateway_payment_method_id,
  exists (select from carried_credit c where c.environment_id = i.environment_id and c.subscription_id = i.subscription_id) as has_carried_credit,
  (select s.plan_id from subscription s where s.id = i.subscription_id) as plan_id,
  (select value from setting where environment_id = $1 and key = 'invoice_config' and status = 'published') as config,
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'amount', l.amount::text, 'priceType', l.price_type,
    'priceUnitId', l.price_unit_id, 'priceId', l.price_id, 'subscriptionLineItemId', l.subscription_line_item_id, 'subscriptionId', l.subscription_id,
    'periodStart', l.period_start, 'periodEnd', l.period_end, 'isCarriedCredit', l.is_carried_credit) order by l.position, l.id)
    from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = ${anyOf('$2')} order by i.id for update of i`;

/** Locks invoices in the order of their ids and reads what their amounts follow from. */
export function lockDrafts(sql: Sql, scope: Scope, ids: readonly string[]): Promise<DraftRow[]> {
  return sql.rows<DraftRow>(lockDraftsText, [scope.environmentId, ids], 'drafts-locked');
}

/** Columns of a draft that say which terms hold for it. */
type TermedDraft = OwnTermedDraft & { lines: readonly { subscriptionId?: string | null }[] };

/** What changes the amounts of drafts beside their lines, by invoice id. */
export async function termsOfDrafts(
  sql: Sql,
  scope: Scope,
  drafts: readonly TermedDraft[],
): Promise<Map<string, InvoiceTerms | undefined>> {
  const children = await mergedChildren(sql, scope, drafts);
  const bySubscription = await readInvoiceTerms(sql, scope.environmentId, [
    ...drafts.flatMap((draft) => draft.subscription_id ?? []),
    ...children.keys(),
  ]);
  const own = await readOwnTerms(sql, scope.environmentId, drafts, bySubscription);
  return new Map(
    drafts.map((draft) => {
      const merged = childIdsOf(draft).flatMap((id) => children.get(id) ?? []);
      const terms = termsWithChildren(bySubscription, draft.subscription_id ?? '', merged);
      return [draft.id, own.get(draft.id) ?? terms];
    }),
  );
}

async function mergedChildren(
  sql: Sql,
  scope: Scope,
  drafts: readonly TermedDraft[],
): Promise<Map<string, SubscriptionRow>> {
  const ids = drafts.flatMap(childIdsOf);
  return ids.length === 0 ? new Map() : readSubscriptions(sql, scope.environmentId, ids);
}

/** The amounts of a draft from its lines under its terms, through the one pipeline. spec: subscriptions-and-invoicing §2.16 */
export function amountsOfDraft(
  draft: DraftRow,
  at: string,
  scope: Scope,
  terms: InvoiceTerms | undefined,
  wallets: readonly InvoiceWallet[] = [],
): { amounts: InvoiceAmounts; applied: AppliedRows } {
  const { period_start: start, period_end: end } = draft;
  return computeAmounts(
    scope,
    {
      id: draft.id,
      invoiceType: draft.invoice_type,
      currency: draft.currency,
      period: start && end ? { start: instantText(start), end: instantText(end) } : null,
      subscriptionId: draft.subscription_id,
      planId: draft.plan_id ?? '',
      customerId: draft.subscription_customer_id ?? draft.customer_id,
      lines: draft.lines.map((line) => ({
        ...line,
        amount: decimalText(line.amount),
        priceType: line.priceType ?? 'FIXED',
        periodStart: line.periodStart && instantText(line.periodStart),
        periodEnd: line.periodEnd && instantText(line.periodEnd),
      })),
      adjustmentAmount: decimalText(draft.adjustment_amount),
      amountPaid: decimalText(draft.amount_paid),
      wallets,
      at,
    },
    terms,
  );
}

const updateLineAmounts = updateText('invoice_line_item', {
  id: 'text',
  amount: 'numeric',
  lineItemDiscount: 'numeric',
  invoiceLevelDiscount: 'numeric',
  prepaidCreditsApplied: 'numeric',
});

/** A draft with what its lines, coupons and taxes came to. */
export interface ComputedDraft {
  draft: DraftRow;
  lineAmounts: object[];
  applied: AppliedRows;
}

/** Writes what lines, coupons and taxes of locked drafts came to, in place of what they had. */
export async function writeDraftAmounts(sql: Sql, scope: Scope, computed: readonly ComputedDraft[]): Promise<void> {
  const lineAmounts = computed.flatMap((draft) => draft.lineAmounts);
  // A draft without a reason for having no tax has tax rows, one with a discount has coupon rows; they may not hold any more.
  const taxed = computed.filter(({ draft }) => draft.no_tax_reason === null).map(({ draft }) => draft.id);
  const discounted = computed
    .filter(({ draft }) => decimalText(draft.total_discount) !== '0')
    .map(({ draft }) => draft.id);
  await replaceApplied(
    sql,
    scope.environmentId,
    { taxed, discounted },
    computed.map(({ applied }) => applied),
  );
  await writeRows(sql, updateLineAmounts, lineAmounts);
}
