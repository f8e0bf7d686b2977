import { defineUpdate } from '@temporalio/workflow';
import type { CancellationType } from '../../billing/subscription/subscription-cancel.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: subscriptionWorkflowType, workflowId: subscriptionWorkflowId } =
  lifecycleKinds.subscription;

/** Who asks, so that the change carries the caller's name and request into rows and audit. */
export interface Caller {
  actor: string;
  requestId: string;
}

/** A command whose content is a row, `contentId`: what holds amounts or texts does not get into a history. */
export interface KeptCommand {
  caller: Caller;
  at: string;
  contentId: string;
}

/** A command that is held to a preview, whose digest is a row under this id: it holds amounts and names. */
interface Bound {
  bindingId?: string;
}

/** Made by the request, so that a command whose task is repeated is carried out once; absent in commands of before. */
interface Identified {
  changeId?: string;
}

export interface CancelSubscriptionCommand extends Identified {
  caller: Caller;
  at: string;
  cancellationType: CancellationType;
  cancelAt: string | null;
  invoicePolicy: 'skip' | 'generate_invoice';
  /** Absent in commands that were sent before credits could go to a wallet. */
  prorationBehavior?: 'create_prorations' | 'none';
  reason: string;
}

export interface UpdateSubscriptionCommand extends Identified {
  caller: Caller;
  at: string;
  metadata?: Record<string, string>;
  cancelAt?: string | null;
  cancelAtPeriodEnd?: boolean;
  parentSubscriptionId?: string;
  subscriptionStatus?: string;
}

export interface CancelScheduleCommand extends Identified {
  caller: Caller;
  at: string;
  scheduleId: string;
}

export interface ActivateSubscriptionCommand extends Identified {
  caller: Caller;
  at: string;
  startDate: string;
}

export interface PauseSubscriptionCommand extends Identified, Bound {
  caller: Caller;
  at: string;
  pauseId: string;
  prorationBehavior: 'create_prorations' | 'none' | null;
  pauseEnd: string | null;
  reason: string;
  metadata: Record<string, string>;
}

export interface ResumeSubscriptionCommand extends Identified, Bound {
  caller: Caller;
  at: string;
  prorationBehavior: 'create_prorations' | 'none' | null;
  metadata: Record<string, string>;
}

/** The usage of the current period is to be invoiced until `at`, if it has reached the threshold. */
export interface ThresholdCommand {
  caller: Caller;
  at: string;
}

export interface DetachAddonCommand extends Identified {
  caller: Caller;
  at: string;
  associationId: string;
  effectiveDate: string | null;
  prorationBehavior: 'create_prorations' | 'none' | null;
  reason: string;
}

/** What the workflow knows of its subscription between two activities. */
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

export const createSubscription = defineUpdate<SubscriptionChanged, [KeptCommand]>('createSubscription');
export const cancelSubscription = defineUpdate<SubscriptionChanged, [CancelSubscriptionCommand]>('cancelSubscription');
export const updateSubscription = defineUpdate<SubscriptionChanged, [UpdateSubscriptionCommand]>('updateSubscription');
export const activateDraft = defineUpdate<SubscriptionChanged, [ActivateSubscriptionCommand]>('activateDraft');
export const pauseSubscription = defineUpdate<SubscriptionChanged, [PauseSubscriptionCommand]>('pauseSubscription');
export const resumeSubscription = defineUpdate<SubscriptionChanged, [ResumeSubscriptionCommand]>('resumeSubscription');
export const cancelSchedule = defineUpdate<SubscriptionChanged, [CancelScheduleCommand]>('cancelSchedule');
export const invoiceThreshold = defineUpdate<SubscriptionChanged, [ThresholdCommand]>('invoiceThreshold');
export const attachAddon = defineUpdate<SubscriptionChanged, [KeptCommand]>('attachAddon');
export const detachAddon = defineUpdate<SubscriptionChanged, [DetachAddonCommand]>('detachAddon');
