import { linePriceUnit } from '../../../billing/price/price-unit.ts';
import type { Period } from '../../../billing/subscription/subscription.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { BilledLine } from '../../charging/subscription-charge.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';

/** What a line keeps of its custom currency. spec: catalogue-and-metering §4.5 */
export const priceUnitColumns: Columns = {
  priceUnit: 'text',
  priceUnitId: 'text',
  priceUnitAmount: 'numeric',
  priceUnitCost: 'numeric',
  conversionRate: 'numeric',
};

/** What every line is written with. */
export const lineColumns: Columns = {
  ...recordColumnTypes,
  invoiceId: 'text',
  customerId: 'text',
  subscriptionId: 'text',
  subscriptionLineItemId: 'text',
  position: 'int',
  entityType: 'text',
  entityId: 'text',
  planId: 'text',
  planDisplayName: 'text',
  displayName: 'text',
  priceId: 'text',
  priceType: 'text',
  invoiceCadence: 'text',
  meterId: 'text',
  meterDisplayName: 'text',
  currency: 'text',
  quantity: 'numeric',
  amount: 'numeric',
  adjustedEntitlementQuantity: 'numeric',
  ...priceUnitColumns,
  lineItemDiscount: 'numeric',
  invoiceLevelDiscount: 'numeric',
  prepaidCreditsApplied: 'numeric',
  periodStart: 'timestamptz',
  periodEnd: 'timestamptz',
  commitmentInfo: 'jsonb',
  derivation: 'jsonb',
  metadata: 'jsonb',
  isCarriedCredit: 'boolean',
};

const insertLineRows = insertText('invoice_line_item', lineColumns);

/** Writes invoice lines; one statement for any number of them. */
export async function insertLines(sql: Sql, lines: readonly object[]): Promise<void> {
  await writeRows(
    sql,
    insertLineRows,
    lines.map((line) => ({ isCarriedCredit: false, ...line })),
  );
}

/** The line of what earlier changes of the subscription left, but for its id and amount. spec: README decision 50 */
export function creditLineRecord(
  scope: Scope,
  on: { invoiceId: string; subscription: SubscriptionRow; planName: string; position: number; period: Period },
): Record<string, unknown> {
  const { subscription, period } = on;
  return {
    ...recordOf(scope, on),
    subscriptionId: subscription.id,
    entityType: 'plan',
    entityId: subscription.planId,
    planId: subscription.planId,
    planDisplayName: on.planName,
    displayName: 'Credit for unused time',
    priceType: 'FIXED',
    currency: subscription.currency,
    quantity: '1',
    periodStart: period.start,
    periodEnd: period.end,
    metadata: { proration: 'carried_credit' },
    isCarriedCredit: true,
  };
}

/** A line as its row has it, but for its id and what discounts and credits make of it. */
export function lineRecord(
  scope: Scope,
  on: { invoiceId: string; subscription: SubscriptionRow; planName: string; position: number },
  line: BilledLine,
): Record<string, unknown> {
  const { subscription, planName } = line.child ?? on;
  return {
    ...recordOf(scope, on),
    subscriptionId: subscription.id,
    subscriptionLineItemId: line.subscriptionLineItemId,
    entityType: line.entityType,
    entityId: line.entityId,
    planId: subscription.planId,
    planDisplayName: planName,
    displayName: line.displayName,
    priceId: line.priceId,
    priceType: line.priceType,
    invoiceCadence: line.invoiceCadence,
    meterId: line.meterId,
    meterDisplayName: line.meterDisplayName,
    currency: subscription.currency,
    quantity: line.quantity,
    amount: line.amount,
    adjustedEntitlementQuantity: line.adjustedEntitlementQuantity,
    ...linePriceUnit(line.derivation),
    periodStart: line.periodStart,
    periodEnd: line.periodEnd,
    commitmentInfo: line.commitmentInfo,
    derivation: line.derivation,
    metadata: line.metadata,
  };
}

function recordOf(
  scope: Scope,
  on: { invoiceId: string; subscription: SubscriptionRow; position: number },
): Record<string, unknown> {
  const now = new Date().toISOString();
  return {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    invoiceId: on.invoiceId,
    customerId: on.subscription.invoicingCustomerId,
    position: on.position,
  };
}
