import type { NewAttachment, NewSubscription } from '../../billing/subscription/new-subscription.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import { attachAddon } from '../../services/subscription/addon/subscription-addon.ts';
import { detachAddon } from '../../services/subscription/addon/subscription-addon-detach.ts';
import { once } from '../../services/subscription/addon/subscription-once.ts';
import type { PaidOpening } from '../../services/subscription/create/paid-opening.ts';
import { createSubscription } from '../../services/subscription/create/subscription-create.ts';
import type { AttendedSubscription } from '../../services/subscription/period/subscription-snapshot.ts';
import { readSubscriptionCommand } from '../../services/subscription/status/subscription-command.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type {
  Caller,
  DetachAddonCommand,
  KeptCommand,
  SubscriptionSnapshot,
} from '../../workflows/subscription/subscription.messages.ts';

import { type DecidesLater, type OpeningAsked, orOpeningCharge } from './opening-charge.ts';
import { superseding } from './superseding.ts';

interface AttachAddonContent {
  attachment: NewAttachment;
}

interface Owner {
  tenantId: string;
  environmentId: string;
}

interface CommandDependencies {
  inScope<T>(owner: Owner, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
  decidesLater: DecidesLater;
}

interface SubscriptionReference extends Owner {
  subscriptionId: string;
}

/** What people ask of a subscription: one transaction each, in the name of the caller. */
export function createSubscriptionCommands({ inScope, readUsage, snapshot, decidesLater }: CommandDependencies) {
  const act = superseding(snapshot);
  return {
    /** Answers what must be paid first instead, and is then called again with how that was paid. */
    createSubscription: ({
      command,
      paid = null,
      ...owner
    }: Owner & { command: KeptCommand; paid?: PaidOpening | null }): Promise<SubscriptionSnapshot | OpeningAsked> =>
      orOpeningCharge(
        inScope,
        owner,
        command.caller,
        async (tx) => {
          const content = await readSubscriptionCommand<NewSubscription>(tx, tx.scope, command.contentId);
          return snapshot(await createSubscription(tx, tx.scope, { ...content, at: command.at }, readUsage, paid));
        },
        decidesLater,
      ),

    attachAddon: ({
      command,
      ...self
    }: SubscriptionReference & { command: KeptCommand }): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const content = await readSubscriptionCommand<AttachAddonContent>(tx, tx.scope, command.contentId);
          const input = { ...content, at: command.at, subscriptionId: self.subscriptionId };
          const touched = { addonIds: [content.attachment.addonId] };
          return act(tx, { ...input, touched }, () => attachAddon(tx, tx.scope, input, readUsage));
        },
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
          return act(tx, { ...input, touched: 'nothing' }, () => once(tx, tx.scope, input, 'addon_detached', detach));
        },
        command.caller,
      ),
  };
}
