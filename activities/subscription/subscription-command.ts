import type { SqlTransaction } from '../../db/transaction.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { attachAddon } from '../../services/subscription/addon/subscription-addon.ts';
import { detachAddon } from '../../services/subscription/addon/subscription-addon-detach.ts';
import { once } from '../../services/subscription/addon/subscription-once.ts';
import type { PaidOpening } from '../../services/subscription/create/paid-opening.ts';
import { createSubscription } from '../../services/subscription/create/subscription-create.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import type { SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import * as messages from '../../workflows/subscription/subscription.messages.ts';
import { contentOf } from '../command-content.ts';
import { type DecidesLater, type OpeningAsked, orOpeningCharge, recordedOpening } from './opening-charge.ts';
import { superseding } from './superseding.ts';

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
          const content = await contentOf(tx, messages.createSubscription, command);
          const input = { ...content, at: command.at };
          return snapshot(await createSubscription(tx, tx.scope, input, readUsage, recordedOpening(paid)));
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
          const content = await contentOf(tx, messages.attachAddon, command);
          const input = { ...content, at: command.at, subscriptionId: self.subscriptionId };
          const touched = { addonIds: [content.attachment.addonId] };
          return act(tx, { ...input, touched }, () => attachAddon(tx, tx.scope, input, readUsage));
        },
        command.caller,
      ),

    detachAddon: ({
      command,
      ...self
    }: SubscriptionReference & { command: KeptCommand }): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const content = await contentOf(tx, messages.detachAddon, command);
          const order = { at: command.at, changeId: command.commandId, subscriptionId: self.subscriptionId };
          const input = { ...content, ...order };
          const detach = async () => (await detachAddon(tx, tx.scope, input)).attended;
          return act(tx, { ...input, touched: 'nothing' }, () => once(tx, tx.scope, input, 'addon_detached', detach));
        },
        command.caller,
      ),
  };
}
