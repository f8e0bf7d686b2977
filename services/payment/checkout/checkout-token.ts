import { createHash, createHmac } from 'node:crypto';

const tokenLength = 26;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The token of a session's page by a signing key: 130 bits that only a holder of the key can tell from the session's id.
 * design: money-in-checkout §B14
 */
export function tokenByKey(key: string, sessionId: string): string {
  const digest = createHmac('sha256', key).update(`perennial checkout page ${sessionId}`).digest();
  const bits = digest.reduce((text, byte) => text + byte.toString(2).padStart(8, '0'), '');
  return Array.from({ length: tokenLength }, (_, n) => alphabet[Number.parseInt(bits.slice(n * 5, n * 5 + 5), 2)]).join(
    '',
  );
}

/** SHA-256 of a page's token, by which the page finds its session. design: money-in-checkout §B14 */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
