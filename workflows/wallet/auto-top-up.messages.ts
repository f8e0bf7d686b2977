import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { TopUpResumption } from '../../billing/wallet/auto-topup-command.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type Command, defineCommand, type LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: autoTopUpWorkflowType, workflowId: autoTopUpWorkflowId } = lifecycleKinds.auto_top_up;

/** Standing of a wallet's top-ups: why it is not charging, and until when as far as time ends that. */
export interface AutoTopUpStanding {
  state: string;
  reason: string | null;
  until: string | null;
}

export interface AutoTopUpSnapshot extends LifecycleSnapshot, AutoTopUpStanding {}

/** News of a wallet, and its customer's present then. */
export interface TopUpNews {
  at: string;
}

/** The balance has fallen to the threshold: look at the wallet. Harmless at any time. */
export const balanceDropped = defineSignal<[TopUpNews]>('balanceDropped');
/** Terms, limits or the wallet changed. */
export const settingsChanged = defineSignal<[TopUpNews]>('settingsChanged');
/** A charge of the wallet was answered. */
export const paymentSettled = defineSignal<[TopUpNews]>('paymentSettled');
/** The customer's saved methods changed. */
export const methodChanged = defineSignal<[TopUpNews]>('methodChanged');
/** Looks at the wallet now and answers how it stands then; a person asks: pauses between top-ups do not hold, limits do. */
export const retryNow = defineUpdate<AutoTopUpStanding, [Command]>('retryNow');
/** Ends a pause, or gives up an attempt. */
export const resume = defineCommand<AutoTopUpStanding, TopUpResumption>('resume');
/** Why it is not charging, and when it will. */
export const standing = defineQuery<AutoTopUpStanding>('standing');
