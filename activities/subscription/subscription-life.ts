import type { TouchedParts } from '../../billing/subscription/planned-change.ts';
import type { KeptChange } from '../../billing/subscription/subscription-change.ts';
import type { ResumeOrder, SubscriptionUpdate } from '../../billing/subscription/subscription-command.ts';
import type { Scope } from '../../db/scope.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { type IdentifiedCommand, once } from '../../services/subscription/addon/subscription-once.ts';
import type { PaidOpening } from '../../services/subscription/create/paid-opening.ts';
import { activateSubscription } from '../../services/subscription/create/subscription-activate.ts';
import { cancelSchedule } from '../../services/subscription/plan-change/subscription-schedule-cancel.ts';
import { boundTransition } from '../../services/subscription/status/bound-transition.ts';
import { cancelSubscription } from '../../services/subscription/status/subscription-cancel.ts';
import { pauseSubscription } from '../../services/subscription/status/subscription-pause.ts';
import { resumeSubscription } from '../../services/subscription/status/subscription-resume.ts';
import { updateSubscription } from '../../services/subscription/status/subscription-update.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller, CommandDefinition, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import type { SubscriptionChanged, SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import * as messages from '../../workflows/subscription/subscription.messages.ts';
import { contentOf } from '../command-content.ts';
import { type DecidesLater, type OpeningAsked, orOpeningCharge, recordedOpening } from './opening-charge.ts';
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

type Commanded = SubscriptionReference & { command: KeptCommand };

/** Commands that move a subscription from one status to another: one transaction each, in the name of the caller. */
export function createSubscriptionLife({ inScope, readUsage, snapshot, decidesLater }: LifeDependencies) {
  const act = superseding(snapshot);
  const command =
    <Content extends object>(
      update: CommandDefinition<SubscriptionChanged, Content>,
      kind: string,
      change: Transition<Content>,
      touchedBy: (content: Content) => TouchedParts = () => 'nothing',
    ) =>
    ({ command, ...self }: Commanded): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const content = await contentOf(tx, update, command);
          const order = orderOf(self, command);
          return act(tx, { ...order, touched: touchedBy(content) }, () =>
            once(tx, tx.scope, order, kind, () => change(tx, tx.scope, { ...content, ...order }, readUsage)),
          );
        },
        command.caller,
      );

  return {
    cancelSubscription: command(messages.cancelSubscription, 'cancelled', cancelSubscription, wholly),
    updateSubscription: command(messages.updateSubscription, 'updated', updateSubscription, touchedByUpdate),
    /** Answers what must be paid first instead, and is then called again with how that was paid. */
    activateDraft: ({
      command,
      paid = null,
      ...self
    }: Commanded & { paid?: PaidOpening | null }): Promise<SubscriptionSnapshot | OpeningAsked> =>
      orOpeningCharge(
        inScope,
        self,
        command.caller,
        async (tx) => {
          const content = await contentOf(tx, messages.activateDraft, command);
          const order = orderOf(self, command);
          const opening = recordedOpening(paid);
          const activate = () => activateSubscription(tx, tx.scope, { ...content, ...order }, readUsage, opening);
          return act(tx, { ...order, touched: 'nothing' }, () => once(tx, tx.scope, order, 'activated', activate));
        },
        decidesLater,
      ),
    pauseSubscription: command(
      messages.pauseSubscription,
      'paused',
      asPreviewed((tx, scope, input, usage) =>
        pauseSubscription(tx, scope, { ...input, pauseId: input.changeId }, usage),
      ),
      wholly,
    ),
    cancelSchedule: command(messages.cancelSchedule, 'schedule_cancelled', cancelSchedule),
    resumeSubscription: command(messages.resumeSubscription, 'resumed', asPreviewed<ResumeOrder>(resumeSubscription)),
  };
}

const orderOf = ({ subscriptionId }: SubscriptionReference, { at, commandId }: KeptCommand): IdentifiedCommand => ({
  subscriptionId,
  at,
  changeId: commandId,
});

const wholly = (): TouchedParts => 'all';

/** An update that ends the subscription touches all of it; texts and links nothing that an order is about. */
function touchedByUpdate({ cancelAt, cancelAtPeriodEnd, subscriptionStatus }: SubscriptionUpdate): TouchedParts {
  return cancelAt != null || cancelAtPeriodEnd === true || subscriptionStatus !== undefined ? 'all' : 'nothing';
}

type Transition<Content> = (
  tx: SqlTransaction,
  scope: Scope,
  input: Content & IdentifiedCommand,
  usage: UsageReader,
) => Promise<AttendedSubscription>;

/** A pause or a resume, held to the preview that its caller names. docs: previews.md */
function asPreviewed<Input extends object>(transition: Transition<Input>): Transition<KeptChange<Input>> {
  return async (tx, scope, { input, previewDigest, subscriptionId, changeId, at }, usage) => {
    const perform = (moment: string) =>
      transition(tx, scope, { ...input, subscriptionId, changeId, at: moment }, usage);
    if (previewDigest === null) return perform(at);
    const bound = { previewDigest, request: input, subscriptionId, at };
    return (await boundTransition(tx, scope, bound, usage, perform)).attended;
  };
}
