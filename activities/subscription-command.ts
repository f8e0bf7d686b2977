import { attachAddon } from '../db/stores/subscription-addon.ts';
import { detachAddon } from '../db/stores/subscription-addon-detach.ts';
import { cancelSubscription } from '../db/stores/subscription-cancel.ts';
import { createSubscription } from '../db/stores/subscription-create.ts';
import type { AttendedSubscription } from '../db/stores/subscription-snapshot.ts';
import { updateSubscription } from '../db/stores/subscription-update.ts';
import type { SqlTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type {
  AttachAddonCommand,
  Caller,
  CancelSubscriptionCommand,
  CreateSubscriptionCommand,
  DetachAddonCommand,
  SubscriptionSnapshot,
  UpdateSubscriptionCommand,
} from '../workflows/subscription.messages.ts';

interface Owner {
  tenantId: string;
  environmentId: string;
}

interface CommandDependencies {
  inScope<T>(owner: Owner, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
}

interface SubscriptionReference extends Owner {
  subscriptionId: string;
}

/** What people ask of a subscription: one transaction each, in the name of the caller. */
export function createSubscriptionCommands({ inScope, readUsage, snapshot }: CommandDependencies) {
  return {
    createSubscription: (input: Owner & { command: CreateSubscriptionCommand }): Promise<SubscriptionSnapshot> =>
      inScope(
        input,
        async (tx) => snapshot(await createSubscription(tx, tx.scope, input.command, readUsage)),
        input.command.caller,
      ),

    cancelSubscription: (
      input: SubscriptionReference & { command: CancelSubscriptionCommand },
    ): Promise<SubscriptionSnapshot> =>
      inScope(
        input,
        async (tx) =>
          snapshot(
            await cancelSubscription(
              tx,
              tx.scope,
              { prorationBehavior: 'none', ...input.command, subscriptionId: input.subscriptionId },
              readUsage,
            ),
          ),
        input.command.caller,
      ),

    updateSubscription: (
      input: SubscriptionReference & { command: UpdateSubscriptionCommand },
    ): Promise<SubscriptionSnapshot> =>
      inScope(
        input,
        async (tx) =>
          snapshot(
            await updateSubscription(
              tx,
              tx.scope,
              { ...input.command, subscriptionId: input.subscriptionId },
              readUsage,
            ),
          ),
        input.command.caller,
      ),

    attachAddon: ({
      command,
      ...self
    }: SubscriptionReference & { command: AttachAddonCommand }): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) =>
          snapshot(await attachAddon(tx, tx.scope, { ...command, subscriptionId: self.subscriptionId }, readUsage)),
        command.caller,
      ),

    detachAddon: ({
      command,
      ...self
    }: SubscriptionReference & { command: DetachAddonCommand }): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) =>
          snapshot((await detachAddon(tx, tx.scope, { ...command, subscriptionId: self.subscriptionId })).attended),
        command.caller,
      ),
  };
}
