import type { SubscriptionType } from '../../billing/subscription/hierarchy.ts';
import type { SubscriptionState, SubscriptionStatus } from '../../billing/subscription/subscription.ts';
import type { BillingCycle, BillingPeriod } from '../../billing/time/calendar.ts';
import { anyOf, type Columns, columnName, insertText, updateText } from '../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';

/** A subscription as its row has it: the state of its life and the terms around it. Instants are ISO strings. */
export interface SubscriptionRow extends SubscriptionState {
  id: string;
  tenantId: string;
  environmentId: string;
  customerId: string;
  invoicingCustomerId: string;
  planId: string;
  subscriptionType: SubscriptionType;
  parentSubscriptionId: string | null;
  /** Has or had a parent or children whose bills are one. */
  inHierarchy: boolean;
  lookupKey: string;
  currency: string;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  paymentBehavior: string;
  paymentTerms: string | null;
  prorationBehavior: 'create_prorations' | 'none';
  lineItemGrouping: 'per_charge_period' | 'per_billing_period';
  gatewayPaymentMethodId: string | null;
  commitmentAmount: string | null;
  /** Null is one billing period. */
  commitmentDuration: BillingPeriod | null;
  overageFactor: string;
  enableTrueUp: boolean;
  autoInvoiceThreshold: string | null;
  metadata: Record<string, string>;
  syncedPriceSequence: number;
  billingSequence: number;
  renewalNoticedFor: string | null;
  pauseStatus: 'none' | 'active';
  /** Empty when no pause is active. */
  activePauseId: string;
  testClockId: string | null;
  version: number;
}

/** The columns that a subscription's life changes. */
const changingColumns: Columns = {
  id: 'text',
  subscriptionStatus: 'text',
  subscriptionType: 'text',
  parentSubscriptionId: 'text',
  inHierarchy: 'boolean',
  billingAnchor: 'timestamptz',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  currentPeriodStart: 'timestamptz',
  currentPeriodEnd: 'timestamptz',
  trialStart: 'timestamptz',
  trialEnd: 'timestamptz',
  cancelAt: 'timestamptz',
  cancelledAt: 'timestamptz',
  cancelAtPeriodEnd: 'boolean',
  billingSequence: 'int',
  renewalNoticedFor: 'timestamptz',
  pauseStatus: 'text',
  activePauseId: 'text',
  metadata: 'jsonb',
  version: 'int',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};

const creationColumns: Columns = {
  ...changingColumns,
  tenantId: 'text',
  environmentId: 'text',
  createdAt: 'timestamptz',
  createdBy: 'text',
  customerId: 'text',
  invoicingCustomerId: 'text',
  planId: 'text',
  lookupKey: 'text',
  currency: 'text',
  billingPeriod: 'text',
  billingPeriodCount: 'int',
  billingCycle: 'text',
  timezone: 'text',
  collectionMethod: 'text',
  paymentBehavior: 'text',
  paymentTerms: 'text',
  prorationBehavior: 'text',
  lineItemGrouping: 'text',
  gatewayPaymentMethodId: 'text',
  commitmentAmount: 'numeric',
  commitmentDuration: 'text',
  overageFactor: 'numeric',
  enableTrueUp: 'boolean',
  autoInvoiceThreshold: 'numeric',
  syncedPriceSequence: 'bigint',
  testClockId: 'text',
};

export const insertSubscriptions = insertText('subscription', creationColumns);
export const updateSubscriptions = updateText('subscription', changingColumns);

/** The row to write for a subscription; `insertSubscriptions` and `updateSubscriptions` take it. */
export function subscriptionRecord(row: SubscriptionRow, actor: string, recordedAt: string): Record<string, unknown> {
  const { status, ...rest } = row;
  return {
    ...rest,
    subscriptionStatus: status,
    createdAt: recordedAt,
    createdBy: actor,
    updatedAt: recordedAt,
    updatedBy: actor,
  };
}

// Whoever is invoiced for the parent is invoiced for its group; the child's own payer is kept for when it leaves.
const payer = `case when subscription_type = 'grouped_invoicing' then (select p.invoicing_customer_id from subscription p
  where p.id = subscription.parent_subscription_id) else invoicing_customer_id end as invoicing_customer_id`;

const selectedColumns = [
  ...Object.keys(creationColumns).filter(
    (member) => !['createdAt', 'createdBy', 'updatedAt', 'updatedBy'].includes(member),
  ),
]
  .map((member) => (member === 'invoicingCustomerId' ? payer : columnName(member)))
  .join(', ');

/** Locks the subscriptions, in id order so that two transactions cannot deadlock, and returns them by id. */
export async function lockSubscriptions(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<Map<string, SubscriptionRow>> {
  const rows = await sql.rows<RawSubscription>(
    `select ${selectedColumns} from subscription where environment_id = $1 and id = ${anyOf('$2')} order by id for update`,
    [environmentId, [...ids]],
    'subscriptions-locked',
  );
  return new Map(rows.map((row) => [row.id, subscriptionFromRow(row)]));
}

/** Reads subscriptions without a lock. */
export async function readSubscriptions(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<Map<string, SubscriptionRow>> {
  const rows = await sql.rows<RawSubscription>(
    `select ${selectedColumns} from subscription where environment_id = $1 and id = ${anyOf('$2')}`,
    [environmentId, [...ids]],
    'subscriptions',
  );
  return new Map(rows.map((row) => [row.id, subscriptionFromRow(row)]));
}

/** A subscription row as PostgreSQL sends it: snake case, timestamps as text. */
export type RawSubscription = Record<string, string | number | boolean | null | Record<string, string>> & {
  id: string;
};

/** The row as the code has it. */
export function subscriptionFromRow(raw: RawSubscription): SubscriptionRow {
  const text = (column: string) => raw[column] as string;
  const optional = (column: string) => (raw[column] ?? null) as string | null;
  const at = (column: string) => instantText(text(column));
  const maybeAt = (column: string) => (raw[column] ? at(column) : null);
  return {
    id: raw.id,
    tenantId: text('tenant_id'),
    environmentId: text('environment_id'),
    customerId: text('customer_id'),
    invoicingCustomerId: text('invoicing_customer_id'),
    planId: text('plan_id'),
    subscriptionType: text('subscription_type') as SubscriptionType,
    parentSubscriptionId: optional('parent_subscription_id'),
    inHierarchy: raw.in_hierarchy === true,
    lookupKey: text('lookup_key'),
    currency: text('currency'),
    status: text('subscription_status') as SubscriptionStatus,
    billingPeriod: text('billing_period') as BillingPeriod,
    billingPeriodCount: Number(raw.billing_period_count),
    billingCycle: text('billing_cycle') as BillingCycle,
    billingAnchor: at('billing_anchor'),
    timezone: text('timezone'),
    startDate: at('start_date'),
    endDate: maybeAt('end_date'),
    currentPeriodStart: at('current_period_start'),
    currentPeriodEnd: at('current_period_end'),
    trialStart: maybeAt('trial_start'),
    trialEnd: maybeAt('trial_end'),
    cancelAt: maybeAt('cancel_at'),
    cancelledAt: maybeAt('cancelled_at'),
    cancelAtPeriodEnd: raw.cancel_at_period_end === true,
    collectionMethod: text('collection_method') as SubscriptionRow['collectionMethod'],
    paymentBehavior: text('payment_behavior'),
    paymentTerms: optional('payment_terms'),
    prorationBehavior: text('proration_behavior') as SubscriptionRow['prorationBehavior'],
    lineItemGrouping: text('line_item_grouping') as SubscriptionRow['lineItemGrouping'],
    gatewayPaymentMethodId: optional('gateway_payment_method_id'),
    commitmentAmount: raw.commitment_amount === null ? null : decimalText(text('commitment_amount')),
    commitmentDuration: optional('commitment_duration') as BillingPeriod | null,
    overageFactor: decimalText(text('overage_factor')),
    enableTrueUp: raw.enable_true_up === true,
    autoInvoiceThreshold: raw.auto_invoice_threshold === null ? null : decimalText(text('auto_invoice_threshold')),
    metadata: raw.metadata as Record<string, string>,
    syncedPriceSequence: Number(raw.synced_price_sequence),
    billingSequence: Number(raw.billing_sequence),
    renewalNoticedFor: maybeAt('renewal_noticed_for'),
    pauseStatus: text('pause_status') as SubscriptionRow['pauseStatus'],
    activePauseId: text('active_pause_id'),
    testClockId: optional('test_clock_id'),
    version: Number(raw.version),
  };
}
