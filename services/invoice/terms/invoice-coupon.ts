import {
  type CouponLink,
  type CouponRules,
  couponsOfInvoice,
  type DiscountableInvoice,
} from '../../../billing/invoice/coupon.ts';
import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { InvoiceCoupon } from '../../../billing/invoice/invoice-input.ts';
import { newId } from '../../../db/id.ts';
import { anyOf, type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** A coupon of a subscription with the record that is kept beside what it takes off. */
export type SubscriptionCoupon = CouponLink & { snapshot: Record<string, unknown> };

/** What an application row says of its coupon. */
type AppliedCoupon = Pick<SubscriptionCoupon, 'associationId' | 'couponId' | 'type' | 'percentageOff' | 'snapshot'>;

interface LinkRow {
  id: string;
  subscription_id: string;
  subscription_line_item_id: string | null;
  start_date: string;
  end_date: string | null;
  amount_off: string | null;
  percentage_off: string | null;
  redeem_after: string | null;
  redeem_before: string | null;
  coupon: Record<string, unknown>;
  used_by: string[];
  [column: string]: unknown;
}

const linksText = `
select a.id, a.subscription_id, a.subscription_line_item_id, a.start_date, a.end_date, c.amount_off, c.percentage_off, c.redeem_after,
  c.redeem_before, to_jsonb(c) as coupon,
  case when c.cadence = 'once' then array(select distinct p.invoice_id from coupon_application p
    where p.environment_id = $1 and p.coupon_association_id = a.id and p.status = 'published') else '{}' end as used_by
from coupon_association a join coupon c on c.id = a.coupon_id
where a.environment_id = $1 and a.subscription_id = ${anyOf('$2')} and a.status = 'published' and (a.subscription_phase_id is null or exists (
  select from subscription_phase f where f.id = a.subscription_phase_id and f.started_at is not null))`;

/** The coupons that subscriptions redeemed, archived ones too, by subscription id. spec: subscriptions-and-invoicing §2.17.2 */
export async function readSubscriptionCoupons(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionCoupon[]>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await sql.rows<LinkRow>(
    linksText,
    [environmentId, [...new Set(subscriptionIds)]],
    'subscription-coupons',
  );
  const grouped = Map.groupBy(rows, (row) => row.subscription_id);
  return new Map([...grouped].map(([id, links]) => [id, links.map(linkOf)]));
}

function linkOf(row: LinkRow): SubscriptionCoupon {
  const snapshot: Record<string, unknown> = {
    ...row.coupon,
    amount_off: row.amount_off === null ? null : decimalText(row.amount_off),
    percentage_off: row.percentage_off === null ? null : decimalText(row.percentage_off),
    redeem_after: row.redeem_after === null ? null : instantText(row.redeem_after),
    redeem_before: row.redeem_before === null ? null : instantText(row.redeem_before),
    created_at: instantText(String(row.coupon.created_at)),
    updated_at: instantText(String(row.coupon.updated_at)),
  };
  return {
    associationId: row.id,
    couponId: String(snapshot.id),
    type: snapshot.type as CouponLink['type'],
    cadence: snapshot.cadence as CouponLink['cadence'],
    amountOff: snapshot.amount_off as string | null,
    percentageOff: snapshot.percentage_off as string | null,
    currency: snapshot.currency as string | null,
    rules: couponRules(snapshot.rules as Record<string, unknown> | null),
    start: instantText(row.start_date),
    end: row.end_date === null ? null : instantText(row.end_date),
    subscriptionLineItemId: row.subscription_line_item_id,
    usedBy: row.used_by,
    snapshot,
  };
}

/** The rules that are known; their shapes were checked when the coupon was made. spec: subscriptions-and-invoicing §2.17.4 */
export function couponRules(rules: Record<string, unknown> | null): CouponRules {
  return {
    minSubtotal: (rules?.min_subtotal as string | undefined) ?? null,
    planIds: (rules?.plan_ids as string[] | undefined) ?? null,
    priceIds: (rules?.price_ids as string[] | undefined) ?? null,
    customerIds: (rules?.customer_ids as string[] | undefined) ?? null,
  };
}

/** The coupons of one invoice as the pipeline takes them; a one-off invoice has none. */
export function couponInput(
  links: readonly SubscriptionCoupon[] | undefined,
  invoice: DiscountableInvoice,
): InvoiceCoupon[] {
  return links ? couponsOfInvoice(links, invoice) : [];
}

const applicationColumns: Columns = {
  ...recordColumnTypes,
  couponId: 'text',
  couponAssociationId: 'text',
  invoiceId: 'text',
  invoiceLineItemId: 'text',
  subscriptionId: 'text',
  position: 'int',
  discountType: 'text',
  discountPercentage: 'numeric',
  originalPrice: 'numeric',
  discountedAmount: 'numeric',
  finalPrice: 'numeric',
  currency: 'text',
  appliedAt: 'timestamptz',
  couponSnapshot: 'jsonb',
  metadata: 'jsonb',
};
const insertApplications = insertText('coupon_application', applicationColumns);

/** The rows of what coupons took off an invoice, in order. spec: subscriptions-and-invoicing §2.17.5 */
export function couponApplications(
  scope: Scope,
  invoice: { id: string; currency: string; subscriptionId: string | null; at: string },
  amounts: InvoiceAmounts,
  links: readonly AppliedCoupon[] | undefined,
): Record<string, unknown>[] {
  const now = new Date().toISOString();
  const byId = new Map((links ?? []).map((link) => [link.associationId, link]));
  return amounts.couponApplications.map((application, position) => {
    const link = byId.get(application.couponId)!;
    return {
      id: newId('coupon_app'),
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      couponId: link.couponId,
      couponAssociationId: link.associationId,
      invoiceId: invoice.id,
      invoiceLineItemId: application.lineId,
      subscriptionId: invoice.subscriptionId,
      position,
      discountType: link.type,
      discountPercentage: link.percentageOff,
      originalPrice: application.originalPrice,
      discountedAmount: application.discountedAmount,
      finalPrice: application.finalPrice,
      currency: invoice.currency,
      appliedAt: invoice.at,
      couponSnapshot: link.snapshot,
      metadata: {},
    };
  });
}

/** Writes application rows; one statement for any number of them. */
export async function writeCouponApplications(sql: Sql, rows: readonly object[]): Promise<void> {
  await writeRows(sql, insertApplications, rows);
}

/** Takes away the rows of drafts that are computed again. The caller holds their locks. */
export async function removeCouponApplications(
  sql: Sql,
  environmentId: string,
  invoiceIds: readonly string[],
): Promise<void> {
  if (invoiceIds.length === 0) return;
  await sql.rows('delete from coupon_application where environment_id = $1 and invoice_id = any($2)', [
    environmentId,
    invoiceIds,
  ]);
}

/** Gives `once` coupons of a voided invoice back; what they took off stays on the document. spec: §2.15.7 */
export async function releaseCoupons(sql: Sql, scope: Scope, invoiceId: string): Promise<void> {
  await sql.send(
    `update coupon_application set status = 'deleted', updated_at = $3, updated_by = $4
     where environment_id = $1 and invoice_id = $2 and status = 'published'`,
    [scope.environmentId, invoiceId, new Date().toISOString(), scope.actor],
  );
}
