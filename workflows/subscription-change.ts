import { setHandler } from '@temporalio/workflow';
import type { SubscriptionActivities } from '../activities/subscription.ts';
import type { Lifecycle } from './lifecycle.ts';
import { attachAddon, detachAddon, type SubscriptionSnapshot } from './subscription.messages.ts';
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

/** Changes of a subscription wait in the inbox of its loop like every command. spec: subscriptions-and-invoicing §1.7–§1.9 */
export function handleChanges(
  self: Self,
  lifecycle: Lifecycle<SubscriptionSnapshot>,
  local: SubscriptionActivities,
): void {
  const { subscriptionId } = self;
  const changed = ({ version }: SubscriptionSnapshot) => ({ subscriptionId, version });
  setHandler(attachAddon, async (command) =>
    changed(await lifecycle.command('attachAddon', command.at, () => local.attachAddon({ ...self, command }))),
  );
  setHandler(detachAddon, async (command) =>
    changed(await lifecycle.command('detachAddon', command.at, () => local.detachAddon({ ...self, command }))),
  );
  setHandler(addLineItem, async (command) =>
    changed(await lifecycle.command('addLineItem', command.at, () => local.addLineItem({ ...self, command }))),
  );
  setHandler(updateLineItem, async (command) =>
    changed(await lifecycle.command('updateLineItem', command.at, () => local.updateLineItem({ ...self, command }))),
  );
  setHandler(endLineItem, async (command) =>
    changed(await lifecycle.command('endLineItem', command.at, () => local.endLineItem({ ...self, command }))),
  );
  setHandler(changeQuantities, async (command) =>
    changed(
      await lifecycle.command('changeQuantities', command.at, () => local.changeQuantities({ ...self, command })),
    ),
  );
  setHandler(changeTrialEnd, async (command) =>
    changed(await lifecycle.command('changeTrialEnd', command.at, () => local.changeTrialEnd({ ...self, command }))),
  );
  setHandler(changeCoupon, async (command) =>
    changed(await lifecycle.command('changeCoupon', command.at, () => local.changeCoupon({ ...self, command }))),
  );
  setHandler(changeTax, async (command) =>
    changed(await lifecycle.command('changeTax', command.at, () => local.changeTax({ ...self, command }))),
  );
  setHandler(changeAddon, async (command) =>
    changed(await lifecycle.command('changeAddon', command.at, () => local.changeAddon({ ...self, command }))),
  );
  setHandler(changeGrouping, async (command) =>
    changed(await lifecycle.command('changeGrouping', command.at, () => local.changeGrouping({ ...self, command }))),
  );
  setHandler(changeInheritance, async (command) =>
    changed(
      await lifecycle.command('changeInheritance', command.at, () => local.changeInheritance({ ...self, command })),
    ),
  );
  setHandler(changePlan, async (command) =>
    changed(await lifecycle.command('changePlan', command.at, () => local.changePlan({ ...self, command }))),
  );
  setHandler(replaceSubscription, async (command) =>
    changed(
      await lifecycle.command('replaceSubscription', command.at, () => local.replaceSubscription({ ...self, command })),
    ),
  );
}
