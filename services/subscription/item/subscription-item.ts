import { decimal, decimalString } from '../../../billing/money/money.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { uncommitted } from './line-item-commitment.ts';

/** A plan's price as a subscription sees it. */
export interface PlanPrice {
  id: string;
  parentPriceId: string | null;
  type: 'FIXED' | 'USAGE';
  billingPeriod: BillingPeriod | 'ONETIME';
  billingPeriodCount: number;
  invoiceCadence: 'ADVANCE' | 'ARREAR';
  currency: string;
  meterId: string | null;
  meterName: string | null;
  minQuantity: string | null;
  /** What the subscription asks for in place of the price's own. */
  quantity?: string | null;
  trialPeriodDays: number;
  displayName: string;
  startDate: string;
  endDate: string | null;
  sequence: number;
}

interface PriceRow {
  id: string;
  parent_price_id: string | null;
  type: 'FIXED' | 'USAGE';
  billing_period: BillingPeriod | 'ONETIME';
  billing_period_count: number;
  invoice_cadence: 'ADVANCE' | 'ARREAR';
  currency: string;
  meter_id: string | null;
  meter_name: string | null;
  min_quantity: string | null;
  trial_period_days: number;
  display_name: string;
  start_date: string;
  end_date: string | null;
  sequence: string;
  [column: string]: unknown;
}

/** The published prices of a plan in a currency that have not ended at `at`, in the plan's order. spec: §2.3.2 Candidates */
export function readPlanPrices(sql: Sql, environmentId: string, planId: string, currency: string, at: string) {
  return readOwnedPrices(sql, environmentId, { entityType: 'PLAN', entityId: planId }, { currency, at });
}

/** The published prices of a plan or an add-on in a currency that have not ended at `at`, in the order of creation. */
export async function readOwnedPrices(
  sql: Sql,
  environmentId: string,
  owner: { entityType: 'PLAN' | 'ADDON'; entityId: string },
  { currency, at }: { currency: string; at: string },
): Promise<PlanPrice[]> {
  const rows = await sql.rows<PriceRow>(
    `${ownedPricesText} and p.currency = $4 and (p.end_date is null or p.end_date > $5) order by p.created_at, p.id`,
    [environmentId, owner.entityType, owner.entityId, currency, at],
    'owned-prices-of-currency',
  );
  return rows.map(planPrice);
}

/** The published usage prices of a plan, ended ones too, in the plan's order. spec: catalogue-and-metering §3.1 */
export async function readUsagePrices(sql: Sql, environmentId: string, planId: string): Promise<PlanPrice[]> {
  const rows = await sql.rows<PriceRow>(
    `${ownedPricesText} and p.type = 'USAGE' order by p.created_at, p.id`,
    [environmentId, 'PLAN', planId],
    'owned-usage-prices',
  );
  return rows.map(planPrice);
}

const ownedPricesText = `
select p.id, p.parent_price_id, p.type, p.billing_period, p.billing_period_count, p.invoice_cadence, p.currency, p.meter_id,
  m.name as meter_name, p.min_quantity, p.trial_period_days, p.display_name, p.start_date, p.end_date, p.sequence
from price p left join meter m on m.id = p.meter_id
where p.environment_id = $1 and p.entity_type = $2 and p.entity_id = $3 and p.status = 'published'`;

function planPrice(row: PriceRow): PlanPrice {
  return {
    id: row.id,
    parentPriceId: row.parent_price_id,
    type: row.type,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    invoiceCadence: row.invoice_cadence,
    currency: row.currency,
    meterId: row.meter_id,
    meterName: row.meter_name,
    minQuantity: row.min_quantity === null ? null : decimalText(row.min_quantity),
    trialPeriodDays: row.trial_period_days,
    displayName: row.display_name,
    startDate: instantText(row.start_date),
    endDate: row.end_date ? instantText(row.end_date) : null,
    sequence: Number(row.sequence),
  };
}

/** Whose price a line item charges, and when at the most. */
interface LineItemOwner {
  entityType: 'plan' | 'addon' | 'subscription';
  entityId: string;
  name: string;
  start: string;
  end: string | null;
  attachment: { id: string; quantity: number; onetime: boolean } | null;
}

/** The line items a subscription gets from prices of its plan. spec: subscriptions-and-invoicing §2.3.3 */
export function lineItemsOf(
  scope: Scope,
  row: SubscriptionRow,
  planName: string,
  prices: readonly PlanPrice[],
): object[] {
  const { startDate: start, endDate: end } = row;
  const owner = { entityType: 'plan', entityId: row.planId, name: planName, start, end, attachment: null } as const;
  return prices.map((price) => lineItemOf(scope, row, price, owner));
}

/**
 * One line item, in force when its owner and its price are. What an attachment for one period charges is charged once, in
 * full. spec: subscriptions-and-invoicing §2.3.3, §2.9.6
 */
export function lineItemOf(
  scope: Scope,
  row: Pick<SubscriptionRow, 'id' | 'customerId'>,
  price: PlanPrice,
  owner: LineItemOwner,
): Record<string, unknown> & { id: string } {
  const now = new Date().toISOString();
  const { attachment } = owner;
  const once = attachment?.onetime === true && price.type === 'FIXED';
  return {
    id: newId('subs_line'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    subscriptionId: row.id,
    customerId: row.customerId,
    entityType: owner.entityType,
    entityId: owner.entityId,
    addonAssociationId: attachment?.id ?? null,
    planDisplayName: owner.name,
    displayName: price.displayName || (price.meterName ?? owner.name),
    priceId: price.id,
    priceType: price.type,
    meterId: price.meterId,
    meterDisplayName: price.meterName,
    currency: price.currency,
    quantity: decimalString(decimal(quantityOf(price)).times(attachment?.quantity ?? 1)),
    billingPeriod: once ? 'ONETIME' : price.billingPeriod,
    billingPeriodCount: price.billingPeriodCount,
    invoiceCadence: once ? 'ADVANCE' : price.invoiceCadence,
    trialPeriodDays: price.trialPeriodDays,
    ...uncommitted,
    metadata: {},
    startDate: [price.startDate, owner.start].sort()[1] as string,
    endDate: [price.endDate, owner.end].filter((end) => end !== null).sort()[0] ?? null,
  };
}

/** 0 for usage; else the price's minimum quantity if it has one; else 1. spec: catalogue-and-metering §4.2 */
function quantityOf(price: PlanPrice): string {
  if (price.type === 'USAGE') return '0';
  if (price.quantity != null) return price.quantity;
  return price.minQuantity !== null && price.minQuantity !== '0' ? price.minQuantity : '1';
}

const itemColumns: Columns = {
  ...recordColumnTypes,
  subscriptionId: 'text',
  customerId: 'text',
  entityType: 'text',
  entityId: 'text',
  addonAssociationId: 'text',
  subscriptionPhaseId: 'text',
  planDisplayName: 'text',
  displayName: 'text',
  priceId: 'text',
  priceType: 'text',
  meterId: 'text',
  meterDisplayName: 'text',
  currency: 'text',
  quantity: 'numeric',
  billingPeriod: 'text',
  billingPeriodCount: 'int',
  invoiceCadence: 'text',
  trialPeriodDays: 'int',
  prorationBehavior: 'text',
  commitmentType: 'text',
  commitmentAmount: 'numeric',
  commitmentQuantity: 'numeric',
  commitmentOverageFactor: 'numeric',
  commitmentDuration: 'text',
  commitmentTrueUpEnabled: 'boolean',
  commitmentWindowed: 'boolean',
  commitmentTimeBuckets: 'jsonb',
  metadata: 'jsonb',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
};
const insertItems = insertText('subscription_line_item', itemColumns);

/** Writes line items; one statement for any number of them. */
export async function insertLineItems(sql: Sql, items: readonly object[]): Promise<void> {
  await writeRows(sql, insertItems, items);
}

/** Ends line items, each at its own instant. */
export async function endLineItemsAt(
  sql: Sql,
  scope: Scope,
  ends: readonly { lineItemId: string; endDate: string }[],
): Promise<void> {
  if (ends.length === 0) return;
  await sql.rows(
    `update subscription_line_item l set end_date = t.end_date, updated_at = $4, updated_by = $5
     from unnest($2::text[], $3::timestamptz[]) as t(id, end_date) where l.environment_id = $1 and l.id = t.id`,
    [
      scope.environmentId,
      ends.map((end) => end.lineItemId),
      ends.map((end) => end.endDate),
      new Date().toISOString(),
      scope.actor,
    ],
  );
}
