import { defineUpdate } from '@temporalio/workflow';
import type { CancellationType } from '../billing/subscription-cancel.ts';
import type { LifecycleSnapshot } from './lifecycle.messages.ts';

export const subscriptionWorkflowType = 'subscription';

export function subscriptionWorkflowId(subscriptionId: string): string {
  return `subscription/${subscriptionId}`;
}

/** Who asks, so that the change carries the caller's name and request into rows and audit. */
export interface Caller {
  actor: string;
  requestId: string;
}

/** The creation as the route checked it; facts (does the customer exist?) are decided by its transaction. spec: §1.2 */
export interface CreateSubscriptionCommand {
  caller: Caller;
  subscriptionId: string;
  /** The customer's present when the request came. */
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
  lineItemGrouping: string;
  timezone: string | null;
  includePriceIds: string[] | null;
  trialPeriodDays: number | null;
  gatewayPaymentMethodId: string | null;
}

export interface CancelSubscriptionCommand {
  caller: Caller;
  at: string;
  cancellationType: CancellationType;
  cancelAt: string | null;
  invoicePolicy: 'skip' | 'generate_invoice';
  reason: string;
}

export interface UpdateSubscriptionCommand {
  caller: Caller;
  at: string;
  metadata: Record<string, string>;
}

/** What the workflow knows of its subscription between two activities. */
export interface SubscriptionSnapshot extends LifecycleSnapshot {
  currentPeriodStart: string;
  currentPeriodEnd: string;
}

/** The answer of a mutation: ids and version; the route reads the row for the rest. */
export interface SubscriptionChanged {
  subscriptionId: string;
  version: number;
}

export const createSubscription = defineUpdate<SubscriptionChanged, [CreateSubscriptionCommand]>('createSubscription');
export const cancelSubscription = defineUpdate<SubscriptionChanged, [CancelSubscriptionCommand]>('cancelSubscription');
export const updateSubscription = defineUpdate<SubscriptionChanged, [UpdateSubscriptionCommand]>('updateSubscription');
