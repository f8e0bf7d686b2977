import type { SubscriptionActivities } from '../../activities/subscription/subscription.ts';
import type { AcceptCommand } from '../lifecycle-definition.ts';
import {
  attachAddon,
  detachAddon,
  type SubscriptionChanged,
  type SubscriptionSnapshot,
} from './subscription.messages.ts';
import {
  addLineItem,
  changeAddon,
  changeCoupon,
  changeGrouping,
  changeInheritance,
  changePlan,
  changeQuantities,
  changeTax,
  changeTrialEnd,
  endLineItem,
  replaceSubscription,
  updateLineItem,
} from './subscription-change.messages.ts';

interface Self {
  tenantId: string;
  environmentId: string;
  subscriptionId: string;
}

/** Registers what changes what a subscription holds. spec: subscriptions-and-invoicing §1.7–§1.9 */
export function acceptChanges(
  accept: AcceptCommand<SubscriptionSnapshot, SubscriptionChanged>,
  self: Self,
  local: SubscriptionActivities,
): void {
  accept(attachAddon, (command) => local.attachAddon({ ...self, command }));
  accept(detachAddon, (command) => local.detachAddon({ ...self, command }));
  accept(addLineItem, (command) => local.addLineItem({ ...self, command }));
  accept(updateLineItem, (command) => local.updateLineItem({ ...self, command }));
  accept(endLineItem, (command) => local.endLineItem({ ...self, command }));
  accept(changeQuantities, (command) => local.changeQuantities({ ...self, command }));
  accept(changeTrialEnd, (command) => local.changeTrialEnd({ ...self, command }));
  accept(changeCoupon, (command) => local.changeCoupon({ ...self, command }));
  accept(changeTax, (command) => local.changeTax({ ...self, command }));
  accept(changeAddon, (command) => local.changeAddon({ ...self, command }));
  accept(changeGrouping, (command) => local.changeGrouping({ ...self, command }));
  accept(changeInheritance, (command) => local.changeInheritance({ ...self, command }));
  accept(changePlan, (command) => local.changePlan({ ...self, command }));
  accept(replaceSubscription, (command) => local.replaceSubscription({ ...self, command }));
}
