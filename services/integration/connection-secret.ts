import { refuse } from '../../billing/refusal.ts';
import type { Connection } from '../../db/entities/integration/connection.ts';
import type { Sql, Transaction } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { type EnvelopeKey, openSecret, sealSecret, UnknownEnvelopeKey } from '../platform/sealed-secret.ts';

/** The secret members of a connection by their wire names. They are in memory only while something is done with them. */
export type ConnectionSecrets = Readonly<Record<string, string>>;

/** A connection as far as its secrets are opened. */
export type SealedRow = Pick<
  Connection,
  'id' | 'tenantId' | 'environmentId' | 'secretKeyId' | 'secretNonce' | 'secretCiphertext'
>;

/** The keys of the installation: the first seals, every one of them opens. */
export type EnvelopeKeys = readonly EnvelopeKey[];

/**
 * Puts secrets into a row, sealed with the first key; null takes them out. Throws `not_implemented` where the installation has
 * no key. spec: platform §13 Storage
 */
export function putSecrets(keys: EnvelopeKeys, row: Connection, secrets: ConnectionSecrets | null): void {
  if (secrets === null) {
    row.secretKeyId = null;
    row.secretNonce = null;
    row.secretCiphertext = null;
    return;
  }
  const [key] = keys;
  if (!key) {
    const problem = 'secrets of connections cannot be kept here; set SECRET_ENCRYPTION_KEYS for the API';
    throw refuse('not_implemented', problem, { fields: { encrypted_secret_data: 'needs SECRET_ENCRYPTION_KEYS' } });
  }
  const sealed = sealSecret(key, placeOf(row), JSON.stringify(secrets));
  row.secretKeyId = sealed.keyId;
  row.secretNonce = sealed.nonce;
  row.secretCiphertext = sealed.ciphertext;
}

/**
 * The secrets of a connection for whoever is about to use them, null where it has none. Throws `not_implemented` when the key
 * they are sealed with is not configured any more. spec: platform §13 Storage
 */
export function openSecrets(keys: EnvelopeKeys, row: SealedRow): ConnectionSecrets | null {
  if (!row.secretKeyId || !row.secretNonce || !row.secretCiphertext) return null;
  const sealed = { keyId: row.secretKeyId, nonce: row.secretNonce, ciphertext: row.secretCiphertext };
  try {
    return JSON.parse(openSecret(keys, placeOf(row), sealed)) as ConnectionSecrets;
  } catch (error) {
    if (!(error instanceof UnknownEnvelopeKey)) throw error;
    throw refuse(
      'not_implemented',
      `the secrets of connection ${row.id} are sealed with the key ${error.keyId}, which is not configured; give it back to SECRET_ENCRYPTION_KEYS, or send all secrets of the connection anew`,
      { fields: { encrypted_secret_data: `sealed with the unknown key ${error.keyId}` } },
    );
  }
}

/**
 * Seals the secrets of a row anew when they are under another key than the first. So a key is exchanged row by row, as rows are
 * used and changed. Says whether it did; what is under a key that is not configured stays. spec: platform §13 Storage
 */
export async function renewSeal(tx: Transaction, keys: EnvelopeKeys, row: Connection): Promise<boolean> {
  const [first] = keys;
  const isOld = row.secretKeyId && first && row.secretKeyId !== first.id;
  if (!isOld || !keys.some(({ id }) => id === row.secretKeyId)) return false;
  putSecrets(keys, row, openSecrets(keys, row));
  await tx.em.flush();
  const occurredAt = new Date().toISOString();
  const detail = { provider_type: row.providerType, key_id: first.id };
  await writeAudit(tx, tx.scope, [
    { objectType: 'connection', objectId: row.id, action: 're-encrypted', occurredAt, detail },
  ]);
  return true;
}

/** Ciphertext that is copied to another row cannot be opened there. */
function placeOf({ tenantId, environmentId, id }: SealedRow): string[] {
  return [tenantId, environmentId, id];
}

/** Days for which a deleted connection that took money can give it back. design: money-in-checkout §A1 */
const keptAfterDeletionDays = 180;

/** Erases for good the secrets of connections of every environment that were deleted 180 days before `now`. */
export async function eraseDeletedSecrets(sql: Sql, now: string): Promise<void> {
  await sql.send(
    `update connection set secret_key_id = null, secret_nonce = null, secret_ciphertext = null
     where status = 'archived' and secret_ciphertext is not null and updated_at < $1::timestamptz - make_interval(days => $2)`,
    [now, keptAfterDeletionDays],
  );
}
