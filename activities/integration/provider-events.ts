import type { Client } from '@temporalio/client';
import { realNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import { systemScope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { GatewayOutcomeUnknown } from '../../integrations/payment-gateway.ts';
import type { ProviderAdapter } from '../../integrations/provider-adapter.ts';
import type { ListedEvent } from '../../integrations/provider-notification.ts';
import { openSecrets } from '../../services/integration/connection-secret.ts';
import {
  keepReadUntil,
  keepUnread,
  type ListedConnection,
  takeEventLists,
  untoldAmong,
} from '../../services/integration/event-list.ts';
import { keepNotifications, type NewNotification } from '../../services/integration/inbound-event.ts';
import { webhookSecretsOf } from '../../services/integration/webhook-secret.ts';
import type { ConnectedProviders } from './connected-gateway.ts';
import { reasonOf } from './gateway-reason.ts';
import { signalProviderInbox } from './provider-inbox.ts';

/** Connections that one look asks for their events, and how many at once: a provider that hangs holds up few others. */
const connectionsALook = 8;
const maxAsking = 4;
/** Time within which a notification of an event is expected. */
const toldWithinMs = 5 * 60_000;

/**
 * Reads the event lists of connected providers, an hour after the last time: what no notification told is found, and passed on like one. An
 * event that came before changes nothing. A provider without an answer is asked again after ten minutes. design: money-in-checkout §B18
 */
export async function readProviderEvents(
  database: Database,
  temporal: Client,
  providers: ConnectedProviders | undefined,
): Promise<void> {
  if (!providers) return;
  const listing = [...providers.adapters.values()].filter(({ events }) => events);
  const waiting = await inSqlTransaction(database, systemScope, (tx) =>
    takeEventLists(tx, { providers: listing.map(({ name }) => name), now: realNow(), limit: connectionsALook }),
  );
  const read = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const adapter = providers.adapters.get(next.provider);
      if (!adapter) continue;
      const { id } = next;
      await readOne(database, temporal, { adapter, providers, connection: next }).catch((error: unknown) =>
        // Without an answer it stays as far as it was read.
        inSqlTransaction(database, systemScope, (tx) => keepUnread(tx, id, reasonOf(error))),
      );
    }
  };
  await Promise.all(Array.from({ length: maxAsking }, read));
}

async function readOne(
  database: Database,
  temporal: Client,
  {
    adapter,
    providers,
    connection,
  }: { adapter: ProviderAdapter; providers: ConnectedProviders; connection: ListedConnection },
): Promise<void> {
  const secrets = opened(providers, connection);
  if (!secrets || !adapter.events) return;
  const until = realNow();
  const events = await adapter.events(secrets, connection.from);
  const { id: connectionId, tenantId, environmentId } = connection;
  await inSqlTransaction(database, workflowScope({ tenantId, environmentId }), async (tx) => {
    const notifications = events.map((event) => notificationOf(event, connection, until));
    const isTold = webhookSecretsOf(secrets, Date.parse(until)).length > 0;
    const secret = adapter.notifications?.verifiedBy ?? 'webhook_secret';
    const problem = isTold ? silenceOf(await untoldAmong(tx, connectionId, idsOf(events, until)), secret) : null;
    if (notifications.length > 0) await keepNotifications(tx, notifications);
    await keepReadUntil(tx, connectionId, { until, problem });
  });
  if (events.length > 0) await signalProviderInbox(temporal, { tenantId, environmentId, connectionId });
}

/** The secrets of a connection; what cannot be opened says so in words that people may read. */
function opened(providers: ConnectedProviders, connection: ListedConnection) {
  try {
    return openSecrets(providers.secretKeys, connection);
  } catch {
    throw new GatewayOutcomeUnknown('its secrets cannot be opened by this worker; see SECRET_ENCRYPTION_KEYS');
  }
}

/** Events that happened so long ago that their notifications should have come, where one has the same id. */
function idsOf(events: readonly ListedEvent[], now: string): string[] {
  const isOld = ({ at }: ListedEvent) => Date.parse(at) < Date.parse(now) - toldWithinMs;
  return events.filter((event) => !event.isDerived && isOld(event)).map(({ eventId }) => eventId);
}

function silenceOf(untold: number, secret: string): string | null {
  if (untold === 0) return null;
  return `${untold} events of the account came by no notification: check the address that they are sent to, and the ${secret}`;
}

function notificationOf(event: ListedEvent, { id, provider }: ListedConnection, receivedAt: string): NewNotification {
  return {
    connectionId: id,
    provider,
    providerEventId: event.eventId,
    eventType: event.eventType,
    marker: event.marker,
    providerIds: event.objectIds,
    headers: {},
    body: event.body,
    receivedAt,
    outcome: null,
  };
}
