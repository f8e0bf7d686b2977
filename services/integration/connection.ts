import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { Connection } from '../../db/entities/integration/connection.ts';
import type { SyncConfig } from '../../db/entities/integration/sync-config.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';
import { refuseOtherMode, type ToldMode } from './connection-mode.ts';
import { type ConnectionSecrets, type EnvelopeKeys, openSecrets, putSecrets, renewSeal } from './connection-secret.ts';
import { adoptMethods, openThroughConnection, tookMoney } from './connection-use.ts';
import { withFormerSecrets, withoutFormerSecrets } from './webhook-secret.ts';

export interface NewConnection {
  name: string;
  providerType: string;
  /** Null for a connection that needs none. */
  secrets: ConnectionSecrets | null;
  /** The account that the secrets are of, where the provider says it. */
  providerAccount?: string | null;
  /** The modes that the secrets tell. */
  modes?: readonly ToldMode[];
  metadata: Record<string, string>;
  syncConfig: SyncConfig;
}

/** What changes; what is absent stays. `secrets` are the new ones as a whole. */
export type ConnectionChange = Partial<Omit<NewConnection, 'providerType'>>;

/** A connection as whoever decides about its change sees it. The secrets are opened only when they are asked for. */
export interface CurrentConnection {
  providerType: string;
  syncConfig: SyncConfig;
  hasSecrets: boolean;
  secrets(): ConnectionSecrets;
}

/** Says what changes, knowing what is there. Throws what it refuses. */
export type DecideChange = (current: CurrentConnection) => ConnectionChange;

/**
 * Creates a connection; the same id again is the same connection. Throws `already_exists` when a published one of the provider
 * exists (S3 may have several), `not_implemented` without a key to seal its secrets with. spec: platform §13
 */
export async function createConnection(
  tx: Transaction,
  keys: EnvelopeKeys,
  id: string,
  input: NewConnection,
): Promise<Connection> {
  const known = await tx.em.findOne(Connection, { id, environmentId: tx.scope.environmentId });
  if (known) return known;
  const { secrets, modes = [], ...members } = input;
  await refuseOtherMode(tx, tx.scope, input.providerType, modes);
  const row = tx.em.create(Connection, { ...newRecord(tx, 'conn', id), ...members });
  putSecrets(keys, row, secrets);
  await flushUnique(tx, { connection_provider_unique: () => taken(input.providerType) });
  const account = input.providerAccount ?? null;
  await adoptMethods(tx, { id, provider: input.providerType, account, connectedAt: row.createdAt });
  await audit(tx, row, 'created');
  return row;
}

/** Throws `already_exists` when another connection than that of `id` is in the way. spec: platform §13 */
export async function refuseTakenProvider(tx: Transaction, provider: string, id: string): Promise<void> {
  if (provider === 's3') return;
  if ((await connectionsOf(tx, provider)).some((other) => other.id !== id)) throw taken(provider);
}

function taken(provider: string) {
  return refuse(
    'already_exists',
    `a connection to ${provider} exists in this environment already; change or delete that one`,
    { fields: { provider_type: 'connected already' } },
  );
}

/** A published connection of this environment. Throws `not_found`. */
export async function findConnection(tx: Transaction, id: string): Promise<Connection> {
  const row = await tx.em.findOne(Connection, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('connection', id);
  return row;
}

/** The published connections of a provider, the newest first; several only of S3. */
export async function connectionsOf(tx: Transaction, provider: string): Promise<Connection[]> {
  const where = { environmentId: tx.scope.environmentId, status: 'published', providerType: provider };
  return tx.em.find(Connection, where, { orderBy: { createdAt: 'desc', id: 'desc' } });
}

/** The providers there is a published connection to, by name. spec: platform §7 */
export async function linkedProviders(tx: Transaction): Promise<string[]> {
  const rows = await tx.rows<{ provider_type: string }>(
    `select distinct provider_type from connection where environment_id = $1 and status = 'published' order by 1`,
    [tx.scope.environmentId],
  );
  return rows.map((row) => row.provider_type);
}

/** The published connection of a provider; null where there is none. */
export async function publishedConnectionId(tx: Transaction, provider: string): Promise<string | null> {
  return (await connectionsOf(tx, provider))[0]?.id ?? null;
}

/** The published connections to some providers, the oldest first. spec: platform §13 GET /integrations/config */
export async function connectionsTo(tx: Transaction, providers: readonly string[]): Promise<Connection[]> {
  return tx.em.find(
    Connection,
    { environmentId: tx.scope.environmentId, status: 'published', ...anyOf('providerType', providers) },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
}

const connectionList: ListDefinition<Connection> = {
  entity: Connection,
  columns: { name: 'string', provider_type: 'string' },
};

/** One page of connections. spec: platform §13 */
export function listConnections(
  tx: Transaction,
  query: ListQuery,
  filters: { ids?: readonly string[] | null | undefined; providerType?: string | null | undefined },
): Promise<ListPage<Connection>> {
  const { ids, providerType } = filters;
  return listPage(tx, connectionList, query, { ...anyOf('id', ids), ...(providerType ? { providerType } : {}) });
}

/** What a change would make of a connection, without changing it. Throws `not_found` and what `decide` refuses. */
export async function rehearseChange(
  tx: Transaction,
  keys: EnvelopeKeys,
  id: string,
  decide: DecideChange,
): Promise<{ current: CurrentConnection; change: ConnectionChange }> {
  const current = asCurrent(keys, await findConnection(tx, id));
  return { current, change: decide(current) };
}

/**
 * Changes a connection; secrets that are under an older key are sealed anew. Throws `not_found`, what `decide` refuses, and
 * `invalid_operation` for the key of another account, or of one that is not known, while money moves through the connection.
 * spec: platform §13
 */
export async function updateConnection(
  tx: Transaction,
  keys: EnvelopeKeys,
  id: string,
  decide: DecideChange,
): Promise<Connection> {
  const row = await lockConnection(tx, id);
  const { secrets, providerAccount, modes = [], ...members } = decide(asCurrent(keys, row));
  const changed = [...Object.keys(members), ...(secrets === undefined ? [] : ['secrets'])];
  if (secrets !== undefined) {
    await refuseOtherMode(tx, tx.scope, row.providerType, modes);
    const isOtherAccount =
      providerAccount !== undefined && (providerAccount === null || providerAccount !== row.providerAccount);
    if (isOtherAccount) await refuseWhileOpen(tx, row, 'take the key of another account');
    putSecrets(keys, row, secrets && withFormerSecrets(readable(keys, row), secrets, new Date().toISOString()));
    if (providerAccount !== undefined) row.providerAccount = providerAccount;
    // Whether they are right is asked at once.
    row.eventsAskedAt = null;
    row.eventsProblem = null;
  }
  if (changed.length > 0) {
    Object.assign(row, members);
    touch(tx, row);
    await tx.em.flush();
    await audit(tx, row, 'updated', { changed: changed.map(wireName).sort() });
  }
  await renewSeal(tx, keys, row);
  return row;
}

/**
 * Archives a connection and forgets its secrets for good; those of one that took money are kept for half a year, so that it can go
 * back. Throws `not_found` for an unknown or archived one, and `invalid_operation` with
 * counts while money moves through it, because without its secrets nobody could ask what became of it.
 * spec: platform §13; design: money-in-checkout §A1
 */
export async function deleteConnection(tx: Transaction, id: string): Promise<void> {
  const row = await lockConnection(tx, id);
  await refuseWhileOpen(tx, row, 'be deleted');
  row.status = 'archived';
  if (!(await tookMoney(tx, id))) putSecrets([], row, null);
  touch(tx, row);
  await tx.em.flush();
  await audit(tx, row, 'deleted');
}

async function refuseWhileOpen(
  tx: Transaction,
  { id, providerType: provider }: Connection,
  what: string,
): Promise<void> {
  const open = await openThroughConnection(tx, { id, provider });
  const told = Object.entries(open).filter(([, count]) => count > 0);
  if (told.length === 0) return;
  const counts = told.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ');
  throw refuse('invalid_operation', `connection ${id} cannot ${what} while ${provider} has yet to settle: ${counts}`, {
    open,
  });
}

async function lockConnection(tx: Transaction, id: string): Promise<Connection> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const row = await tx.em.findOne(Connection, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!row) throw missing('connection', id);
  return row;
}

function asCurrent(keys: EnvelopeKeys, row: Connection): CurrentConnection {
  return {
    providerType: row.providerType,
    syncConfig: row.syncConfig,
    hasSecrets: row.secretKeyId !== null,
    secrets: () => withoutFormerSecrets(openSecrets(keys, row) ?? {}),
  };
}

/** The secrets of a row; none where their key is not configured any more, so that all of them can be sent anew. */
function readable(keys: EnvelopeKeys, row: Connection): ConnectionSecrets {
  return keys.some(({ id }) => id === row.secretKeyId) ? (openSecrets(keys, row) ?? {}) : {};
}

function wireName(member: string): string {
  if (member === 'secrets') return 'encrypted_secret_data';
  return member === 'syncConfig' ? 'sync_config' : member;
}

async function audit(tx: Transaction, row: Connection, action: string, more: Record<string, unknown> = {}) {
  const detail = { provider_type: row.providerType, ...more };
  await writeAudit(tx, tx.scope, [
    { objectType: 'connection', objectId: row.id, action, occurredAt: row.updatedAt, detail },
  ]);
}
