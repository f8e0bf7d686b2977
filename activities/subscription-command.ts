import { attachAddon } from '../db/stores/subscription-addon.ts';
import { detachAddon } from '../db/stores/subscription-addon-detach.ts';
import { createSubscription } from '../db/stores/subscription-create.ts';
import { once } from '../db/stores/subscription-once.ts';
import type { AttendedSubscription } from '../db/stores/subscription-snapshot.ts';
import type { SqlTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type {
  AttachAddonCommand,
  Caller,
  CreateSubscriptionCommand,
  DetachAddonCommand,
  SubscriptionSnapshot,
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
        async (tx) => {
          const input = { ...command, subscriptionId: self.subscriptionId };
          const detach = async () => (await detachAddon(tx, tx.scope, input)).attended;
          return snapshot(await once(tx, tx.scope, input, 'addon_detached', detach));
        },
        command.caller,
      ),
  };
}
