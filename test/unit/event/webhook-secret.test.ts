import { expect, test } from 'vitest';
import { signedHeaders } from '../../../activities/event/webhook/attempt.ts';
import { verifyStandardWebhook } from '../../../integrations/standard-webhook.ts';
import {
  type EndpointSecrets,
  newSigningSecret,
  rotatedSecrets,
  signingSecrets,
} from '../../../services/event/webhook/endpoint-secret.ts';

const nowMs = Date.parse('2026-01-31T12:00:00Z');
const hour = 3_600_000;
const [first, second, third, fourth] = Array.from({ length: 4 }, newSigningSecret) as [string, string, string, string];
const made: EndpointSecrets = { secret: first, headers: { 'x-kept': 'value' } };
const rotate = (secrets: EndpointSecrets, secret: string, atMs: number, expireOldNow = false) =>
  rotatedSecrets(secrets, { secret, expireOldNow }, atMs);

/** Secrets among all four that a request verifies with. */
function signersAt(secrets: EndpointSecrets, atMs: number): string[] {
  const body = Buffer.from('{"event_type":"customer.created"}');
  const headers = signedHeaders({ id: 'sys_event_1', body, secrets, nowMs: atMs });
  return [first, second, third, fourth].filter((secret) =>
    (['webhook', 'svix'] as const).every(
      (family) => verifyStandardWebhook(family, { headers, body } as never, [secret], atMs) === 'valid',
    ),
  );
}

test('a secret that was replaced signs beside the present one for 24 hours, and then no more', () => {
  const rotated = rotate(made, second, nowMs);
  expect(signingSecrets(rotated, nowMs)).toEqual([
    { secret: second, expiresAt: null },
    { secret: first, expiresAt: '2026-02-01T12:00:00.000Z' },
  ]);
  expect(signersAt(made, nowMs)).toEqual([first]);
  expect(signersAt(rotated, nowMs + 24 * hour - 1)).toEqual([first, second]);
  expect(signersAt(rotated, nowMs + 24 * hour)).toEqual([second]);
  expect(rotated.headers).toEqual(made.headers);
});

test('three secrets sign at most, and a fourth is taken as soon as the oldest has expired', () => {
  const three = rotate(rotate(made, second, nowMs), third, nowMs + hour);
  expect(signersAt(three, nowMs + hour)).toEqual([first, second, third]);
  expect(() => rotate(three, fourth, nowMs + 23 * hour)).toThrow('the oldest expires at 2026-02-01T12:00:00.000Z');
  expect(signersAt(rotate(three, fourth, nowMs + 24 * hour), nowMs + 24 * hour)).toEqual([second, third, fourth]);
  expect(signersAt(rotate(three, fourth, nowMs + 2 * hour, true), nowMs + 2 * hour)).toEqual([fourth]);
});

test('a secret that signs already is not taken again, one that has expired is', () => {
  const rotated = rotate(made, second, nowMs);
  for (const secret of [first, second])
    expect(() => rotate(rotated, secret, nowMs)).toThrow('secrets that sign already');
  expect(signersAt(rotate(rotated, first, nowMs + 25 * hour), nowMs + 25 * hour)).toEqual([first, second]);
});
