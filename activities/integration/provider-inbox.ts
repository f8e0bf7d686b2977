import type { Client } from '@temporalio/client';
import { realNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { systemScope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import {
  dueNotifications,
  forgetNotifications,
  overdueInboxes,
  settleNotifications,
} from '../../services/integration/inbound-event.ts';
import { addressNotifications, type Recipient } from '../../services/integration/inbound-recipient.ts';
import {
  notificationStored,
  type ProviderInboxStanding,
  type ProviderInboxStart,
  providerInboxStartOptions,
  providerInboxWorkflowType,
} from '../../workflows/integration/provider-inbox.messages.ts';
import { providerNotified } from '../../workflows/payment/checkout-session.messages.ts';
import { gatewayNotified, refundedElsewhere } from '../../workflows/payment/payment.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { ConnectedProviders } from './connected-gateway.ts';

const notificationsALook = 100;
const maxTelling = 16;

export type ProviderInboxActivities = ReturnType<typeof createProviderInboxActivities>;

/** Activities of the workflow that passes the notifications of a connection on. */
export function createProviderInboxActivities(dependencies: {
  database: Database;
  temporal: Client;
  providers?: ConnectedProviders | undefined;
}) {
  const { database, temporal, providers } = dependencies;
  const tellsOfRefund = (provider: string, eventType: string) =>
    providers?.adapters.get(provider)?.notifications?.tellsOfRefund(eventType) ?? false;
  return {
    /**
     * Tells the workflows of what due notifications are about, and writes down what became of each. A worker that dies in between tells them
     * again, which makes them ask the provider once more. design: money-in-checkout §A13
     */
    async passOnNotifications(start: ProviderInboxStart): Promise<ProviderInboxStanding> {
      const scope = workflowScope(start);
      return withHeartbeat(async () => {
        const now = realNow();
        const addressed = await inSqlTransaction(database, scope, async (tx) =>
          addressNotifications(tx, await dueNotifications(tx, start.connectionId, now, notificationsALook), {
            now,
            tellsOfRefund,
          }),
        );
        crashPoint('inbound.beforeEffect');
        await tellAll(
          temporal,
          start,
          addressed.flatMap(({ recipient }) => recipient ?? []),
        );
        crashPoint('inbound.afterEffect');
        const nextAt = await inSqlTransaction(database, scope, async (tx) => {
          const fates = addressed.map(({ fate }) => fate);
          const next = await settleNotifications(tx, start.connectionId, fates, now);
          crashPoint('inbound.beforeCommit');
          return next;
        });
        const passedOn = addressed.filter(({ recipient }) => recipient !== null).length;
        return {
          passedOn,
          others: addressed.length - passedOn,
          isMoreDue: addressed.length === notificationsALook,
          nextAt: nextAt && instantText(nextAt),
        };
      });
    },
  };
}

/** Tells the workflow of each object once, however many notifications are about it. */
async function tellAll(temporal: Client, owner: ProviderInboxStart, recipients: readonly Recipient[]): Promise<void> {
  const waiting = [...new Map(recipients.map((each) => [`${each.kind}/${each.id}/${each.isOfRefund}`, each])).values()];
  const tell = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await tellRecipient(temporal, owner, next);
  };
  await Promise.all(Array.from({ length: maxTelling }, tell));
}

/** Has the workflow of an object ask the provider, starting it when none runs. */
async function tellRecipient(temporal: Client, owner: ProviderInboxStart, object: Recipient): Promise<void> {
  const { kind, id, customerId, testClockId, clockTime, isOfRefund } = object;
  const { tenantId, environmentId } = owner;
  const options = lifecycleStartOptions(
    kind,
    { tenantId, environmentId, objectId: id, customerId, testClockId, clockTime, creating: false },
    lifecycleTaskQueue,
  );
  const ofMoney = isOfRefund ? refundedElsewhere : gatewayNotified;
  const signal = kind === 'checkout_session' ? providerNotified : ofMoney;
  await temporal.workflow.signalWithStart(lifecycleKinds[kind].workflowType, { ...options, signal });
}

/** Time within which whoever keeps a notification tells its workflow. */
const toldWithinMs = 15_000;

/**
 * Tells the workflows of notifications that are due for longer than telling takes: the process that kept them ended before it could, or
 * Temporal was away. And forgets those that were done a month ago.
 */
export async function tendProviderInboxes(database: Database, temporal: Client): Promise<void> {
  const now = realNow();
  const before = new Date(Date.parse(now) - toldWithinMs).toISOString();
  const overdue = await inSqlTransaction(database, systemScope, async (tx) => {
    await forgetNotifications(tx, now);
    return overdueInboxes(tx, before);
  });
  for (const start of overdue) await signalProviderInbox(temporal, start);
}

/** Begins the workflow of a connection's notifications, or tells the running one that there are some. */
export async function signalProviderInbox(temporal: Client, start: ProviderInboxStart): Promise<void> {
  await temporal.workflow.signalWithStart(providerInboxWorkflowType, {
    ...providerInboxStartOptions(start),
    signal: notificationStored,
  });
}
