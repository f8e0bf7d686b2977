import { refusalIn, refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { coalesce } from '../../db/coalesce.ts';
import type { Database } from '../../db/orm.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import {
  digestOf,
  type ProviderNotifications,
  type RawNotification,
  type SignatureVerdict,
} from '../../integrations/provider-notification.ts';
import type { EnvelopeKeys } from '../../services/integration/connection-secret.ts';
import { connectionsNotifiedAt, type VerifyingConnection } from '../../services/integration/inbound-connection.ts';
import { keepNotifications, type NewNotification } from '../../services/integration/inbound-event.ts';
import type { ProviderInboxStart } from '../../workflows/integration/provider-inbox.messages.ts';
import { NotAuthenticated } from '../errors.ts';

/** A notification and the address it was sent to. */
export interface AddressedNotification extends RawNotification {
  provider: string;
  tenantId: string;
  environmentId: string;
}

export interface InboundDependencies {
  database: Database;
  secretKeys: EnvelopeKeys;
  notificationsOf(provider: string): ProviderNotifications | undefined;
  /** Told after the commit that keeps a notification which is to be passed on. */
  onKept(start: ProviderInboxStart): void;
  /** Told why one could not be kept. Its provider is to send it again, whatever the reason. design: money-in-checkout §B2 */
  onLost(error: unknown): void;
}

/** Below this age connections are not looked up again; a signature that fits none of them looks anyway. */
const rememberedMs = 500;
const rememberedAddresses = 1_000;
/** Larger ones are kept each by itself: a set of them would be too much to hold at once. */
const gatheredBytes = 32 * 1024;
/** Headers that are kept of every notification, beside those that its provider signs. */
const keptHeaders = ['content-type', 'user-agent', 'content-length'];

/** Takes notifications of providers: verified over their bytes, kept, and only then answered. */
export interface Inbound {
  /**
   * Keeps a notification once. Throws `not_found` for an address that is none, `validation_error` for one that nobody of this environment
   * signed, and `service_unavailable` where it could not be kept, so that the provider sends it again.
   * spec: platform §16; README decision 30; design: money-in-checkout §B2
   */
  take(notification: AddressedNotification): Promise<void>;
}

export function inboundOf({ database, secretKeys, notificationsOf, onKept, onLost }: InboundDependencies): Inbound {
  const remembered = new Map<string, { at: number; connections: VerifyingConnection[] }>();
  const keep = keeping(database);

  async function connectionsOf(address: AddressedNotification, isFresh: boolean): Promise<VerifyingConnection[]> {
    const { provider, tenantId, environmentId } = address;
    const name = `${provider} ${tenantId} ${environmentId}`;
    const known = remembered.get(name);
    if (known && !isFresh && Date.now() - known.at < rememberedMs) return known.connections;
    const connections = await connectionsNotifiedAt(database, secretKeys, address);
    if (connections === null) {
      throw refuse('not_found', `tenant ${tenantId} has no environment ${environmentId}`);
    }
    if (remembered.size >= rememberedAddresses) remembered.clear();
    remembered.set(name, { at: Date.now(), connections });
    return connections;
  }

  return {
    async take(notification) {
      const reader = notificationsOf(notification.provider);
      if (!reader) throw refuse('not_found', `no notifications of ${notification.provider} are taken`);
      const attempt = async (isFresh: boolean) =>
        verified(reader, notification, await connectionsOf(notification, isFresh));
      const first = await whereSecretsOpen(() => attempt(false));
      const { connection, verdict } = first.connection ? first : await whereSecretsOpen(() => attempt(true));
      if (!connection) throw unverified(notification.provider, verdict, reader);
      const kept = keptOf(reader, notification, connection.id);
      const scope = workflowScope(notification);
      await keep({ scope, kept }).catch((error: unknown) => {
        onLost(error);
        throw refuse('service_unavailable', 'the notification could not be stored; send it again');
      });
      const { tenantId, environmentId } = notification;
      if (kept.outcome === null) onKept({ tenantId, environmentId, connectionId: connection.id });
    },
  };
}

/** A notification that is to be kept, and whose it is. */
interface Keeping {
  scope: Scope;
  kept: NewNotification;
}

/**
 * Keeps notifications: what comes to an environment while a transaction of it is under way shares the next one, so that a crowd costs few
 * commits and one alone waits for nothing. Where a set fails each is tried by itself, all at once: a database that is away is waited for
 * once. Throws what the notification could not be kept for.
 */
function keeping(database: Database): (one: Keeping) => Promise<void> {
  const store = (scope: Scope, set: readonly Keeping[]) =>
    inSqlTransaction(database, scope, (tx) =>
      keepNotifications(
        tx,
        set.map(({ kept }) => kept),
      ),
    );
  const alone = (one: Keeping) => store(one.scope, [one]);
  const stored = { status: 'fulfilled', value: undefined } as const;
  const together = coalesce<Keeping, PromiseSettledResult<void>>({
    groupOf: ({ scope }) => `${scope.tenantId} ${scope.environmentId}`,
    gathers: false,
    async run(set) {
      const [first] = set;
      if (first && set.length > 1) {
        const isStored = await store(first.scope, set).then(
          () => true,
          () => false,
        );
        if (isStored) return set.map(() => stored);
      }
      return Promise.allSettled(set.map(alone));
    },
  });
  return async (one) => {
    if (one.kept.body.byteLength > gatheredBytes) return alone(one);
    const outcome = await together(one);
    if (outcome.status === 'rejected') throw outcome.reason;
  };
}

type Verified =
  | { connection: VerifyingConnection; verdict: 'valid' }
  | { connection: null; verdict: Exclude<SignatureVerdict, 'valid'> | 'unconnected' | 'no secret' };

/** Finds the connection whose secret signed a notification, or what is wrong with it. */
function verified(
  reader: ProviderNotifications,
  notification: AddressedNotification,
  connections: readonly VerifyingConnection[],
): Verified {
  const now = Date.now();
  if (connections.length === 0) return { connection: null, verdict: 'unconnected' };
  const verdicts = connections.map((each) => verdictOf(reader, notification, each, now));
  const connection = connections[verdicts.indexOf('valid')];
  if (connection) return { connection, verdict: 'valid' };
  if (verdicts.every((verdict) => verdict === null)) return { connection: null, verdict: 'no secret' };
  if (verdicts.includes('clock')) return { connection: null, verdict: 'clock' };
  return { connection: null, verdict: verdicts.includes('missing') ? 'missing' : 'bad' };
}

/** Verdict of one connection on a notification; null where it has nothing that verifies one. */
function verdictOf(
  reader: ProviderNotifications,
  notification: AddressedNotification,
  connection: VerifyingConnection,
  now: number,
): SignatureVerdict | null {
  const secrets = connection.webhookSecrets(now);
  if (secrets.length > 0) return reader.verify(notification, secrets, now);
  const key = reader.byKey && connection.secret(reader.byKey.member);
  return reader.byKey && key ? reader.byKey.verify(notification, key, now) : null;
}

const problems: Record<NonNullable<Verified['verdict']>, (provider: string, secret: string) => string> = {
  valid: () => '',
  unconnected: (provider, secret) =>
    `this environment has no connection to ${provider}: connect it, with its ${secret}`,
  'no secret': (provider, secret) =>
    `the connection to ${provider} has no ${secret}, without which nothing is taken: give it one`,
  missing: (provider) => `the notification is not signed: ${provider} sends a signature or secret along`,
  bad: (provider, secret) =>
    `the signature does not fit: compare the ${secret} of the connection with the one ${provider} shows for this address`,
  clock: () => 'the signature is right, but its time is more than 5 minutes away from the clock of this server: set it',
};

function unverified(
  provider: string,
  verdict: Verified['verdict'],
  { refusedBy, verifiedBy = 'webhook_secret' }: ProviderNotifications,
) {
  const isForged = verdict === 'missing' || verdict === 'bad';
  const problem = problems[verdict](provider, verifiedBy);
  if (isForged && refusedBy === 401) return new NotAuthenticated(problem);
  return refuse('validation_error', problem, { signature: verdict });
}

/** Secrets that cannot be opened now may be later: the provider sends the notification again. */
async function whereSecretsOpen<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    const refusal = refusalIn(error);
    throw refusal?.code === 'not_implemented' ? refuse('service_unavailable', refusal.message) : error;
  });
}

/** A notification as it is kept. One that cannot be read is known by the digest of its bytes. */
function keptOf(
  reader: ProviderNotifications,
  notification: AddressedNotification,
  connectionId: string,
): NewNotification {
  const { provider, headers, body } = notification;
  const read = reader.read(notification);
  const names = [...keptHeaders, ...reader.headers].filter((name) => headers[name] !== undefined);
  const isPassedOn = read !== null && reader.concerns(read.eventType);
  return {
    connectionId,
    provider,
    providerEventId: read?.eventId ?? digestOf(body),
    eventType: read?.eventType ?? '',
    marker: read?.marker ?? null,
    providerIds: read?.objectIds ?? [],
    headers: Object.fromEntries(names.map((name) => [name, printable(String(headers[name]))])),
    body: reader.kept?.(body) ?? body,
    receivedAt: realNow(),
    outcome: isPassedOn ? null : read === null ? 'unreadable' : 'ignored',
  };
}

/** Headers may hold any byte but a line's end. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 1_024);
}
