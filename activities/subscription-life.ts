import type { Scope } from '../db/scope.ts';
import { activateSubscription } from '../db/stores/subscription-activate.ts';
import { pauseSubscription } from '../db/stores/subscription-pause.ts';
import { resumeSubscription } from '../db/stores/subscription-resume.ts';
import { cancelSchedule } from '../db/stores/subscription-schedule-cancel.ts';
import type { AttendedSubscription } from '../db/stores/subscription-snapshot.ts';
import type { SqlTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type {
  ActivateSubscriptionCommand,
  Caller,
  CancelScheduleCommand,
  PauseSubscriptionCommand,
  ResumeSubscriptionCommand,
  SubscriptionSnapshot,
} from '../workflows/subscription.messages.ts';

interface SubscriptionReference {
  tenantId: string;
  environmentId: string;
  subscriptionId: string;
}

interface LifeDependencies {
  inScope<T>(owner: SubscriptionReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
}

type Commanded<Command> = SubscriptionReference & { command: Command };

/** Commands that move a subscription from one status to another: one transaction each, in the name of the caller. */
export function createSubscriptionLife({ inScope, readUsage, snapshot }: LifeDependencies) {
  const command =
    <Command extends { caller: Caller }>(
      change: (
        tx: SqlTransaction,
        scope: Scope,
        input: Command & { subscriptionId: string },
        usage: UsageReader,
      ) => Promise<AttendedSubscription>,
    ) =>
    ({ command, ...self }: Commanded<Command>): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) =>
          snapshot(await change(tx, tx.scope, { ...command, subscriptionId: self.subscriptionId }, readUsage)),
        command.caller,
      );

  return {
    activateDraft: command<ActivateSubscriptionCommand>(activateSubscription),
    pauseSubscription: command<PauseSubscriptionCommand>(pauseSubscription),
    cancelSchedule: command<CancelScheduleCommand>(cancelSchedule),
    resumeSubscription: command<ResumeSubscriptionCommand>(resumeSubscription),
  };
}
