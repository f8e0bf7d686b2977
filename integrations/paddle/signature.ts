import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignatureVerdict } from '../provider-notification.ts';

const toleranceMs = 300_000;

/**
 * Verifies `Paddle-Signature` over the raw bytes of a notification: HMAC-SHA256 of `<ts>:<body>` under one of the secrets, the present one and
 * those that were replaced lately, in any of the `h1` members. Every comparison takes the same time; without a secret nothing is valid.
 * spec: platform §16; design: money-in-checkout §C paddle, §B16
 */
export function verifyPaddleSignature(
  header: string | string[] | undefined,
  body: Uint8Array,
  secrets: readonly string[],
  nowMs: number,
): SignatureVerdict {
  if (!header || header.length === 0) return 'missing';
  const text = Array.isArray(header) ? header.join(';') : header;
  const members = text.split(';').map((member) => member.trim().split('=', 2));
  const time = members.find(([name]) => name === 'ts')?.[1] ?? '';
  const given = members.flatMap(([name, value]) =>
    name === 'h1' && /^[0-9a-f]{64}$/.test(value ?? '') ? [value!] : [],
  );
  if (!/^\d{1,12}$/.test(time) || given.length === 0) return 'bad';
  const expected = secrets
    .filter(Boolean)
    .map((secret) => createHmac('sha256', secret).update(`${time}:`).update(body).digest());
  let isSigned = false;
  for (const signature of given) {
    const bytes = Buffer.from(signature, 'hex');
    for (const right of expected) if (timingSafeEqual(bytes, right)) isSigned = true;
  }
  if (!isSigned) return 'bad';
  return Math.abs(nowMs - Number(time) * 1000) > toleranceMs ? 'clock' : 'valid';
}
