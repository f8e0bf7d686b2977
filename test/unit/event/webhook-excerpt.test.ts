import { expect, test } from 'vitest';
import { excerptOf } from '../../../activities/event/webhook/excerpt.ts';

const secret = 'Bearer sk_live_51Hx+/Yz';
const token = 'sk_live_51Hx+/Yz';
const excerpt = (text: string, secrets: readonly string[] = [secret]) => excerptOf(Buffer.from(text), secrets);

test.each([
  ['the whole value', `authorization: ${secret}!`, 'authorization: •••!'],
  ['the token alone', `token "${token}" refused`, 'token "•••" refused'],
  ['its form in a URL', `?token=${encodeURIComponent(token)}&x=1`, '?token=•••&x=1'],
  ['its form in a query', `?auth=${encodeURIComponent(secret)}`, '?auth=•••'],
  ['a control character within', `sk_live_\u000051Hx+/\u200bYz`, '•••'],
])('of an answer that repeats %s of a secret nothing of it is left', (_, answer, shown) => {
  expect(excerpt(answer)).toBe(shown);
});

test.each([0, 1, 2, 3, 4])('a secret in base64 is not left behind %i other bytes', (before) => {
  for (const encoding of ['base64', 'base64url'] as const) {
    const answer = Buffer.from(`${'x'.repeat(before)}${token}yz`).toString(encoding);
    const shown = excerpt(answer);
    expect(shown).toContain('•••');
    expect(shown.length).toBeLessThan(20);
    expect(shown).not.toContain(answer.slice(8, 20));
  }
});

test('a secret of which only the beginning was read is not left', () => {
  expect(excerpt(`error: ${token.slice(0, 9)}`)).toBe('error: •••');
  expect(excerpt(`error: ${secret.slice(0, 12)}`)).toBe('error: •••');
});

test('a short secret is replaced as it is, and everything else stays legible', () => {
  expect(excerpt('key 42a in <b>shop</b>', ['42a', ''])).toBe('key ••• in <b>shop</b>');
});

test('control characters, line ends and what writes from the right are taken out', () => {
  expect(excerpt('a\u0000b\u001b[31mred\r\n\tnext \u202egnorw\u202c')).toBe('ab[31mred next gnorw');
});

test('it has 1 KiB at most and ends with a whole character', () => {
  const long = excerpt('ä'.repeat(2_000));
  expect(Buffer.byteLength(long)).toBe(1_024);
  expect(long).toBe('ä'.repeat(512));
  expect(Buffer.byteLength(excerpt(`x${'€'.repeat(2_000)}`))).toBe(1_024);
  expect(excerptOf(Buffer.from([0xff, 0xfe, 0x41]), [])).toBe('��A');
});
