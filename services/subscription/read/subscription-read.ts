import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import { Customer } from '../../../db/entities/customer/customer.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { SubscriptionLineItem } from '../../../db/entities/subscription/subscription-line-item.ts';
import type { SubscriptionPause } from '../../../db/entities/subscription/subscription-pause.ts';
import type { SubscriptionPhase } from '../../../db/entities/subscription/subscription-phase.ts';
import type { CreditGrant } from '../../../db/entities/wallet/credit-grant.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { priceUnitsById } from '../../catalogue/price/price-unit.ts';
import { pausesOf } from '../../charging/pause-read.ts';
import { phasesOf } from '../../charging/subscription-phase.ts';
import { type InvoiceContent, withContent as withInvoiceContent } from '../../invoice/read/invoice-read.ts';
import { type CouponAssociationContent, couponsOfSubscriptions } from '../../invoice/terms/coupon-association.ts';
import { grantsOf } from '../../ledger/grant-record.ts';

/** A subscription with what its view shows. */
export interface SubscriptionContent {
  row: Subscription;
  items: { row: SubscriptionLineItem; price: Price; unit: PriceUnit | null }[];
  customer: Customer | null;
  /** In order of application. */
  coupons: CouponAssociationContent[];
  creditGrants: CreditGrant[];
  /** Newest first. */
  pauses: SubscriptionPause[];
  /** In their order. */
  phases: SubscriptionPhase[];
}

const subscriptions: ListDefinition<Subscription> = {
  entity: Subscription,
  columns: {
    customer_id: 'string',
    invoicing_customer_id: 'string',
    parent_subscription_id: 'string',
    plan_id: 'string',
    lookup_key: 'string',
    subscription_status: 'string',
    subscription_type: 'string',
    currency: 'string',
    billing_period: 'string',
    billing_period_count: 'integer',
    billing_cycle: 'string',
    billing_anchor: 'date',
    start_date: 'date',
    end_date: 'date',
    current_period_start: 'date',
    current_period_end: 'date',
    trial_end: 'date',
    cancel_at: 'date',
    cancelled_at: 'date',
    collection_method: 'string',
    timezone: 'string',
    version: 'integer',
  },
};

/** The filters a list of subscriptions has of its own. spec: subscriptions-and-invoicing §1.1.1 */
export interface SubscriptionFilters {
  subscriptionIds?: readonly string[] | undefined;
  customerIds?: readonly string[] | undefined;
  externalCustomerId?: string | undefined;
  invoicingCustomerIds?: readonly string[] | undefined;
  parentSubscriptionIds?: readonly string[] | undefined;
  planId?: string | undefined;
  types?: readonly string[] | undefined;
  statuses?: readonly string[] | undefined;
  billingCadences?: readonly string[] | undefined;
  billingPeriods?: readonly string[] | undefined;
  activeAt?: string | undefined;
  /** Those whose current period ends until this instant, so that they are due for their next one; not drafts, nor what was cancelled. */
  effectiveDateForUpdate?: string | undefined;
  trialEndDueLte?: string | undefined;
}

/** Parts read of each subscription beside its row and customer; a part left out is answered empty. */
export interface SubscriptionParts {
  items: boolean;
  coupons: boolean;
}

const everyPart: SubscriptionParts = { items: true, coupons: true };

/** Reads one subscription with its line items and prices. Throws `not_found`. */
export async function findSubscription(tx: Transaction, id: string): Promise<SubscriptionContent> {
  const row = await tx.em.findOne(Subscription, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('subscription', id);
  const [content] = await withContent(tx, [row]);
  return content as SubscriptionContent;
}

/** One page of subscriptions with the parts that are asked for, read once for all of them. */
export async function listSubscriptions(
  tx: Transaction,
  query: ListQuery,
  filters: SubscriptionFilters,
  parts: SubscriptionParts = everyPart,
): Promise<ListPage<SubscriptionContent>> {
  const page = await listPage(tx, subscriptions, query, await conditions(tx, filters));
  return { ...page, rows: await withContent(tx, page.rows, parts) };
}

/** The highest invoice of a subscription that is not void, with its lines; null before there is one. spec: §1.3 latest_invoice */
export async function latestInvoice(tx: Transaction, subscriptionId: string): Promise<InvoiceContent | null> {
  const row = await tx.em.findOne(
    Invoice,
    { environmentId: tx.scope.environmentId, subscriptionId, invoiceStatus: { $ne: 'VOIDED' } },
    { orderBy: { billingSequence: 'desc', id: 'desc' } },
  );
  const [content] = await withInvoiceContent(tx, row ? [row] : [], { lines: true, customer: false });
  return content ?? null;
}

/** The plan of a subscription, archived or not. spec: §1.3 plan */
export async function planOf(tx: Transaction, row: Subscription): Promise<Plan | null> {
  return tx.em.findOne(Plan, { environmentId: tx.scope.environmentId, id: row.planId });
}

/** Whose subscription it is and on which clock: what a command needs before its workflow is asked. Throws `not_found`. */
export async function subscriptionOwner(
  tx: Transaction,
  id: string,
): Promise<{ customerId: string; testClockId: string | null; metadata: Record<string, string> }> {
  const row = await tx.em.findOne(Subscription, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('subscription', id);
  return { customerId: row.customerId, testClockId: row.testClockId ?? null, metadata: row.metadata };
}

async function conditions(tx: Transaction, filters: SubscriptionFilters): Promise<Record<string, unknown>> {
  const every: Record<string, unknown>[] = [
    anyOf('id', filters.subscriptionIds),
    anyOf('customerId', filters.customerIds),
    anyOf('invoicingCustomerId', filters.invoicingCustomerIds),
    anyOf('parentSubscriptionId', filters.parentSubscriptionIds),
    anyOf('subscriptionType', filters.types),
    anyOf('subscriptionStatus', filters.statuses),
    anyOf('billingCadence', filters.billingCadences),
    anyOf('billingPeriod', filters.billingPeriods),
  ];
  if (filters.planId) every.push({ planId: filters.planId });
  if (filters.externalCustomerId) {
    const customers = await tx.em.find(Customer, {
      environmentId: tx.scope.environmentId,
      externalId: filters.externalCustomerId,
    });
    every.push({ customerId: { $in: customers.map((customer) => customer.id) } });
  }
  if (filters.activeAt) {
    every.push({
      startDate: { $lte: filters.activeAt },
      $or: [{ endDate: null }, { endDate: { $gt: filters.activeAt } }],
    });
  }
  if (filters.effectiveDateForUpdate) {
    every.push({
      currentPeriodEnd: { $lte: filters.effectiveDateForUpdate },
      subscriptionStatus: { $nin: ['draft', 'cancelled'] },
    });
  }
  if (filters.trialEndDueLte) every.push({ trialEnd: { $lte: filters.trialEndDueLte } });
  return { $and: every };
}

/** Subscriptions with their line items, prices, coupons and customers, each read once for all of them. */
export async function withContent(
  tx: Transaction,
  rows: readonly Subscription[],
  parts: SubscriptionParts = everyPart,
): Promise<SubscriptionContent[]> {
  const environmentId = tx.scope.environmentId;
  const ids = rows.map((row) => row.id);
  const customerIds = [...new Set(rows.map((row) => row.customerId))];
  // Asked at once: what one answer is made into overlaps the next question.
  const [items, customers, grants, coupons, pauses, phases] = await Promise.all([
    pricedItems(tx, parts.items ? ids : []),
    tx.em.find(Customer, { environmentId, id: { $in: customerIds } }),
    grantsOf(tx, 'subscriptionId', ids),
    couponsOfSubscriptions(tx, parts.coupons ? ids : []),
    pausesOf(tx, ids),
    phasesOf(tx, ids),
  ]);
  const customerOf = new Map(customers.map((customer) => [customer.id, customer]));
  return rows.map((row) => ({
    row,
    items: items.filter((item) => item.row.subscriptionId === row.id),
    customer: customerOf.get(row.customerId) ?? null,
    coupons: coupons.get(row.id) ?? [],
    creditGrants: grants.get(row.id) ?? [],
    pauses: pauses.get(row.id) ?? [],
    phases: phases.get(row.id) ?? [],
  }));
}

/** The line items of subscriptions with what they charge, oldest first. */
async function pricedItems(tx: Transaction, subscriptionIds: readonly string[]): Promise<SubscriptionContent['items']> {
  if (subscriptionIds.length === 0) return [];
  const environmentId = tx.scope.environmentId;
  const items = await tx.em.find(
    SubscriptionLineItem,
    { environmentId, subscriptionId: { $in: [...subscriptionIds] }, status: 'published' },
    { orderBy: { startDate: 'asc', id: 'asc' } },
  );
  const priceIds = [...new Set(items.map((item) => item.priceId))];
  const prices = await tx.em.find(Price, { environmentId, id: { $in: priceIds } });
  const units = await priceUnitsById(
    tx,
    prices.map((price) => price.priceUnitId),
  );
  const priceOf = new Map(prices.map((price) => [price.id, price]));
  return items.flatMap((row) => {
    const price = priceOf.get(row.priceId);
    return price ? [{ row, price, unit: units.get(price.priceUnitId ?? '') ?? null }] : [];
  });
}
