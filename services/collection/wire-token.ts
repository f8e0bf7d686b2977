import { createHash } from 'node:crypto';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const length = 26;

/**
 * Name by which a provider knows a charge, link or refund: `pn_` and 26 characters of the SHA-256 of our own token in base 32, which every
 * provider takes (letters, digits and `_`, 29 characters) and which says nothing about us. The same token gives the same text.
 * design: money-in-checkout §A15
 */
export function wireToken(token: string): string {
  const digest = createHash('sha256').update(token).digest();
  const bits = digest.reduce((text, byte) => text + byte.toString(2).padStart(8, '0'), '');
  const characters = Array.from({ length }, (_, n) => alphabet[Number.parseInt(bits.slice(n * 5, n * 5 + 5), 2)]);
  return `pn_${characters.join('')}`;
}

/**
 * Name of an object of ours that is left with it at its provider, so that a notification of it finds its way and one of another environment, or
 * of somebody else's object in the same account, is told apart. design: money-in-checkout §A13
 */
export function markerOf(kind: 'payment' | 'refund', id: string, environmentId: string) {
  return { environment: environmentId, kind, id };
}
