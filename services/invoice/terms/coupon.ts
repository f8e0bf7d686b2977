import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { Coupon } from '../../../db/entities/invoice/coupon.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { badField, missing, newRecord, refuseArchived, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';

export interface NewCoupon {
  name: string;
  couponCode: string | null;
  type: 'fixed' | 'percentage';
  cadence: 'once' | 'repeated' | 'forever';
  amountOff: string | null;
  percentageOff: string | null;
  currency: string | null;
  durationInPeriods: number | null;
  maxRedemptions: number | null;
  redeemAfter: string | null;
  redeemBefore: string | null;
  rules: Record<string, unknown> | null;
  metadata: Record<string, string>;
}

/**
 * Creates a coupon; without a code it gets one of ten characters. Throws `validation_error` where type, cadence and values do
 * not go together, `already_exists` for a code in use, in any case of letters. spec: subscriptions-and-invoicing §1.14
 */
export async function createCoupon(tx: Transaction, input: NewCoupon): Promise<Coupon> {
  checkValue(input);
  checkTerms(input);
  const couponCode = input.couponCode ?? newCode();
  const coupon = tx.em.create(Coupon, { ...newRecord(tx, 'coupon'), ...input, couponCode, totalRedemptions: 0 });
  await flushUnique(tx, {
    coupon_code_unique: () =>
      refuse('already_exists', `coupon_code ${couponCode} is taken by another coupon; choose another`, {
        fields: { coupon_code: 'taken' },
      }),
  });
  await audit(tx, coupon, 'created');
  return coupon;
}

/** A coupon of this environment, archived or not. Throws `not_found`. */
export async function findCoupon(tx: Transaction, id: string): Promise<Coupon> {
  const coupon = await tx.em.findOne(Coupon, { id, environmentId: tx.scope.environmentId });
  if (!coupon) throw missing('coupon', id);
  return coupon;
}

/** The published coupon with this code, in any case of letters. Throws `not_found`. */
export async function findCouponByCode(tx: Transaction, code: string): Promise<Coupon> {
  const [row] = await tx.rows<{ id: string }>(
    `select id from coupon where environment_id = $1 and lower(coupon_code) = lower($2) and status = 'published'`,
    [tx.scope.environmentId, code],
  );
  if (!row) throw missing('coupon', code, 'code');
  return findCoupon(tx, row.id);
}

/** The coupons of the given ids, by id. */
export async function couponsById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Coupon>> {
  if (ids.length === 0) return new Map();
  const coupons = await tx.em.find(Coupon, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(coupons.map((coupon) => [coupon.id, coupon]));
}

/** Changes name and metadata; what a coupon gives never changes. Throws `not_found`, `invalid_operation` for an archived one. */
export async function updateCoupon(
  tx: Transaction,
  id: string,
  change: { name?: string | undefined; metadata?: Record<string, string> | undefined },
): Promise<Coupon> {
  const coupon = await lockCoupon(tx, id);
  refuseArchived('coupon', coupon);
  if (change.name !== undefined) coupon.name = change.name;
  if (change.metadata !== undefined) coupon.metadata = change.metadata;
  touch(tx, coupon);
  await tx.em.flush();
  await audit(tx, coupon, 'updated');
  return coupon;
}

/** Archives a coupon: who redeemed it keeps it, nobody else gets it. Repeating it changes nothing. Throws `not_found`. */
export async function archiveCoupon(tx: Transaction, id: string): Promise<void> {
  const coupon = await lockCoupon(tx, id);
  if (coupon.status !== 'published') return;
  coupon.status = 'archived';
  touch(tx, coupon);
  await tx.em.flush();
  await audit(tx, coupon, 'deleted');
}

const couponList: ListDefinition<Coupon> = {
  entity: Coupon,
  columns: {
    name: 'string',
    coupon_code: 'string',
    type: 'string',
    cadence: 'string',
    currency: 'string',
    amount_off: 'decimal',
    percentage_off: 'decimal',
    max_redemptions: 'integer',
    total_redemptions: 'integer',
    redeem_after: 'date',
    redeem_before: 'date',
  },
};

/** One page of coupons; codes are found in any case of letters. spec: subscriptions-and-invoicing §1.14 */
export async function listCoupons(
  tx: Transaction,
  query: ListQuery,
  filters: { couponIds?: readonly string[] | null | undefined; couponCodes?: readonly string[] | null | undefined },
): Promise<ListPage<Coupon>> {
  return listPage(tx, couponList, query, {
    $and: [anyOf('id', filters.couponIds), await inAnyCase(tx, filters.couponCodes)],
  });
}

async function inAnyCase(tx: Transaction, codes: readonly string[] | null | undefined) {
  if (!codes || codes.length === 0) return {};
  const found = await tx.rows<{ id: string }>(
    'select id from coupon where environment_id = $1 and lower(coupon_code) = any(select lower(unnest($2::text[])))',
    [tx.scope.environmentId, codes],
  );
  return { id: { $in: found.map(({ id }) => id) } };
}

function checkValue({ type, amountOff, percentageOff, currency }: NewCoupon): void {
  if (type === 'fixed') {
    if (amountOff === null) throw badField('amount_off', 'is required for a fixed coupon');
    if (currency === null) throw badField('currency', 'is required for a fixed coupon');
    if (percentageOff !== null) throw badField('percentage_off', 'belongs to percentage coupons; send amount_off only');
    return;
  }
  if (percentageOff === null) throw badField('percentage_off', 'is required for a percentage coupon');
  if (amountOff !== null) throw badField('amount_off', 'belongs to fixed coupons; send percentage_off only');
}

function checkTerms({ cadence, durationInPeriods, redeemAfter, redeemBefore }: NewCoupon): void {
  if (cadence === 'repeated' && durationInPeriods === null) {
    throw badField('duration_in_periods', 'is required for a repeated coupon');
  }
  if (cadence !== 'repeated' && durationInPeriods !== null) {
    throw badField('duration_in_periods', `belongs to repeated coupons, not to one that is ${cadence}`);
  }
  if (redeemAfter !== null && redeemBefore !== null && redeemBefore < redeemAfter) {
    throw badField('redeem_before', `must not be before redeem_after, ${redeemAfter}`);
  }
}

const codeLetters = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789';

/** Ten characters that people can read to each other; 50 random bits. */
function newCode(): string {
  return Array.from(randomBytes(10), (byte) => codeLetters[byte % codeLetters.length]).join('');
}

async function lockCoupon(tx: Transaction, id: string): Promise<Coupon> {
  const where = { id, environmentId: tx.scope.environmentId };
  const coupon = await tx.em.findOne(Coupon, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!coupon) throw missing('coupon', id);
  return coupon;
}

async function audit(tx: Transaction, coupon: Coupon, action: 'created' | 'updated' | 'deleted'): Promise<void> {
  const detail = { coupon_code: coupon.couponCode, type: coupon.type, cadence: coupon.cadence };
  await writeAudit(tx, tx.scope, [
    { objectType: 'coupon', objectId: coupon.id, action, occurredAt: coupon.updatedAt, detail },
  ]);
}
