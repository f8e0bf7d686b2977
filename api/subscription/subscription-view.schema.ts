import { z } from 'zod';
import { subscriptionWarnings } from '../../billing/subscription/unpriced-time.ts';
import { subscriptionStatusOnWire } from '../../services/subscription/read/subscription-event.ts';
import type { SubscriptionContent } from '../../services/subscription/read/subscription-read.ts';
import { price, viewPrice } from '../catalogue/price.schema.ts';
import { customer, viewCustomer } from '../customer/customer.schema.ts';
import { couponAssociation, viewCouponAssociation } from '../invoice/coupon.schema.ts';
import { listOf } from '../list.ts';
import { checkoutSession } from '../payment/checkout.schema.ts';
import { optionalDigestOutput } from '../preview-digest.schema.ts';
import { decimalOutput, metadataOutput, recordOutput, timestampOutput, viewRecord } from '../scalars.schema.ts';
import { creditGrant, viewGrant } from '../wallet/credit-grant.schema.ts';
import { subscriptionPhase, viewPhase } from './change/subscription-phase.schema.ts';
import {
  commitmentOutput,
  itemCommitmentOutput,
  viewCommitment,
  viewItemCommitment,
} from './subscription-commitment.schema.ts';
import { subscriptionPause, viewPause } from './subscription-pause.schema.ts';

export const lineItem = z
  .object({
    ...recordOutput,
    subscription_id: z.string(),
    customer_id: z.string(),
    entity_id: z.string(),
    entity_type: z.string(),
    plan_display_name: z.string(),
    display_name: z.string(),
    meter_id: z.string().nullable(),
    meter_display_name: z.string().nullable(),
    meter: z.null(),
    price_id: z.string(),
    price,
    price_type: z.string(),
    price_unit: z.string().nullable(),
    price_unit_id: z.string().nullable(),
    currency: z.string(),
    quantity: decimalOutput(),
    billing_period: z.string(),
    billing_period_count: z.int(),
    invoice_cadence: z.string(),
    trial_period: z.int(),
    start_date: timestampOutput(),
    end_date: timestampOutput().nullable(),
    addon_association_id: z.string().nullable(),
    ...itemCommitmentOutput,
    subscription_phase_id: z.string().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'SubscriptionLineItem' });

export const subscriptionWarning = z
  .object({ code: z.string(), message: z.string() })
  .meta({ id: 'SubscriptionWarning' });

export const subscription = z
  .object({
    ...recordOutput,
    customer_id: z.string(),
    invoicing_customer_id: z.string(),
    parent_subscription_id: z.string().nullable(),
    plan_id: z.string(),
    lookup_key: z.string(),
    subscription_status: z.string(),
    subscription_type: z.string(),
    pause_status: z.string(),
    active_pause_id: z.string(),
    pauses: z.array(subscriptionPause),
    currency: z.string(),
    billing_cadence: z.string(),
    billing_period: z.string(),
    billing_period_count: z.int(),
    billing_cycle: z.string(),
    billing_anchor: timestampOutput(),
    start_date: timestampOutput(),
    end_date: timestampOutput().nullable(),
    current_period_start: timestampOutput(),
    current_period_end: timestampOutput(),
    trial_start: timestampOutput().nullable(),
    trial_end: timestampOutput().nullable(),
    cancel_at: timestampOutput().nullable(),
    cancelled_at: timestampOutput().nullable(),
    cancel_at_period_end: z.boolean(),
    ...commitmentOutput,
    auto_invoice_threshold: decimalOutput().nullable(),
    collection_method: z.string(),
    payment_behavior: z.string(),
    payment_terms: z.string().nullable(),
    proration_behavior: z.string(),
    line_item_grouping: z.string(),
    gateway_payment_method_id: z.string().nullable(),
    timezone: z.string(),
    customer_timezone: z.string(),
    metadata: metadataOutput(),
    version: z.int(),
    synced_price_sequence: z.int(),
    line_items: z.array(lineItem),
    phases: z.array(subscriptionPhase),
    coupon_associations: z.array(couponAssociation),
    credit_grants: z.array(creditGrant),
    entitlements: z.array(z.unknown()),
    customer: customer.nullable(),
    plan: z.unknown().nullable(),
    latest_invoice: z.unknown().nullable(),
    checkout_session: checkoutSession.nullable().describe('Present in the answer that opened it.'),
    test_clock_id: z.string().nullable(),
    plan_prices_out_of_sync: z.boolean(),
    warnings: z.array(subscriptionWarning).describe('Allowed, and probably not meant: told of the current period.'),
  })
  .meta({ id: 'Subscription' });

export const subscriptionList = listOf(subscription, 'ListSubscriptionsResponse');

/** What is shown beside a subscription when it was asked for. */
export interface BesideSubscription {
  plan?: unknown;
  latestInvoice?: unknown;
}

/** The wire form of a subscription, every key present. spec: subscriptions-and-invoicing §1.3; interface: Subscription */
export function viewSubscription(
  content: SubscriptionContent,
  beside: BesideSubscription = {},
): z.output<typeof subscription> {
  const { row } = content;
  return {
    ...viewRecord(row),
    customer_id: row.customerId,
    invoicing_customer_id: row.invoicingCustomerId,
    parent_subscription_id: row.parentSubscriptionId ?? null,
    plan_id: row.planId,
    lookup_key: row.lookupKey,
    subscription_status: subscriptionStatusOnWire(row.subscriptionStatus),
    subscription_type: row.subscriptionType,
    pause_status: row.pauseStatus,
    active_pause_id: row.activePauseId,
    pauses: content.pauses.map(viewPause),
    currency: row.currency,
    billing_cadence: row.billingCadence,
    billing_period: row.billingPeriod,
    billing_period_count: row.billingPeriodCount,
    billing_cycle: row.billingCycle,
    billing_anchor: row.billingAnchor,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    current_period_start: row.currentPeriodStart,
    current_period_end: row.currentPeriodEnd,
    trial_start: row.trialStart ?? null,
    trial_end: row.trialEnd ?? null,
    cancel_at: row.cancelAt ?? null,
    cancelled_at: row.cancelledAt ?? null,
    cancel_at_period_end: row.cancelAtPeriodEnd,
    ...viewCommitment(row),
    auto_invoice_threshold: row.autoInvoiceThreshold ?? null,
    collection_method: row.collectionMethod,
    payment_behavior: row.paymentBehavior,
    payment_terms: row.paymentTerms ?? null,
    proration_behavior: row.prorationBehavior,
    line_item_grouping: row.lineItemGrouping,
    gateway_payment_method_id: row.gatewayPaymentMethodId ?? null,
    timezone: row.timezone,
    customer_timezone: row.timezone,
    metadata: row.metadata,
    version: row.version,
    synced_price_sequence: row.syncedPriceSequence,
    line_items: content.items.map(viewLineItem),
    phases: content.phases.map(viewPhase),
    coupon_associations: content.coupons.map(viewCouponAssociation),
    credit_grants: content.creditGrants.map(viewGrant),
    entitlements: [],
    customer: content.customer ? viewCustomer(content.customer) : null,
    plan: beside.plan ?? null,
    latest_invoice: beside.latestInvoice ?? null,
    checkout_session: null,
    test_clock_id: row.testClockId ?? null,
    plan_prices_out_of_sync: false,
    warnings: warningsOf(content),
  };
}

function warningsOf({ row, items }: SubscriptionContent) {
  const terms = items.map(({ row: { priceId, startDate: start, endDate: end } }) => ({
    priceId,
    start,
    end: end ?? null,
  }));
  return subscriptionWarnings({ ...row, isOnTestClock: Boolean(row.testClockId) }, terms);
}

export function viewLineItem({
  row,
  price: itemPrice,
  unit,
}: SubscriptionContent['items'][number]): z.output<typeof lineItem> {
  return {
    ...viewRecord(row),
    subscription_id: row.subscriptionId,
    customer_id: row.customerId,
    entity_id: row.entityId,
    entity_type: row.entityType,
    plan_display_name: row.planDisplayName,
    display_name: row.displayName,
    meter_id: row.meterId ?? null,
    meter_display_name: row.meterDisplayName ?? null,
    meter: null,
    price_id: row.priceId,
    price: viewPrice(itemPrice, { unit }),
    price_type: row.priceType,
    price_unit: itemPrice.priceUnit ?? null,
    price_unit_id: itemPrice.priceUnitId ?? null,
    currency: row.currency,
    quantity: row.quantity,
    billing_period: row.billingPeriod,
    billing_period_count: row.billingPeriodCount,
    invoice_cadence: row.invoiceCadence,
    trial_period: row.trialPeriodDays,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    addon_association_id: row.addonAssociationId ?? null,
    ...viewItemCommitment(row),
    subscription_phase_id: row.subscriptionPhaseId ?? null,
    metadata: row.metadata,
  };
}

/** The pause beside the subscription, and its members at the top, where the published client reads them. spec: §1.1, D9 */
export const pauseResult = subscriptionPause
  .extend({ pause: subscriptionPause, subscription, preview_digest: optionalDigestOutput })
  .meta({ id: 'SubscriptionPauseResult' });
