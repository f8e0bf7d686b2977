import { type BillingCycle, type BillingPeriod, nextBoundary, trialEnd } from './calendar.ts';
import type { NewItemCommitment } from './commitment-rules.ts';

export type SubscriptionStatus = 'draft' | 'trialing' | 'incomplete' | 'active' | 'paused' | 'cancelled';

/** What the rules of a subscription's life read and change; instants are ISO strings. Rows carry more. */
export interface SubscriptionState {
  status: SubscriptionStatus;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  billingAnchor: string;
  timezone: string;
  startDate: string;
  endDate: string | null;
  currentPeriodStart: string;
  currentPeriodEnd: string;
  trialStart: string | null;
  trialEnd: string | null;
  cancelAt: string | null;
  cancelledAt: string | null;
  cancelAtPeriodEnd: boolean;
}

export interface Period {
  start: string;
  end: string;
}

/** An add-on to attach, shapes checked. spec: subscriptions-and-invoicing §1.10 */
export interface NewAttachment {
  associationId: string;
  addonId: string;
  /** recurring, or onetime: for one period. */
  cadence: string;
  /** Null: now, or the start of the subscription that is created with it. */
  startDate: string | null;
  quantity: number;
  /** Null: the subscription's. */
  prorationBehavior: string | null;
  /** The text of a JSON object. */
  metadata: string;
}

/** What a subscription sets otherwise than an entitlement of its plan; an absent member stays. spec: §1.2 override_entitlements */
export interface NewOverride {
  entitlementId: string;
  /** Null is unlimited. */
  usageLimit?: number | null;
  isEnabled?: boolean;
  staticValue?: string;
  configValue?: Record<string, unknown>;
}

/** What a creation commits the whole subscription to. Decimals as strings. spec: subscriptions-and-invoicing §1.2, §2.7.1 */
export interface NewCommitment {
  /** Null: nothing. */
  amount: string | null;
  /** Null: the billing period. */
  duration: BillingPeriod | null;
  overageFactor: string;
  trueUp: boolean;
}

/** A price of the plan that the subscription pays otherwise. spec: subscriptions-and-invoicing §1.2 override_line_items */
export interface NewPriceOverride {
  priceId: string;
  quantity: string | null;
  /** Pricing members as the store of prices takes them. */
  terms: object;
}

/** A line item beside those of the plan. spec: subscriptions-and-invoicing §1.9 */
export interface NewLineItem {
  /** Either a price that exists or one as the store of prices takes it. */
  priceId: string | null;
  price: object | null;
  quantity: string | null;
  startDate: string | null;
  endDate: string | null;
  displayName: string;
  metadata: Record<string, string>;
  commitment: NewItemCommitment | null;
}

/** Credits to be granted, shapes checked. Decimals as strings. spec: wallets-and-payments §1.2 */
export interface NewCreditGrant {
  name: string;
  cadence: 'ONETIME' | 'RECURRING';
  credits: string;
  conversionRate: string | null;
  topupConversionRate: string | null;
  period: string | null;
  periodCount: number | null;
  expirationType: 'NEVER' | 'DURATION' | 'BILLING_CYCLE';
  expirationDuration: number | null;
  expirationDurationUnit: 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | null;
  priority: number | null;
  startDate: string | null;
  endDate: string | null;
  metadata: Record<string, string>;
}

/** What a creation asks for, shapes checked; instants are ISO strings. spec: subscriptions-and-invoicing §1.2 */
export interface NewSubscription {
  subscriptionId: string;
  at: string;
  customerId: string;
  planId: string;
  currency: string;
  billingPeriod: string;
  billingPeriodCount: number;
  billingCycle: string;
  billingAnchor: string | null;
  startDate: string | null;
  endDate: string | null;
  lookupKey: string;
  metadata: Record<string, string>;
  collectionMethod: string;
  paymentBehavior: string;
  paymentTerms: string | null;
  prorationBehavior: string;
  explicitProration: boolean;
  /** True for a draft, which begins when it is activated; absent in commands that were sent before there were drafts. */
  draft?: boolean;
  lineItemGrouping: string;
  timezone: string | null;
  includePriceIds: string[] | null;
  trialPeriodDays: number | null;
  gatewayPaymentMethodId: string | null;
  /** Null: the plan's. Absent in commands that were sent before there were thresholds. */
  autoInvoiceThreshold?: string | null;
  /** None: copies of the invoiced customer's links. Absent in commands that were sent before there were taxes. */
  taxRateOverrides?: NewTaxLink[];
  coupons?: NewCouponLink[];
  /** Absent in commands that were sent before there were commitments. */
  commitment?: NewCommitment;
  /** By the price of the plan. */
  lineItemCommitments?: Record<string, NewItemCommitment>;
  overrideLineItems?: NewPriceOverride[];
  lineItems?: NewLineItem[];
  /** The external id of another customer who is invoiced; null or absent: the subscriber. */
  invoicingExternalId?: string | null;
  /** In place of the plan's grants; null or absent: those. */
  creditGrants?: NewCreditGrant[] | null;
  /** Absent in commands that were sent before there were add-ons. */
  addons?: NewAttachment[];
  /** Absent in commands that were sent before there were overrides. */
  overrideEntitlements?: NewOverride[];
  /** For a subscription that takes another one's place: what is left of that one's advance charges. spec: §2.9.2 */
  replaces?: { credit: string };
}

/** A coupon that a creation redeems, named by id or by code. spec: subscriptions-and-invoicing §1.2 subscription_coupons */
export interface NewCouponLink {
  couponId: string | null;
  couponCode: string | null;
  startDate: string | null;
  endDate: string | null;
  /** The price whose line item is discounted; null for the whole invoice. */
  priceId: string | null;
  /** The line item that is discounted, where the caller knows it. */
  lineItemId?: string | null;
  /** Where the request names it, for the messages. */
  field: string;
}

/** A tax rate that a creation names. spec: subscriptions-and-invoicing §1.2 tax_rate_overrides */
export interface NewTaxLink {
  taxRateCode: string;
  currency: string;
  autoApply: boolean;
  priority: number | null;
  taxBehavior: 'inclusive' | 'exclusive' | null;
  metadata: Record<string, string>;
}

/** What the creation fixes of a subscription's time line. */
export interface OpeningTerms {
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  billingAnchor: string;
  timezone: string;
  startDate: string;
  endDate: string | null;
  trialDays: number;
}

/** The end of the period that starts at `periodStart` on this subscription's anchor. spec: subscriptions-and-invoicing §2.2.3 */
export function periodEndAfter(
  state: Pick<
    SubscriptionState,
    'billingAnchor' | 'billingPeriod' | 'billingPeriodCount' | 'billingCycle' | 'timezone' | 'endDate'
  >,
  periodStart: string,
): string {
  return nextBoundary({
    periodStart,
    anchor: state.billingAnchor,
    billingPeriod: state.billingPeriod,
    billingPeriodCount: state.billingPeriodCount,
    billingCycle: state.billingCycle,
    timezone: state.timezone,
    endDate: state.endDate,
  });
}

/**
 * The first state of a subscription: in its trial, or in its first period with the status that collection decides.
 * spec: subscriptions-and-invoicing §2.3.1, §2.10
 */
export function openSubscription(terms: OpeningTerms, statusWithoutTrial: SubscriptionStatus): SubscriptionState {
  const { trialDays, ...timeline } = terms;
  const base = { ...timeline, cancelAt: null, cancelledAt: null, cancelAtPeriodEnd: false };
  if (trialDays > 0) {
    const end = earlier(
      trialEnd({ startDate: terms.startDate, days: trialDays, timezone: terms.timezone }),
      terms.endDate,
    );
    return {
      ...base,
      status: 'trialing',
      trialStart: terms.startDate,
      trialEnd: end,
      currentPeriodStart: terms.startDate,
      currentPeriodEnd: end,
    };
  }
  return {
    ...base,
    status: statusWithoutTrial,
    trialStart: null,
    trialEnd: null,
    currentPeriodStart: terms.startDate,
    currentPeriodEnd: periodEndAfter(terms, terms.startDate),
  };
}

export interface ClosedPeriod {
  state: SubscriptionState;
  /** The period that ended: what the cycle invoice bills in arrear. */
  elapsed: Period;
  /** The period that begins: what the cycle invoice bills in advance; null when the subscription ended here. */
  next: Period | null;
}

/**
 * Closes the period that ends at `currentPeriodEnd`: the next one begins there, or the subscription ends because a
 * cancellation or its end date falls due at this boundary. spec: subscriptions-and-invoicing §2.5.1
 */
export function closePeriod(state: SubscriptionState): ClosedPeriod {
  const boundary = state.currentPeriodEnd;
  const elapsed = { start: state.currentPeriodStart, end: boundary };
  const cancelDue = state.cancelAt !== null && state.cancelAt <= boundary;
  const endReached = state.endDate !== null && state.endDate <= boundary;
  if (cancelDue || endReached) return { state: endedAt(state, boundary), elapsed, next: null };
  const end = earlier(periodEndAfter(state, boundary), state.cancelAt);
  return {
    state: { ...state, currentPeriodStart: boundary, currentPeriodEnd: end },
    elapsed,
    next: { start: boundary, end },
  };
}

/**
 * Ends a trial: billing anchors at its end, whatever the cycle, and the first billed period begins there.
 * A cancellation or end date due by then ends the subscription instead. spec: subscriptions-and-invoicing §2.10
 */
export function endTrial(state: SubscriptionState, statusAfter: SubscriptionStatus): ClosedPeriod {
  const boundary = state.currentPeriodEnd;
  const elapsed = { start: state.currentPeriodStart, end: boundary };
  const ended = [state.cancelAt, state.endDate].some((instant) => instant !== null && instant <= boundary);
  if (ended) return { state: endedAt(state, boundary), elapsed, next: null };
  const anchored = { ...state, billingAnchor: boundary, trialEnd: boundary };
  const end = earlier(periodEndAfter(anchored, boundary), state.cancelAt);
  return {
    state: { ...anchored, status: statusAfter, currentPeriodStart: boundary, currentPeriodEnd: end },
    elapsed,
    next: { start: boundary, end },
  };
}

/** The opening invoice is paid: an incomplete subscription becomes active; any other status stays. spec: §2.4 */
export function settleOpening(state: SubscriptionState): SubscriptionState {
  return state.status === 'incomplete' ? { ...state, status: 'active' } : state;
}

function endedAt(state: SubscriptionState, boundary: string): SubscriptionState {
  return {
    ...state,
    status: 'cancelled',
    cancelAt: state.cancelAt ?? boundary,
    cancelledAt: boundary,
    endDate: boundary,
  };
}

function earlier(instant: string, other: string | null): string {
  return other !== null && other < instant ? other : instant;
}
