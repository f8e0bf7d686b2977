import { createHash, webcrypto } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';

const randomPool = new Uint8Array(4096);
let randomUsed = randomPool.length;

/** Random bytes as the fractions `ulid` asks for, from a pool: it asks sixteen times an id, which cost more than a request. */
function nextRandom(): number {
  if (randomUsed === randomPool.length) {
    webcrypto.getRandomValues(randomPool);
    randomUsed = 0;
  }
  const byte = randomPool[randomUsed] ?? 0;
  randomUsed += 1;
  return byte / 256;
}

const nextUlid = monotonicFactory(nextRandom);

/** A ULID without a prefix, for what is no record: the id of a request. */
export function newUlid(): string {
  return nextUlid();
}

/** A new id: prefix and a ULID that grows with creation order within the process. spec: platform §1.2 */
export function newId(prefix: string): string {
  return `${prefix}_${nextUlid()}`;
}

/** Lower bound of the ids that `newId` makes from an instant on, in milliseconds: a text that sorts before all of them. */
export function firstIdAt(prefix: string, atMs: number): string {
  return `${prefix}_${encodeTime(atMs, 10)}`;
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The id that the same request always gets: an id whose random part is a hash of `seed` and whose time is given. A retried
 * request therefore meets the object, and the workflow, that its first try made. design: architecture §2
 */
export function derivedId(prefix: string, seed: string, atMs: number): string {
  const digest = createHash('sha256').update(seed).digest();
  const random = Array.from(digest.subarray(0, 16), (byte) => crockford[byte % 32]).join('');
  return `${prefix}_${encodeTime(atMs, 10)}${random}`;
}
