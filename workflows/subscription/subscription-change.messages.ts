import type {
  AddonChange,
  CouponChange,
  GroupingChange,
  InheritanceChange,
  KeptChange,
  LineItemChange,
  LineItemEnding,
  NewLineItem,
  PlanChangeOrder,
  QuantityChanges,
  ReplacementOrder,
  TaxChange,
  TrialEndChange,
} from '../../billing/subscription/subscription-change.ts';
import { defineCommand } from '../lifecycle.messages.ts';
import type { SubscriptionChanged as Changed } from './subscription.messages.ts';

// Changes of a subscription: the command's id is that of the change's record. spec: subscriptions-and-invoicing §1.7–§1.9

export const addLineItem = defineCommand<Changed, KeptChange<NewLineItem>>('addLineItem');
export const updateLineItem = defineCommand<Changed, KeptChange<LineItemChange>>('updateLineItem');
export const endLineItem = defineCommand<Changed, KeptChange<LineItemEnding>>('endLineItem');
export const changeQuantities = defineCommand<Changed, KeptChange<QuantityChanges>>('changeQuantities');
export const changePlan = defineCommand<Changed, KeptChange<PlanChangeOrder>>('changePlan');
export const replaceSubscription = defineCommand<Changed, KeptChange<ReplacementOrder>>('replaceSubscription');
export const changeTrialEnd = defineCommand<Changed, KeptChange<TrialEndChange>>('changeTrialEnd');
export const changeCoupon = defineCommand<Changed, KeptChange<CouponChange>>('changeCoupon');
export const changeTax = defineCommand<Changed, KeptChange<TaxChange>>('changeTax');
export const changeAddon = defineCommand<Changed, KeptChange<AddonChange>>('changeAddon');
export const changeInheritance = defineCommand<Changed, KeptChange<InheritanceChange>>('changeInheritance');
export const changeGrouping = defineCommand<Changed, KeptChange<GroupingChange>>('changeGrouping');
