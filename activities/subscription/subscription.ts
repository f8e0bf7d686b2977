import type { AgendaItem } from '../../billing/agenda.ts';
import { coalesce } from '../../db/coalesce.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type SqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateways } from '../../integrations/payment-gateway.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../services/charging/subscription-snapshot.ts';
import { parkObject, unparkObject } from '../../services/lifecycle/parked-object.ts';
import { timerSpread } from '../../services/lifecycle/timer-spread.ts';
import { findOpenCharge } from '../../services/subscription/create/opening-charge.ts';
import type { SubscriptionMoment } from '../../services/subscription/period/subscription-moment.ts';
import {
  refreshStep,
  type SubscriptionStep,
  type SubscriptionStepName,
  subscriptionSteps,
} from '../../services/subscription/period/subscription-steps.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller } from '../../workflows/lifecycle.messages.ts';
import type { SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import { crashPoint } from '../crash-points.ts';
import type { ConnectedProviders } from '../integration/connected-gateway.ts';
import { keepingRefusals } from '../kept-refusal.ts';
import { type DueCharge, dueChargesAtOnce, sendAtOnce, steppedAt } from '../payment/charge-at-once.ts';
import { commanded } from './commanded.ts';
import { createSubscriptionChanges } from './subscription-change.ts';
import { createSubscriptionCharges, recordCharges } from './subscription-charge.ts';
import { createSubscriptionCommands } from './subscription-command.ts';
import { createSubscriptionLife } from './subscription-life.ts';
import { createSubscriptionThreshold } from './subscription-threshold.ts';

export interface SubscriptionActivityDependencies {
  database: Database;
  readUsage: UsageReader;
  gateways: PaymentGateways;
  providers?: ConnectedProviders | undefined;
  /** Timers of real time are spread over this window after their exact instant. */
  timerSpreadMs: number;
}

interface Owner {
  tenantId: string;
  environmentId: string;
}

interface SubscriptionReference extends Owner {
  subscriptionId: string;
}

/** An agenda entry that is due. */
type DueEntry = Owner & SubscriptionMoment;

export type SubscriptionActivities = ReturnType<typeof createSubscriptionActivities>;

/** What subscription workflows do: each is one transaction, named like the agenda entry or the command it performs. */
export function createSubscriptionActivities(dependencies: SubscriptionActivityDependencies) {
  const { database, readUsage, gateways, providers } = dependencies;
  const decidesLater = (gateway: string) => providers?.adapters.get(gateway)?.decidesLater === true;
  const snapshot = (attended: AttendedSubscription) =>
    snapshotOf(attended, timerSpread(attended.row.id, dependencies.timerSpreadMs));
  const inScope = <T>(owner: Owner, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(owner), ...caller }, work);

  /** A step that many subscriptions take at one instant: concurrent calls share a transaction. */
  const together = (name: string, step: SubscriptionStep) =>
    coalesce<DueEntry, SubscriptionSnapshot>({
      groupOf: (moment) => moment.environmentId,
      async run(moments) {
        crashPoint(`${name}.beforeEffect`);
        const [first] = moments;
        if (!first) return [];
        const { attended, charges } = await inScope(first, async (tx) => {
          const result = await step(tx, tx.scope, moments, readUsage);
          const due = await dueChargesAtOnce(tx, gateways, steppedAt(result, moments));
          crashPoint(`${name}.beforeCommit`);
          return { attended: result, charges: due };
        });
        crashPoint(`${name}.beforeAnswer`);
        const byId = new Map(attended.map((each) => [each.row.id, snapshot(each)]));
        for (const [id, charged] of await chargeAtOnce(first, charges)) byId.set(id, charged);
        return moments.map((moment) => byId.get(moment.subscriptionId) as SubscriptionSnapshot);
      },
    });

  /**
   * Collects what a step left due where the gateway decides at once, and answers how those subscriptions stand then. What fails here
   * is still on their agendas: it fails again as a step of its own, or does not.
   */
  const chargeAtOnce = async (owner: Owner, charges: readonly DueCharge[]) => {
    if (charges.length === 0) return new Map<string, SubscriptionSnapshot>();
    const answers = await sendAtOnce(gateways, owner, charges);
    const recorded = await recordCharges({ inScope, snapshot }, answers).catch(() => []);
    return new Map(recorded.map(({ subscription }, index) => [answers[index]?.subscriptionId as string, subscription]));
  };

  const load = async (tx: SqlTransaction, subscriptionId: string) => {
    const [attended] = await refreshSubscriptions(tx, tx.scope.environmentId, [subscriptionId]);
    const found = attended ? snapshot(attended) : null;
    // A command that is under way holds the loop, so a charge seen here belongs to a run that was lost.
    const lost = await findOpenCharge(tx, tx.scope, subscriptionId);
    if (!lost) return found;
    const item = { at: instantText(lost.at), kind: 'abandonOpening', ref: lost.id };
    return abandoning(found, item, lost.parkedStep);
  };

  const steps = Object.fromEntries(
    Object.entries(subscriptionSteps).map(([name, step]) => [name, together(name, step)]),
  ) as Record<SubscriptionStepName, (entry: DueEntry) => Promise<SubscriptionSnapshot>>;

  return {
    loadSubscription: async (self: SubscriptionReference): Promise<SubscriptionSnapshot | null> =>
      inScope(self, (tx) => load(tx, self.subscriptionId)),

    ...steps,
    /** After a payment of one of its invoices went on in a workflow of its own. */
    refreshSubscription: together('refreshSubscription', refreshStep),

    ...createSubscriptionCharges({ inScope, snapshot }),
    ...keepingRefusals(database, {
      ...createSubscriptionCommands({ inScope: commanded(inScope), readUsage, snapshot, decidesLater }),
      ...createSubscriptionLife({ inScope: commanded(inScope), readUsage, snapshot, decidesLater }),
      ...createSubscriptionChanges({
        inRecordScope: commanded((owner, work, caller) =>
          inTransaction(database, { ...workflowScope(owner), ...caller }, work),
        ),
        readUsage,
        snapshot,
      }),
    }),
    ...createSubscriptionThreshold({ inScope, readUsage, snapshot }),

    parkSubscription: (
      input: SubscriptionReference & { step: string; reason: string },
    ): Promise<SubscriptionSnapshot> =>
      inScope(input, async (tx) => {
        await parkObject(tx, tx.scope, {
          objectType: 'subscription',
          objectId: input.subscriptionId,
          step: input.step,
          reason: input.reason,
        });
        return (await load(tx, input.subscriptionId)) as SubscriptionSnapshot;
      }),

    unparkSubscription: (self: SubscriptionReference): Promise<SubscriptionSnapshot> =>
      inScope(self, async (tx) => {
        await unparkObject(tx, tx.scope, { objectType: 'subscription', objectId: self.subscriptionId });
        return (await load(tx, self.subscriptionId)) as SubscriptionSnapshot;
      }),
  };
}

/** A subscription, made or not, of which a charge must be taken back before anything else. */
function abandoning(
  found: SubscriptionSnapshot | null,
  item: AgendaItem,
  blockedOn: string | null,
): SubscriptionSnapshot {
  if (found) return { ...found, agenda: [item, ...found.agenda] };
  return {
    version: 0,
    status: 'creating',
    agenda: [item],
    ended: false,
    details: 'not created · what was charged for it is taken back',
    spreadMs: 0,
    blockedOn,
    currentPeriodStart: item.at,
    currentPeriodEnd: item.at,
  };
}

function snapshotOf(
  { row, agenda, blockedOn, blockedReason }: AttendedSubscription,
  spreadMs: number,
): SubscriptionSnapshot {
  // An inherited subscription waits for nothing by itself: its workflow is there for a command and no longer.
  const rests = row.status === 'cancelled' || row.subscriptionType === 'inherited';
  const ended = rests && agenda.length === 0;
  const until =
    row.status === 'cancelled' ? `ended ${row.endDate}` : `period ${row.currentPeriodStart} to ${row.currentPeriodEnd}`;
  return {
    version: row.version,
    status: row.status,
    agenda,
    ended,
    details: `${row.status} · ${until}`,
    spreadMs,
    blockedOn,
    blockedReason,
    currentPeriodStart: row.currentPeriodStart,
    currentPeriodEnd: row.currentPeriodEnd,
  };
}
