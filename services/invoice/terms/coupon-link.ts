import { type CouponCadence, couponAssociationEnd } from '../../../billing/invoice/coupon.ts';
import type { NewCouponLink } from '../../../billing/subscription/new-subscription.ts';
import { realNow } from '../../../db/clock.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { writeAudit } from '../../platform/audit.ts';

interface CouponRow {
  id: string;
  coupon_code: string;
  status: string;
  type: string;
  cadence: CouponCadence;
  currency: string | null;
  duration_in_periods: number | null;
  redeem_after: string | null;
  redeem_before: string | null;
  [column: string]: unknown;
}

const associationColumns: Columns = {
  ...recordColumnTypes,
  couponId: 'text',
  subscriptionId: 'text',
  subscriptionLineItemId: 'text',
  subscriptionPhaseId: 'text',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  metadata: 'jsonb',
};
const insertAssociations = insertText('coupon_association', associationColumns);

/**
 * Redeems coupons for a new subscription: each counts once, in this transaction, and of two who want the last redemption one
 * gets it. `at` is the customer's present. Throws `not_found` for an unknown coupon and `validation_error` for one that is
 * archived, outside its window, used up, of another currency, named twice for one target, or for a price that is not on the
 * subscription. Those of a phase apply once it has started. Gives the ids of the links. spec: subscriptions-and-invoicing §2.17.1, §2.17.2
 */
export async function linkSubscriptionCoupons(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  wanted: readonly NewCouponLink[],
  at: string,
  phaseId: string | null = null,
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const coupons = await lockCoupons(sql, scope, wanted);
  const items = await itemsByPrice(sql, scope, row.id);
  const now = realNow();
  const seen = new Set<string>();
  const associations = wanted.map((link, index) => {
    const coupon = coupons[index]!;
    checkGates(coupon, row, link, at);
    const target = `${coupon.id} ${link.lineItemId ?? link.priceId ?? ''}`;
    if (seen.has(target)) throw badField(link.field, `names coupon ${coupon.coupon_code} twice for one target`);
    seen.add(target);
    const subscriptionLineItemId = link.lineItemId ?? (link.priceId === null ? null : items.get(link.priceId));
    if (subscriptionLineItemId === undefined) {
      throw badField(link.field, `is for price ${link.priceId}, which is on no line item of the subscription`);
    }
    return {
      id: newId('coupon_assoc'),
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      couponId: coupon.id,
      subscriptionId: row.id,
      subscriptionLineItemId,
      subscriptionPhaseId: phaseId,
      ...windowOf(coupon, row, link),
      metadata: {},
    };
  });
  await redeem(sql, scope, wanted, coupons);
  await writeRows(sql, insertAssociations, associations);
  await writeAudit(
    sql,
    scope,
    associations.map(({ id, couponId, subscriptionId }) => ({
      objectType: 'coupon_association',
      objectId: id,
      action: 'created',
      occurredAt: at,
      detail: { coupon_id: couponId, subscription_id: subscriptionId },
    })),
  );
  return associations.map(({ id }) => id);
}

/** The wanted coupons in their order, locked in one order so that racers wait for each other and never in a circle. */
async function lockCoupons(sql: Sql, scope: Scope, wanted: readonly NewCouponLink[]): Promise<CouponRow[]> {
  const rows = await sql.rows<CouponRow>(
    `select id, coupon_code, status, type, cadence, currency, duration_in_periods, redeem_after, redeem_before from coupon
     where environment_id = $1 and (id = any($2) or lower(coupon_code) = any($3)) order by id for update`,
    [
      scope.environmentId,
      wanted.flatMap(({ couponId }) => couponId ?? []),
      wanted.flatMap(({ couponCode }) => couponCode?.toLowerCase() ?? []),
    ],
  );
  return wanted.map(({ couponId, couponCode, field }) => {
    const matching = rows.filter((row) =>
      couponId === null ? row.coupon_code.toLowerCase() === couponCode?.toLowerCase() : row.id === couponId,
    );
    // Of a code that was used again after its coupon was archived, the published one is meant.
    const coupon = matching.find((row) => row.status === 'published') ?? matching[0];
    if (!coupon) throw missing('coupon', couponId ?? couponCode ?? '', field);
    return coupon;
  });
}

async function itemsByPrice(sql: Sql, scope: Scope, subscriptionId: string): Promise<Map<string, string>> {
  const rows = await sql.rows<{ id: string; price_id: string }>(
    `select id, price_id from subscription_line_item where environment_id = $1 and subscription_id = $2 and status = 'published'
     order by id desc`,
    [scope.environmentId, subscriptionId],
  );
  return new Map(rows.map((row) => [row.price_id, row.id]));
}

/** What a coupon asks of those who newly redeem it. spec: subscriptions-and-invoicing §2.17.2 */
function checkGates(coupon: CouponRow, row: SubscriptionRow, { field }: NewCouponLink, at: string): void {
  const named = `names coupon ${coupon.coupon_code}, which`;
  if (coupon.status !== 'published') throw badField(field, `${named} is ${coupon.status}; choose another`);
  const after = coupon.redeem_after === null ? null : instantText(coupon.redeem_after);
  const before = coupon.redeem_before === null ? null : instantText(coupon.redeem_before);
  if (after !== null && at < after) throw badField(field, `${named} can be redeemed from ${after} on`);
  if (before !== null && at > before) throw badField(field, `${named} could be redeemed until ${before}`);
  if (coupon.type === 'fixed' && coupon.currency !== row.currency) {
    throw badField(field, `${named} is in ${coupon.currency}; the subscription is in ${row.currency}`);
  }
}

function windowOf(
  coupon: CouponRow,
  row: SubscriptionRow,
  link: NewCouponLink,
): { startDate: string; endDate: string | null } {
  const startDate = link.startDate ?? row.startDate;
  if (link.endDate !== null && link.endDate <= startDate) {
    throw badField(link.field, `has an end_date that is not after its start, ${startDate}`);
  }
  const endDate = couponAssociationEnd({
    anchor: row.billingAnchor,
    billingPeriod: row.billingPeriod,
    billingPeriodCount: row.billingPeriodCount,
    billingCycle: row.billingCycle,
    timezone: row.timezone,
    cadence: coupon.cadence,
    durationInPeriods: coupon.duration_in_periods,
    start: startDate,
    explicitEnd: link.endDate,
  });
  return { startDate, endDate };
}

/** Counts each redemption with a condition, so that the bound holds whatever else happens at the same time. */
async function redeem(
  sql: Sql,
  scope: Scope,
  wanted: readonly NewCouponLink[],
  coupons: readonly CouponRow[],
): Promise<void> {
  for (const [index, coupon] of coupons.entries()) {
    const counted = await sql.rows(
      `update coupon set total_redemptions = total_redemptions + 1, updated_at = $3
       where environment_id = $1 and id = $2 and (max_redemptions is null or total_redemptions < max_redemptions) returning id`,
      [scope.environmentId, coupon.id, realNow()],
    );
    if (counted.length === 0) {
      throw badField(wanted[index]!.field, `names coupon ${coupon.coupon_code}, which is used up; choose another`);
    }
  }
}
