import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** A key that secrets are sealed with: 32 bytes in hexadecimal, and the name under which rows remember it. */
export interface EnvelopeKey {
  id: string;
  key: string;
}

/** A secret as it is stored: unreadable without the key of this id, and without being where it was put. */
export interface SealedSecret {
  keyId: string;
  nonce: Uint8Array;
  /** With the authentication tag at its end. */
  ciphertext: Uint8Array;
}

/** The key that a secret was sealed with is not configured: nobody can read it until it is. */
export class UnknownEnvelopeKey extends Error {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`the envelope key ${keyId} is not configured`);
    this.keyId = keyId;
  }
}

/**
 * Seals a text with the first key under AES-256-GCM and a nonce of its own. `place` says where it belongs (tenant, environment,
 * object): nowhere else can it be opened. spec: platform §13 Storage, §23 Key material
 */
export function sealSecret(key: EnvelopeKey, place: readonly string[], text: string): SealedSecret {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, Buffer.from(key.key, 'hex'), nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(place));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { keyId: key.id, nonce, ciphertext };
}

/**
 * The text of a sealed secret. Throws `UnknownEnvelopeKey`, and an Error for what was changed or moved from another place.
 * spec: platform §13 Storage
 */
export function openSecret(keys: readonly EnvelopeKey[], place: readonly string[], sealed: SealedSecret): string {
  const key = keys.find(({ id }) => id === sealed.keyId);
  if (!key) throw new UnknownEnvelopeKey(sealed.keyId);
  const [body, tag] = [sealed.ciphertext.subarray(0, -tagBytes), sealed.ciphertext.subarray(-tagBytes)];
  const decipher = createDecipheriv(algorithm, Buffer.from(key.key, 'hex'), sealed.nonce, { authTagLength: tagBytes });
  decipher.setAAD(associatedData(place));
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/** A form in which no two places are alike. */
function associatedData(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place), 'utf8');
}
