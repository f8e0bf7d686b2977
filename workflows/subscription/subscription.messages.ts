import { defineUpdate } from '@temporalio/workflow';
import type { NewSubscription } from '../../billing/subscription/new-subscription.ts';
import type { KeptChange } from '../../billing/subscription/subscription-change.ts';
import type {
  Activation,
  AddonAttachment,
  AddonDetachment,
  CancellationOrder,
  PauseOrder,
  ResumeOrder,
  ScheduleCancellation,
  SubscriptionUpdate,
} from '../../billing/subscription/subscription-command.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type Command, defineCommand, type LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: subscriptionWorkflowType, workflowId: subscriptionWorkflowId } =
  lifecycleKinds.subscription;

/** Facts of its subscription that the workflow keeps between two activities. */
export interface SubscriptionSnapshot extends LifecycleSnapshot {
  currentPeriodStart: string;
  currentPeriodEnd: string;
  /** Checkout sessions that a command has ended, whose workflows are told. */
  endedCheckoutIds?: string[];
}

/** The answer of a mutation: ids and version; the route reads the row for the rest. */
export interface SubscriptionChanged {
  subscriptionId: string;
  version: number;
}

export const createSubscription = defineCommand<SubscriptionChanged, NewSubscription>('createSubscription');
export const cancelSubscription = defineCommand<SubscriptionChanged, CancellationOrder>('cancelSubscription');
export const updateSubscription = defineCommand<SubscriptionChanged, SubscriptionUpdate>('updateSubscription');
export const activateDraft = defineCommand<SubscriptionChanged, Activation>('activateDraft');
/** The command's id is that of the pause. */
export const pauseSubscription = defineCommand<SubscriptionChanged, KeptChange<PauseOrder>>('pauseSubscription');
export const resumeSubscription = defineCommand<SubscriptionChanged, KeptChange<ResumeOrder>>('resumeSubscription');
export const cancelSchedule = defineCommand<SubscriptionChanged, ScheduleCancellation>('cancelSchedule');
/** Invoices the usage of the current period until `at`, if it has reached the threshold. */
export const invoiceThreshold = defineUpdate<SubscriptionChanged, [Command]>('invoiceThreshold');
export const attachAddon = defineCommand<SubscriptionChanged, AddonAttachment>('attachAddon');
export const detachAddon = defineCommand<SubscriptionChanged, AddonDetachment>('detachAddon');
