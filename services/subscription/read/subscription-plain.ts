import type { Plan } from '../../../db/entities/catalogue/plan.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import type { Customer } from '../../../db/entities/customer/customer.ts';
import type { Coupon } from '../../../db/entities/invoice/coupon.ts';
import type { CouponAssociation } from '../../../db/entities/invoice/coupon-association.ts';
import type { Subscription } from '../../../db/entities/subscription/subscription.ts';
import type { SubscriptionLineItem } from '../../../db/entities/subscription/subscription-line-item.ts';
import type { SubscriptionPause } from '../../../db/entities/subscription/subscription-pause.ts';
import type { SubscriptionPhase } from '../../../db/entities/subscription/subscription-phase.ts';
import type { CreditGrant } from '../../../db/entities/wallet/credit-grant.ts';
import { plainRows } from '../../../db/rows/plain-rows.ts';
import { missing } from '../../../db/rows/record.ts';
import type { SqlTransaction } from '../../../db/transaction.ts';
import { latestPlainInvoice } from '../../invoice/read/invoice-plain.ts';
import type { InvoiceContent } from '../../invoice/read/invoice-read.ts';
import { type SubscriptionSet, subscriptionsNamed } from '../../subscription-set.ts';
import type { SubscriptionContent } from './subscription-read.ts';

/** A subscription, and which of the tables beside it have anything of it. */
export type SubscriptionBeside = Subscription & {
  hasCoupons: boolean;
  hasCreditGrants: boolean;
  hasPauses: boolean;
  hasPhases: boolean;
};

/** The columns of `SubscriptionBeside` over `subscription s` of the environment `$1`, without those of the row. */
export const besideColumns = `
  exists (select from coupon_association a where a.environment_id = $1 and a.subscription_id = s.id and a.status = 'published') as has_coupons,
  exists (select from credit_grant g where g.environment_id = $1 and g.subscription_id = s.id and g.status = 'published') as has_credit_grants,
  exists (select from subscription_pause p where p.environment_id = $1 and p.subscription_id = s.id) as has_pauses,
  exists (select from subscription_phase f where f.environment_id = $1 and f.subscription_id = s.id and f.status = 'published') as has_phases`;

/** A subscription as one that is read alone shows it. spec: subscriptions-and-invoicing §1.3 */
export interface WholeSubscription {
  content: SubscriptionContent;
  /** The highest invoice that is not void, with its lines; null before there is one. */
  latestInvoice: InvoiceContent | null;
  /** Archived or not. */
  plan: Plan | null;
}

/**
 * Reads one subscription whole, in the round trips of `inReadTransaction`: one, and another where it has coupons, grants, pauses, phases
 * or custom currencies. Throws `not_found`. spec: subscriptions-and-invoicing §1.3
 */
export async function readWholeSubscription(tx: SqlTransaction, id: string): Promise<WholeSubscription> {
  const asked = [tx.scope.environmentId, id];
  const published = `subscription s on s.environment_id = $1 and s.id = $2 and s.status = 'published'`;
  const [[row], [customer], [plan], lines, latestInvoice] = await Promise.all([
    plainRows<SubscriptionBeside>(
      tx,
      'shown-beside',
      `select s.*, ${besideColumns} from subscription s where s.environment_id = $1 and s.id = $2 and s.status = 'published'`,
      asked,
    ),
    plainRows<Customer>(
      tx,
      'shown-customer',
      `select c.* from customer c join ${published} where c.environment_id = $1 and c.id = s.customer_id`,
      asked,
    ),
    plainRows<Plan>(
      tx,
      'shown-plan',
      `select p.* from plan p join ${published} where p.environment_id = $1 and p.id = s.plan_id`,
      asked,
    ),
    plainLines(tx, subscriptionsNamed([id])),
    latestPlainInvoice(tx, id),
  ]);
  if (!row) throw missing('subscription', id);
  const [content] = await plainContent(tx, customer ?? null, [row], lines);
  return { content: content!, latestInvoice, plan: plan ?? null };
}

/** The line items of subscriptions and the prices they charge. */
export interface PlainLines {
  items: SubscriptionLineItem[];
  prices: Price[];
}

/** The published line items of a set of subscriptions and their prices, both asked at once. */
export async function plainLines(tx: SqlTransaction, { name, ids, values }: SubscriptionSet): Promise<PlainLines> {
  const published = `from subscription_line_item where environment_id = $1 and subscription_id = any(${ids}) and status = 'published'`;
  const asked = [tx.scope.environmentId, ...values];
  const [items, prices] = await Promise.all([
    plainRows<SubscriptionLineItem>(tx, `shown-items-${name}`, `select * ${published} order by start_date, id`, asked),
    plainRows<Price>(
      tx,
      `shown-prices-${name}`,
      `select * from price where environment_id = $1 and id in (select price_id ${published})`,
      asked,
    ),
  ]);
  return { items, prices };
}

/** The same as `withContent` of `subscription-read.ts` reads through the mapper, for subscriptions of one customer. */
export async function plainContent(
  tx: SqlTransaction,
  customer: Customer | null,
  rows: readonly SubscriptionBeside[],
  lines: PlainLines,
): Promise<SubscriptionContent[]> {
  if (rows.length === 0) return [];
  const of = [tx.scope.environmentId, rows.map((row) => row.id)];
  const { items } = lines;
  const prices = new Map(lines.prices.map((price) => [price.id, price]));
  const units = await byId<PriceUnit>(
    tx,
    'price_unit',
    [...prices.values()].flatMap((price) => price.priceUnitId || []),
  );
  const redeemed = rows.some((row) => row.hasCoupons)
    ? await plainRows<CouponAssociation>(
        tx,
        'shown-coupons',
        `select * from coupon_association where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by start_date, id`,
        of,
      )
    : [];
  const coupons = await byId<Coupon>(
    tx,
    'coupon',
    redeemed.map((row) => row.couponId),
  );
  const creditGrants = rows.some((row) => row.hasCreditGrants)
    ? await plainRows<CreditGrant>(
        tx,
        'shown-credit-grants',
        `select * from credit_grant where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by created_at, id`,
        of,
      )
    : [];
  const pauses = rows.some((row) => row.hasPauses)
    ? await plainRows<SubscriptionPause>(
        tx,
        'shown-pauses',
        `select * from subscription_pause where environment_id = $1 and subscription_id = any($2) order by pause_start desc, id desc`,
        of,
      )
    : [];
  const phases = rows.some((row) => row.hasPhases)
    ? await plainRows<SubscriptionPhase>(
        tx,
        'shown-phases',
        `select * from subscription_phase where environment_id = $1 and subscription_id = any($2) and status = 'published'
         order by start_date`,
        of,
      )
    : [];
  return rows.map((row) => ({
    row,
    items: items
      .filter((item) => item.subscriptionId === row.id)
      .flatMap((item) => {
        const price = prices.get(item.priceId);
        return price ? [{ row: item, price, unit: units.get(price.priceUnitId ?? '') ?? null }] : [];
      }),
    customer,
    coupons: redeemed
      .filter((association) => association.subscriptionId === row.id)
      .map((association) => ({ row: association, coupon: coupons.get(association.couponId)! })),
    creditGrants: creditGrants.filter((grant) => grant.subscriptionId === row.id),
    pauses: pauses.filter((pause) => pause.subscriptionId === row.id),
    phases: phases.filter((phase) => phase.subscriptionId === row.id),
  }));
}

async function byId<Row extends { id: string }>(
  tx: SqlTransaction,
  table: 'price_unit' | 'coupon',
  ids: readonly string[],
): Promise<Map<string, Row>> {
  if (ids.length === 0) return new Map();
  const text = `select * from ${table} where environment_id = $1 and id = any($2)`;
  const rows = await plainRows<Row>(tx, `shown-${table}`, text, [tx.scope.environmentId, [...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, row]));
}
