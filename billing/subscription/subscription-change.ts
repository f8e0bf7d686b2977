import type { CommitmentChange } from '../commitment/commitment-change.ts';
import type { NewItemCommitment } from '../commitment/commitment-rules.ts';
import type { ProrationBehavior } from '../line/proration.ts';
import type { NewAttachment } from './new-subscription.ts';

/** A change as it is kept for the workflow: `input`, and the digest of the preview that it is held to; null: none. docs: previews.md */
export interface KeptChange<Input extends object> {
  previewDigest: string | null;
  input: Input;
}

/** A line item to add, shapes checked: of a price there is, or of one that it brings. spec: subscriptions-and-invoicing §1.9 */
export interface NewLineItem {
  priceId: string | null;
  /** The members of a new price of the subscription's own. */
  price: Record<string, unknown> | null;
  quantity: string | null;
  /** Null: now. */
  startDate: string | null;
  endDate: string | null;
  displayName: string | null;
  metadata: Record<string, string>;
  /** Null: the subscription's. */
  prorationBehavior: ProrationBehavior | null;
  /** The phase it belongs to; null or absent: none. */
  phaseId?: string | null;
  /** Null or absent: none. */
  commitment?: NewItemCommitment | null;
}

/** A change of a line item, shapes checked. Any of `terms` makes a new version. spec: subscriptions-and-invoicing §1.9 PUT */
export interface LineItemChange {
  lineItemId: string;
  /** Pricing members of the price. */
  terms: Record<string, unknown>;
  /** Null or absent: its commitment stays. */
  commitment?: CommitmentChange | null;
  metadata: Record<string, string> | null;
  /** Null: now. */
  effectiveFrom: string | null;
}

/** The end of a line item, shapes checked. spec: subscriptions-and-invoicing §1.9 DELETE */
export interface LineItemEnding {
  lineItemId: string;
  /** Null: now. */
  effectiveFrom: string | null;
  /** Null: the subscription's. */
  prorationBehavior: ProrationBehavior | null;
}

/** New quantities of line items, shapes checked. spec: subscriptions-and-invoicing §1.8 quantity_change */
export interface QuantityChanges {
  changes: {
    lineItemId: string;
    quantity: string;
    /** Null: now. */
    effectiveAt: string | null;
  }[];
}

/** When a change of plan takes place; a date is an instant. spec: subscriptions-and-invoicing §1.7 change_at */
export type ChangeTime = 'immediate' | 'end_of_period' | { date: string };

/** A change of plan in place, shapes checked. spec: subscriptions-and-invoicing §1.7 v2 */
export interface PlanChangeOrder {
  targetPlanId: string;
  prorationBehavior: ProrationBehavior;
  changeAt: ChangeTime;
  /** What becomes of attached add-ons, by association where it differs. */
  addons: { default: 'carry' | 'drop'; overrides: Record<string, 'carry' | 'drop'> };
  metadata: Record<string, string>;
}

/** A change of plan that replaces the subscription, shapes checked. spec: subscriptions-and-invoicing §1.7 v1 */
export interface ReplacementOrder {
  targetPlanId: string;
  prorationBehavior: ProrationBehavior;
  billingPeriod: string;
  billingPeriodCount: number;
  billingCycle: string;
  changeAt: ChangeTime;
  metadata: Record<string, string>;
  /** The id of the new subscription. */
  successorId: string;
}

/** A new end of a trial. spec: subscriptions-and-invoicing §1.8 trial_end */
export interface TrialEndChange {
  /** Null: now. */
  newTrialEnd: string | null;
}

/** A coupon redeemed or ended on a running subscription. spec: subscriptions-and-invoicing §1.8 coupon */
export type CouponChange =
  | {
      action: 'add';
      couponCode: string;
      startDate: string | null;
      endDate: string | null;
      lineItemId: string | null;
    }
  | { action: 'remove'; associationId: string; endDate: string | null };

/** A tax rate linked to or taken off a running subscription. spec: subscriptions-and-invoicing §1.8 tax */
export type TaxChange =
  | { action: 'add'; taxRateId: string; effectiveDate: string | null }
  | { action: 'remove'; associationId: string; effectiveDate: string | null };

/** An add-on attached or detached as a modification. spec: subscriptions-and-invoicing §1.8 addon */
export type AddonChange =
  | { action: 'add'; attachment: NewAttachment }
  | {
      action: 'remove';
      associationId: string;
      effectiveDate: string | null;
      prorationBehavior: ProrationBehavior | null;
      reason: string;
    };

/** Customers who shall inherit the subscription, or no longer, by external id. spec: subscriptions-and-invoicing §1.8 inheritance */
export interface InheritanceChange {
  action: 'add' | 'remove';
  externalIds: string[];
}

/** Subscriptions that are to be invoiced with a parent, or no longer. spec: subscriptions-and-invoicing §1.8 grouped_invoicing */
export interface GroupingChange {
  action: 'add' | 'remove';
  /** Where the changed subscription is the child and is added: the parent. */
  parentId: string | null;
  /** Where the changed subscription is the parent; empty where it is the child. */
  childIds: string[];
}
