import type { Database } from '../db/orm.ts';
import { type Scope, workflowScope } from '../db/scope.ts';
import { issueInvoices } from '../db/stores/invoice-issue.ts';
import { attendInvoice } from '../db/stores/invoice-snapshot.ts';
import { parkObject, unparkObject } from '../db/stores/parked-object.ts';
import { closePeriods, endTrials } from '../db/stores/subscription-close.ts';
import { activateSubscriptions, noticeRenewals } from '../db/stores/subscription-notice.ts';
import { readSubscriptions } from '../db/stores/subscription-row.ts';
import {
  type AttendedSubscription,
  one,
  refreshAgendas,
  refreshSubscriptions,
} from '../db/stores/subscription-snapshot.ts';
import { inSqlTransaction, type SqlTransaction } from '../db/transaction.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type { Caller, SubscriptionSnapshot } from '../workflows/subscription.messages.ts';
import { coalesce } from './coalesce.ts';
import { crashPoint } from './crash-points.ts';
import { createSubscriptionCharges } from './subscription-charge.ts';
import { createSubscriptionCommands } from './subscription-command.ts';
import { createSubscriptionLife } from './subscription-life.ts';
import { timerSpread } from './timer-spread.ts';

export interface SubscriptionActivityDependencies {
  database: Database;
  readUsage: UsageReader;
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

interface SubscriptionMoment extends SubscriptionReference {
  /** The instant of the agenda entry. */
  at: string;
}

interface InvoiceOfSubscription extends SubscriptionMoment {
  invoiceId: string;
}

type SetStep<Moment extends SubscriptionMoment = SubscriptionMoment> = (
  tx: SqlTransaction,
  scope: Scope,
  moments: readonly Moment[],
) => Promise<AttendedSubscription[]>;

const maxSubscriptionsASet = 200;

export type SubscriptionActivities = ReturnType<typeof createSubscriptionActivities>;

/** What subscription workflows do: each is one transaction, named like the agenda entry or the command it performs. */
export function createSubscriptionActivities(dependencies: SubscriptionActivityDependencies) {
  const { database, readUsage } = dependencies;
  const snapshot = (attended: AttendedSubscription) =>
    snapshotOf(attended, timerSpread(attended.row.id, dependencies.timerSpreadMs));
  const inScope = <T>(owner: Owner, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(owner), ...caller }, work);

  /** A step that many subscriptions take at one instant: concurrent calls share a transaction. */
  const together = <Moment extends SubscriptionMoment = SubscriptionMoment>(name: string, step: SetStep<Moment>) =>
    coalesce<Moment, SubscriptionSnapshot>({
      groupOf: (moment) => moment.environmentId,
      maxRequests: maxSubscriptionsASet,
      async run(moments) {
        crashPoint(`${name}.beforeEffect`);
        const [first] = moments;
        if (!first) return [];
        const attended = await inScope(first, async (tx) => {
          const result = await step(tx, tx.scope, moments);
          crashPoint(`${name}.beforeCommit`);
          return result;
        });
        crashPoint(`${name}.beforeAnswer`);
        const byId = new Map(attended.map((each) => [each.row.id, snapshot(each)]));
        return moments.map((moment) => byId.get(moment.subscriptionId) as SubscriptionSnapshot);
      },
    });

  const load = async (tx: SqlTransaction, subscriptionId: string) => {
    const rows = await readSubscriptions(tx, tx.scope.environmentId, [subscriptionId]);
    return rows.size === 0 ? null : snapshot(one(await refreshAgendas(tx, tx.scope.environmentId, [...rows.values()])));
  };

  /** Reads the subscriptions after their invoices changed and writes their agendas down. */
  const refresh: SetStep = (tx, scope, moments) =>
    refreshSubscriptions(
      tx,
      scope.environmentId,
      moments.map((moment) => moment.subscriptionId),
    );

  return {
    loadSubscription: async (self: SubscriptionReference): Promise<SubscriptionSnapshot | null> =>
      inScope(self, (tx) => load(tx, self.subscriptionId)),

    closePeriod: together('closePeriod', (tx, scope, moments) => closePeriods(tx, scope, moments, readUsage)),
    endTrial: together('endTrial', (tx, scope, moments) => endTrials(tx, scope, moments, readUsage)),
    noticeRenewal: together('noticeRenewal', noticeRenewals),
    /** Issues drafts whose window is over. spec: subscriptions-and-invoicing §2.15.4 */
    finalizeInvoice: together<InvoiceOfSubscription>('finalizeInvoice', async (tx, scope, moments) => {
      await issueInvoices(tx, scope, moments, readUsage);
      return refresh(tx, scope, moments);
    }),
    /** From now on an unsettled invoice has a workflow of its own. */
    attendInvoice: together<InvoiceOfSubscription>('attendInvoice', async (tx, scope, moments) => {
      for (const { invoiceId } of moments) await attendInvoice(tx, scope, invoiceId);
      return refresh(tx, scope, moments);
    }),
    /** After a payment of one of its invoices went on in a workflow of its own. */
    refreshSubscription: together('refreshSubscription', refresh),
    activateSubscription: together('activateSubscription', activateSubscriptions),

    ...createSubscriptionCharges({ inScope, snapshot }),
    ...createSubscriptionCommands({ inScope, readUsage, snapshot }),
    ...createSubscriptionLife({ inScope, readUsage, snapshot }),

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

function snapshotOf({ row, agenda, blockedOn }: AttendedSubscription, spreadMs: number): SubscriptionSnapshot {
  const ended = row.status === 'cancelled' && agenda.length === 0;
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
    currentPeriodStart: row.currentPeriodStart,
    currentPeriodEnd: row.currentPeriodEnd,
  };
}
