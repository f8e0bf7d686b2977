import type { ProrationBehavior } from '../line/proration.ts';
import type { NewAttachment } from './new-subscription.ts';
import type { CancelRequest } from './subscription-cancel.ts';

/** A cancellation, shapes checked. spec: subscriptions-and-invoicing §2.12 */
export interface CancellationOrder extends CancelRequest {
  invoicePolicy: 'skip' | 'generate_invoice';
  prorationBehavior: ProrationBehavior;
  reason: string;
}

/** An update of a subscription, shapes checked; absent members stay. spec: subscriptions-and-invoicing §1.4 */
export interface SubscriptionUpdate {
  metadata?: Record<string, string>;
  /** Null takes an end at a date back. */
  cancelAt?: string | null;
  cancelAtPeriodEnd?: boolean;
  /** Empty: none. */
  parentSubscriptionId?: string;
  /** Only the present one is taken. */
  subscriptionStatus?: string;
}

/** Activation of a draft. spec: subscriptions-and-invoicing §2.4.1 */
export interface Activation {
  startDate: string;
}

/** A pause, shapes checked. spec: subscriptions-and-invoicing §1.5 */
export interface PauseOrder {
  /** Null: the subscription's. */
  prorationBehavior: ProrationBehavior | null;
  /** Kept, and nothing more: a pause lasts until it is resumed. */
  pauseEnd: string | null;
  reason: string;
  metadata: Record<string, string>;
}

/** End of a pause, shapes checked. spec: subscriptions-and-invoicing §1.5 */
export interface ResumeOrder {
  /** Null: the subscription's. */
  prorationBehavior: ProrationBehavior | null;
  /** Added to the pause's. */
  metadata: Record<string, string>;
}

/** Cancellation of something that was scheduled. spec: subscriptions-and-invoicing §2.9.4 */
export interface ScheduleCancellation {
  scheduleId: string;
}

/** Attachment of an add-on. spec: subscriptions-and-invoicing §1.10 */
export interface AddonAttachment {
  attachment: NewAttachment;
}

/** End of an add-on, shapes checked. spec: subscriptions-and-invoicing §1.10 */
export interface AddonDetachment {
  associationId: string;
  /** Null: the end of the current period, or now where that is later. */
  effectiveDate: string | null;
  /** Null: the subscription's. */
  prorationBehavior: ProrationBehavior | null;
  reason: string;
}
