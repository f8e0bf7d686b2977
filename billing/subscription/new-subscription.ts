import type { NewItemCommitment } from '../commitment/commitment-rules.ts';
import type { BillingPeriod } from '../time/calendar.ts';

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
  /** By the add-on's price; absent: none. */
  lineItemCommitments?: Record<string, NewItemCommitment>;
  /** Prices of the add-on that this subscription pays otherwise. */
  overrideLineItems?: NewPriceOverride[];
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
  /** Charging of the period in which it begins; null or absent: as the subscription says. */
  prorationBehavior?: 'create_prorations' | 'none' | null;
}

/** A stretch of a subscription with terms of its own. spec: subscriptions-and-invoicing §1.2 phases */
export interface NewPhase {
  phaseId: string;
  startDate: string;
  endDate: string | null;
  overrideLineItems: NewPriceOverride[];
  lineItems: NewLineItem[];
  coupons: NewCouponLink[];
  metadata: Record<string, string>;
}

/** Invoices that granted credits may pay: any, or none of a period that had ended when they were granted. spec: README decision 49 */
export type GrantPays = 'any_open_invoice' | 'from_grant_on';

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
  /** Absent: any open invoice. */
  pays?: GrantPays;
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
  /** True for a draft, which begins when it is activated. */
  draft: boolean;
  lineItemGrouping: string;
  timezone: string | null;
  includePriceIds: string[] | null;
  trialPeriodDays: number | null;
  /** Ends of the trial as they were sent. */
  trialStart: string | null;
  trialEnd: string | null;
  gatewayPaymentMethodId: string | null;
  /** Null: the plan's. */
  autoInvoiceThreshold: string | null;
  /** None: copies of the invoiced customer's links. */
  taxRateOverrides: NewTaxLink[];
  coupons: NewCouponLink[];
  commitment: NewCommitment;
  /** By the price of the plan. */
  lineItemCommitments: Record<string, NewItemCommitment>;
  overrideLineItems: NewPriceOverride[];
  lineItems: NewLineItem[];
  /** The external id of another customer who is invoiced; null: the subscriber. */
  invoicingExternalId: string | null;
  hierarchy: NewHierarchy;
  /** In place of the plan's grants; null: those. */
  creditGrants: NewCreditGrant[] | null;
  addons: NewAttachment[];
  overrideEntitlements: NewOverride[];
  phases: NewPhase[];
  /** For a subscription that takes another one's place: what is left of that one's advance charges. spec: §2.9.2 */
  replaces?: { credit: string };
}

/** Terms of a subscription of which no more is known than its plan, its periods and how it is paid. */
export const plainTerms = {
  draft: false,
  trialStart: null,
  trialEnd: null,
  autoInvoiceThreshold: null,
  taxRateOverrides: [],
  coupons: [],
  commitment: { amount: null, duration: null, overageFactor: '1', trueUp: false },
  lineItemCommitments: {},
  overrideLineItems: [],
  lineItems: [],
  invoicingExternalId: null,
  hierarchy: {
    heirExternalIds: [],
    parentSubscriptionId: null,
    isInvoicedToParent: false,
    groupedIds: [],
    groupedChildren: [],
  },
  creditGrants: null,
  addons: [],
  overrideEntitlements: [],
  phases: [],
} satisfies Partial<NewSubscription>;

/** The others a creation brings a subscription together with. spec: subscriptions-and-invoicing §1.2 inheritance, §2.13 */
export interface NewHierarchy {
  /** External ids of customers who inherit it. */
  heirExternalIds: string[];
  /** The subscription it is linked to. */
  parentSubscriptionId: string | null;
  /** Its invoices go to whom the parent's go. */
  isInvoicedToParent: boolean;
  /** Subscriptions that are invoiced with it. */
  groupedIds: string[];
  /** Subscriptions of other customers that are created with it and invoiced with it. */
  groupedChildren: NewGroupedChild[];
}

/** A child that is created with the parent it is invoiced with. spec: subscriptions-and-invoicing §2.13 */
export interface NewGroupedChild {
  customerExternalId: string;
  creation: NewSubscription;
  /** Null or absent: the trial of its parent. */
  trialDays?: number | null;
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
