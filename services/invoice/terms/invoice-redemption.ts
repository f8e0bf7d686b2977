import type { NewInvoiceCoupon } from '../../../billing/invoice/invoice-request.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { realNow } from '../../../db/clock.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { couponRules } from './invoice-coupon.ts';

/** The coupons that one invoice redeems. */
export interface InvoiceRedemption {
  invoiceId: string;
  currency: string;
  /** The customer's present. */
  at: string;
  coupons: readonly (NewInvoiceCoupon & { lineId: string | null })[];
}

type OwnCoupons = NonNullable<OwnTerms['coupons']>;

interface CouponRow {
  id: string;
  coupon_code: string;
  status: string;
  type: 'fixed' | 'percentage';
  currency: string | null;
  amount_off: string | null;
  percentage_off: string | null;
  redeem_after: string | null;
  redeem_before: string | null;
  record: Record<string, unknown>;
  [column: string]: unknown;
}

const couponsText = `
select id, coupon_code, status, type, currency, amount_off, percentage_off, redeem_after, redeem_before, to_jsonb(c) as record
from coupon c where environment_id = $1 and id = any($2) order by id for update`;

const associationColumns: Columns = {
  ...recordColumnTypes,
  couponId: 'text',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  metadata: 'jsonb',
};
const insertAssociations = insertText('coupon_association', associationColumns);

/**
 * Redeems coupons for one invoice, in the order given: each counts once and has an association of its own without a
 * subscription, unless one is named, which was counted before. Throws `not_found` for an unknown coupon or association and
 * `validation_error` for a coupon that is archived, outside its window, used up, of another currency, or named twice for one
 * target. Of `former`, coupons that the invoice had, it takes over those that are wanted again, which were counted before.
 * spec: subscriptions-and-invoicing §2.17.1, §2.17.2
 */
export async function redeemForInvoice(
  sql: Sql,
  scope: Scope,
  redemption: InvoiceRedemption,
  former: OwnCoupons = [],
): Promise<OwnCoupons> {
  const { coupons, at, invoiceId } = redemption;
  if (coupons.length === 0) return [];
  const rows = await sql.rows<CouponRow>(couponsText, [scope.environmentId, coupons.map(({ couponId }) => couponId)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const targets = new Set<string>();
  const own: OwnCoupons = [];
  const open = [...former];
  for (const wanted of coupons) {
    const row = byId.get(wanted.couponId);
    if (!row) throw missing('coupon', wanted.couponId, wanted.field);
    const target = `${row.id} ${wanted.lineId ?? ''}`;
    if (targets.has(target)) throw badField(wanted.field, `names coupon ${row.coupon_code} twice for one target`);
    targets.add(target);
    if (row.type === 'fixed' && row.currency !== redemption.currency) {
      throw badField(
        wanted.field,
        `names coupon ${row.coupon_code}, which is in ${row.currency}; the invoice is in ${redemption.currency}`,
      );
    }
    const before = open.findIndex((coupon) => isRedeemedBy(coupon, wanted));
    const [taken] = before < 0 ? [] : open.splice(before, 1);
    if (wanted.couponAssociationId !== null) await checkAssociation(sql, scope, wanted);
    else if (!taken) await countRedemption(sql, scope, row, wanted.field, at);
    own.push(ownCoupon(wanted, row, taken));
  }
  const known = new Set(former.map(({ associationId }) => associationId));
  const redeemed = own.filter((coupon) => coupon.isRedeemedHere && !known.has(coupon.associationId));
  await writeAssociations(sql, scope, { at, invoiceId }, redeemed);
  return own;
}

/** The redemption that is named, or one of the same coupon where none is. */
function isRedeemedBy(coupon: OwnCoupons[number], wanted: NewInvoiceCoupon): boolean {
  if (wanted.couponAssociationId !== null) return coupon.associationId === wanted.couponAssociationId;
  return coupon.isRedeemedHere && coupon.couponId === wanted.couponId;
}

function ownCoupon(
  wanted: InvoiceRedemption['coupons'][number],
  row: CouponRow,
  taken: OwnCoupons[number] | undefined,
): OwnCoupons[number] {
  const amountOff = wanted.amountOff ?? (row.amount_off === null ? null : decimalText(row.amount_off));
  const percentageOff = wanted.percentageOff ?? (row.percentage_off === null ? null : decimalText(row.percentage_off));
  const type = wanted.amountOff !== null ? 'fixed' : wanted.percentageOff !== null ? 'percentage' : row.type;
  return {
    associationId: wanted.couponAssociationId ?? taken?.associationId ?? newId('coupon_assoc'),
    isRedeemedHere: taken?.isRedeemedHere ?? wanted.couponAssociationId === null,
    couponId: row.id,
    lineId: wanted.lineId,
    type,
    amountOff: type === 'fixed' ? amountOff : null,
    percentageOff: type === 'percentage' ? percentageOff : null,
    rules: couponRules(row.record.rules as Record<string, unknown> | null),
    snapshot: {
      ...row.record,
      amount_off: amountOff,
      percentage_off: percentageOff,
      redeem_after: row.redeem_after === null ? null : instantText(row.redeem_after),
      redeem_before: row.redeem_before === null ? null : instantText(row.redeem_before),
      created_at: instantText(String(row.record.created_at)),
      updated_at: instantText(String(row.record.updated_at)),
    },
  };
}

async function checkAssociation(sql: Sql, scope: Scope, wanted: NewInvoiceCoupon): Promise<void> {
  const [found] = await sql.rows<{ coupon_id: string }>(
    `select coupon_id from coupon_association where environment_id = $1 and id = $2 and status = 'published' for share`,
    [scope.environmentId, wanted.couponAssociationId],
  );
  const field = `${wanted.field}.coupon_association_id`;
  if (!found) throw missing('coupon association', wanted.couponAssociationId ?? '', field);
  if (found.coupon_id !== wanted.couponId) throw badField(field, `is of another coupon, ${found.coupon_id}`);
}

async function countRedemption(sql: Sql, scope: Scope, row: CouponRow, field: string, at: string): Promise<void> {
  const named = `names coupon ${row.coupon_code}, which`;
  if (row.status !== 'published') throw badField(field, `${named} is ${row.status}; choose another`);
  const after = row.redeem_after === null ? null : instantText(row.redeem_after);
  const before = row.redeem_before === null ? null : instantText(row.redeem_before);
  if (after !== null && at < after) throw badField(field, `${named} can be redeemed from ${after} on`);
  if (before !== null && at > before) throw badField(field, `${named} could be redeemed until ${before}`);
  const counted = await sql.rows(
    `update coupon set total_redemptions = total_redemptions + 1, updated_at = $3
     where environment_id = $1 and id = $2 and (max_redemptions is null or total_redemptions < max_redemptions) returning id`,
    [scope.environmentId, row.id, realNow()],
  );
  if (counted.length === 0) throw badField(field, `${named} is used up; choose another`);
}

async function writeAssociations(
  sql: Sql,
  scope: Scope,
  { at, invoiceId }: { at: string; invoiceId: string },
  redeemed: OwnCoupons,
): Promise<void> {
  const now = realNow();
  await writeRows(
    sql,
    insertAssociations,
    redeemed.map(({ associationId, couponId }) => ({
      id: associationId,
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      couponId,
      startDate: at,
      endDate: null,
      metadata: { invoice_id: invoiceId },
    })),
  );
  await writeAudit(
    sql,
    scope,
    redeemed.map(({ associationId, couponId }) => ({
      objectType: 'coupon_association',
      objectId: associationId,
      action: 'created',
      occurredAt: at,
      detail: { coupon_id: couponId, invoice_id: invoiceId },
    })),
  );
}

/**
 * Gives back redemptions, those of a voided invoice or of coupons that others replaced: each is counted off and its association
 * ends. One that a replacement of the invoice took over stays. spec: subscriptions-and-invoicing §2.15.7
 */
export async function releaseRedemptions(
  sql: Sql,
  scope: Scope,
  coupons: OwnTerms['coupons'],
  at: string,
): Promise<void> {
  const ids = (coupons ?? []).flatMap((coupon) => (coupon.isRedeemedHere ? coupon.associationId : []));
  if (ids.length === 0) return;
  await sql.rows(
    `with released as (
       update coupon_association set status = 'deleted', end_date = greatest(start_date, $3::timestamptz), updated_at = $4, updated_by = $5
       where environment_id = $1 and id = any($2) and status = 'published' returning coupon_id
     ), counted as (select coupon_id, count(*) as n from released group by coupon_id)
     update coupon c set total_redemptions = c.total_redemptions - counted.n, updated_at = $4
     from counted where c.environment_id = $1 and c.id = counted.coupon_id`,
    [scope.environmentId, ids, at, realNow(), scope.actor],
  );
}
