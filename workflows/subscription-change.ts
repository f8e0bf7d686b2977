import { setHandler } from '@temporalio/workflow';
import type { SubscriptionActivities } from '../activities/subscription.ts';
import type { Lifecycle } from './lifecycle-definition.ts';
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
    changed(await lifecycle.command('attachAddon', command, (command) => local.attachAddon({ ...self, command }))),
  );
  setHandler(detachAddon, async (command) =>
    changed(await lifecycle.command('detachAddon', command, (command) => local.detachAddon({ ...self, command }))),
  );
  setHandler(addLineItem, async (command) =>
    changed(await lifecycle.command('addLineItem', command, (command) => local.addLineItem({ ...self, command }))),
  );
  setHandler(updateLineItem, async (command) =>
    changed(
      await lifecycle.command('updateLineItem', command, (command) => local.updateLineItem({ ...self, command })),
    ),
  );
  setHandler(endLineItem, async (command) =>
    changed(await lifecycle.command('endLineItem', command, (command) => local.endLineItem({ ...self, command }))),
  );
  setHandler(changeQuantities, async (command) =>
    changed(
      await lifecycle.command('changeQuantities', command, (command) => local.changeQuantities({ ...self, command })),
    ),
  );
  setHandler(changeTrialEnd, async (command) =>
    changed(
      await lifecycle.command('changeTrialEnd', command, (command) => local.changeTrialEnd({ ...self, command })),
    ),
  );
  setHandler(changeCoupon, async (command) =>
    changed(await lifecycle.command('changeCoupon', command, (command) => local.changeCoupon({ ...self, command }))),
  );
  setHandler(changeTax, async (command) =>
    changed(await lifecycle.command('changeTax', command, (command) => local.changeTax({ ...self, command }))),
  );
  setHandler(changeAddon, async (command) =>
    changed(await lifecycle.command('changeAddon', command, (command) => local.changeAddon({ ...self, command }))),
  );
  setHandler(changeGrouping, async (command) =>
    changed(
      await lifecycle.command('changeGrouping', command, (command) => local.changeGrouping({ ...self, command })),
    ),
  );
  setHandler(changeInheritance, async (command) =>
    changed(
      await lifecycle.command('changeInheritance', command, (command) => local.changeInheritance({ ...self, command })),
    ),
  );
  setHandler(changePlan, async (command) =>
    changed(await lifecycle.command('changePlan', command, (command) => local.changePlan({ ...self, command }))),
  );
  setHandler(replaceSubscription, async (command) =>
    changed(
      await lifecycle.command('replaceSubscription', command, (command) =>
        local.replaceSubscription({ ...self, command }),
      ),
    ),
  );
}
