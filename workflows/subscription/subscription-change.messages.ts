import { defineUpdate } from '@temporalio/workflow';
import type { KeptCommand, SubscriptionChanged } from './subscription.messages.ts';

/** A change of a subscription, which its request made the id of, so that the same request is one change. spec: §1.7–§1.9 */
const change = (name: string) => defineUpdate<SubscriptionChanged, [KeptCommand]>(name);

export const addLineItem = change('addLineItem');
export const updateLineItem = change('updateLineItem');
export const endLineItem = change('endLineItem');
export const changeQuantities = change('changeQuantities');
export const changePlan = change('changePlan');
export const replaceSubscription = change('replaceSubscription');
export const changeTrialEnd = change('changeTrialEnd');
export const changeCoupon = change('changeCoupon');
export const changeTax = change('changeTax');
export const changeAddon = change('changeAddon');
export const changeInheritance = change('changeInheritance');
export const changeGrouping = change('changeGrouping');
