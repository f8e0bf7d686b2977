import { realNow } from '../../../db/clock.ts';
import type { Coupon } from '../../../db/entities/invoice/coupon.ts';
import { CouponAssociation } from '../../../db/entities/invoice/coupon-association.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { couponsById } from './coupon.ts';

/** An association with its coupon as it is now. */
export interface CouponAssociationContent {
  row: CouponAssociation;
  coupon: Coupon;
}

export interface CouponAssociationFilters {
  subscriptionIds?: readonly string[] | undefined;
  couponIds?: readonly string[] | undefined;
  /** Those in force at the present of their customers. */
  activeOnly?: boolean | undefined;
}

const associationList: ListDefinition<CouponAssociation> = {
  entity: CouponAssociation,
  columns: { coupon_id: 'string', subscription_id: 'string', start_date: 'date', end_date: 'date' },
};

/** One association, archived or not. Throws `not_found`. */
export async function findCouponAssociation(tx: Transaction, id: string): Promise<CouponAssociationContent> {
  const row = await tx.em.findOne(CouponAssociation, { id, environmentId: tx.scope.environmentId });
  const [content] = await withCoupons(tx, row ? [row] : []);
  if (!content) throw missing('coupon association', id);
  return content;
}

/** One page of associations with their coupons. spec: subscriptions-and-invoicing §1.14 */
export async function listCouponAssociations(
  tx: Transaction,
  query: ListQuery,
  filters: CouponAssociationFilters,
): Promise<ListPage<CouponAssociationContent>> {
  const page = await listPage(tx, associationList, query, {
    $and: [
      anyOf('subscriptionId', filters.subscriptionIds),
      anyOf('couponId', filters.couponIds),
      filters.activeOnly ? { id: { $in: await activeIds(tx, filters) } } : {},
    ],
  });
  return { ...page, rows: await withCoupons(tx, page.rows) };
}

/** The coupons subscriptions redeemed, by subscription id, in order of application. */
export async function couponsOfSubscriptions(
  tx: Transaction,
  subscriptionIds: readonly string[],
): Promise<Map<string, CouponAssociationContent[]>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await tx.em.find(
    CouponAssociation,
    { environmentId: tx.scope.environmentId, subscriptionId: { $in: [...subscriptionIds] }, status: 'published' },
    { orderBy: { startDate: 'asc', id: 'asc' } },
  );
  return Map.groupBy(await withCoupons(tx, rows), ({ row }) => row.subscriptionId ?? '');
}

async function activeIds(tx: Transaction, filters: CouponAssociationFilters): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select a.id from coupon_association a join subscription s on s.id = a.subscription_id
       left join test_clock c on c.id = s.test_clock_id
     where a.environment_id = $1 and a.status = 'published' and a.start_date <= coalesce(c.frozen_time, $2)
       and (a.end_date is null or a.end_date >= coalesce(c.frozen_time, $2))
       and ($3::text[] is null or a.subscription_id = any($3)) and ($4::text[] is null or a.coupon_id = any($4))`,
    [tx.scope.environmentId, realNow(), filters.subscriptionIds ?? null, filters.couponIds ?? null],
  );
  return rows.map(({ id }) => id);
}

async function withCoupons(tx: Transaction, rows: readonly CouponAssociation[]): Promise<CouponAssociationContent[]> {
  const coupons = await couponsById(
    tx,
    rows.map((row) => row.couponId),
  );
  return rows.map((row) => ({ row, coupon: coupons.get(row.couponId)! }));
}
