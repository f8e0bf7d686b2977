import { defineUpdate } from '@temporalio/workflow';
import type {
  AddonChange,
  CouponChange,
  LineItemChange,
  LineItemEnding,
  NewLineItem,
  PlanChangeOrder,
  QuantityChanges,
  ReplacementOrder,
  TaxChange,
  TrialEndChange,
} from '../billing/subscription-change.ts';
import type { Caller, SubscriptionChanged } from './subscription.messages.ts';

/** A change of a subscription: who asks for what, and the preview it shall be bound to. spec: §1.7–§1.9 */
export interface ChangeCommand<Input> {
  caller: Caller;
  at: string;
  /** Made by the request, so that the same request is one change. */
  changeId: string;
  previewDigest: string | null;
  input: Input;
}

const change = <Input>(name: string) => defineUpdate<SubscriptionChanged, [ChangeCommand<Input>]>(name);

export const addLineItem = change<NewLineItem>('addLineItem');
export const updateLineItem = change<LineItemChange>('updateLineItem');
export const endLineItem = change<LineItemEnding>('endLineItem');
export const changeQuantities = change<QuantityChanges>('changeQuantities');
export const changePlan = change<PlanChangeOrder>('changePlan');
export const replaceSubscription = change<ReplacementOrder>('replaceSubscription');
export const changeTrialEnd = change<TrialEndChange>('changeTrialEnd');
export const changeCoupon = change<CouponChange>('changeCoupon');
export const changeTax = change<TaxChange>('changeTax');
export const changeAddon = change<AddonChange>('changeAddon');
