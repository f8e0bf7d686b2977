import type { TouchedParts } from '../../billing/subscription/planned-change.ts';
import type { Scope } from '../../db/scope.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import { once } from '../../services/subscription/addon/subscription-once.ts';
import type { PaidOpening } from '../../services/subscription/create/paid-opening.ts';
import { activateSubscription } from '../../services/subscription/create/subscription-activate.ts';
import type { AttendedSubscription } from '../../services/subscription/period/subscription-snapshot.ts';
import { cancelSchedule } from '../../services/subscription/plan-change/subscription-schedule-cancel.ts';
import { type BoundTransition, boundTransition } from '../../services/subscription/status/bound-transition.ts';
import { cancelSubscription } from '../../services/subscription/status/subscription-cancel.ts';
import { readSubscriptionCommand } from '../../services/subscription/status/subscription-command.ts';
import { pauseSubscription } from '../../services/subscription/status/subscription-pause.ts';
import { resumeSubscription } from '../../services/subscription/status/subscription-resume.ts';
import { updateSubscription } from '../../services/subscription/status/subscription-update.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type {
  ActivateSubscriptionCommand,
  Caller,
  CancelScheduleCommand,
  CancelSubscriptionCommand,
  PauseSubscriptionCommand,
  ResumeSubscriptionCommand,
  SubscriptionSnapshot,
  UpdateSubscriptionCommand,
} from '../../workflows/subscription/subscription.messages.ts';

import { type DecidesLater, type OpeningAsked, orOpeningCharge } from './opening-charge.ts';
import { superseding } from './superseding.ts';

interface SubscriptionReference {
  tenantId: string;
  environmentId: string;
  subscriptionId: string;
}

interface LifeDependencies {
  inScope<T>(owner: SubscriptionReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
  decidesLater: DecidesLater;
}

type Commanded<Command> = SubscriptionReference & { command: Command };

/** Commands that move a subscription from one status to another: one transaction each, in the name of the caller. */
export function createSubscriptionLife({ inScope, readUsage, snapshot, decidesLater }: LifeDependencies) {
  const act = superseding(snapshot);
  const command =
    <Command extends { caller: Caller; at: string; changeId?: string }>(
      kind: string,
      change: Transition<Command & { subscriptionId: string }>,
      touchedBy: (command: Command) => TouchedParts = () => 'nothing',
    ) =>
    ({ command, ...self }: Commanded<Command>): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const input = { ...command, subscriptionId: self.subscriptionId };
          const touched = touchedBy(command);
          return act(tx, { ...input, touched }, () =>
            once(tx, tx.scope, input, kind, () => change(tx, tx.scope, input, readUsage)),
          );
        },
        command.caller,
      );

  return {
    cancelSubscription: command<CancelSubscriptionCommand>(
      'cancelled',
      (tx, scope, input, usage) => cancelSubscription(tx, scope, { prorationBehavior: 'none', ...input }, usage),
      wholly,
    ),
    updateSubscription: command<UpdateSubscriptionCommand>('updated', updateSubscription, touchedByUpdate),
    /** Answers what must be paid first instead, and is then called again with how that was paid. */
    activateDraft: ({
      command,
      paid = null,
      ...self
    }: Commanded<ActivateSubscriptionCommand> & { paid?: PaidOpening | null }): Promise<
      SubscriptionSnapshot | OpeningAsked
    > =>
      orOpeningCharge(
        inScope,
        self,
        command.caller,
        async (tx) => {
          const input = { ...command, subscriptionId: self.subscriptionId };
          const activate = () => activateSubscription(tx, tx.scope, input, readUsage, paid);
          const change = { ...input, touched: 'nothing' } as const;
          return act(tx, change, () => once(tx, tx.scope, input, 'activated', activate));
        },
        decidesLater,
      ),
    pauseSubscription: command<PauseSubscriptionCommand>('paused', asPreviewed(pauseSubscription), wholly),
    cancelSchedule: command<CancelScheduleCommand>('schedule_cancelled', cancelSchedule),
    resumeSubscription: command<ResumeSubscriptionCommand>('resumed', asPreviewed(resumeSubscription)),
  };
}

const wholly = (): TouchedParts => 'all';

/** An update that ends the subscription touches all of it; texts and links nothing that an order is about. */
function touchedByUpdate({ cancelAt, cancelAtPeriodEnd, subscriptionStatus }: UpdateSubscriptionCommand): TouchedParts {
  return cancelAt != null || cancelAtPeriodEnd === true || subscriptionStatus !== undefined ? 'all' : 'nothing';
}

type Transition<Input> = (
  tx: SqlTransaction,
  scope: Scope,
  input: Input,
  usage: UsageReader,
) => Promise<AttendedSubscription>;

/** A pause or a resume, held to the preview that its caller names. docs: previews.md */
function asPreviewed<Input extends { subscriptionId: string; at: string }>(
  transition: Transition<Input>,
): Transition<Input & { bindingId?: string }> {
  return async (tx, scope, input, usage) => {
    const { bindingId, subscriptionId, at } = input;
    if (bindingId === undefined) return transition(tx, scope, input, usage);
    const kept = await readSubscriptionCommand<Pick<BoundTransition, 'previewDigest' | 'request'>>(
      tx,
      scope,
      bindingId,
    );
    const bound = { ...kept, subscriptionId, at };
    const made = await boundTransition(tx, scope, bound, usage, (moment) =>
      transition(tx, scope, { ...input, at: moment }, usage),
    );
    return made.attended;
  };
}
