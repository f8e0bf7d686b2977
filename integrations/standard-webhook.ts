import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawNotification, SignatureVerdict } from './provider-notification.ts';

const toleranceMs = 300_000;

/**
 * Verifies a notification by Standard Webhooks, or by Svix, whose headers begin with `svix` in place of `webhook`, over its raw bytes:
 * HMAC-SHA256 of `<id>.<timestamp>.<body>` under one of the secrets, the present one and those that were replaced lately, in any of the
 * `v1` members of the signature. Every comparison takes the same time; without a secret nothing is valid.
 * spec: platform §16; design: money-in-checkout §B16
 */
export function verifyStandardWebhook(
  family: 'svix' | 'webhook',
  { headers, body }: RawNotification,
  secrets: readonly string[],
  nowMs: number,
): SignatureVerdict {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`${family}-${name}`]);
  if (!signatures || signatures.length === 0) return 'missing';
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return 'bad';
  const given = signatures
    .split(' ')
    .flatMap((member) => (/^v1,[A-Za-z0-9+/]{43}=$/.test(member) ? [Buffer.from(member.slice(3), 'base64')] : []));
  if (id === '' || !/^\d{1,12}$/.test(time) || given.length === 0) return 'bad';
  const expected = secrets
    .filter(Boolean)
    .flatMap(keysOf)
    .map((key) => createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest());
  let isSigned = false;
  for (const signature of given) {
    for (const right of expected) if (timingSafeEqual(signature, right)) isSigned = true;
  }
  if (!isSigned) return 'bad';
  return Math.abs(nowMs - Number(time) * 1000) > toleranceMs ? 'clock' : 'valid';
}

/** The bytes of a secret: its text, as Whop's own page has it, or what is encoded behind `whsec_`, as the standard and Svix have it. */
function keysOf(secret: string): Buffer[] {
  const encoded = /^whsec_([A-Za-z0-9+/]{22,}={0,2})$/.exec(secret)?.[1];
  return [Buffer.from(secret, 'utf8'), ...(encoded === undefined ? [] : [Buffer.from(encoded, 'base64')])];
}
