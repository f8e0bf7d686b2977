import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openSecret, sealSecret, UnknownEnvelopeKey } from '../../../services/platform/sealed-secret.ts';

const current = { id: 'current', key: 'ab'.repeat(32) };
const former = { id: 'former', key: 'cd'.repeat(32) };
const place = ['tenant_1', 'env_1', 'conn_1'];

it('gives back what was sealed, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(openSecret([current], place, sealSecret(current, place, text))).toBe(text);
    }),
  );
});

it('never seals alike: equal secrets have unequal nonces of 96 bits and unequal ciphertexts', () => {
  const sealed = Array.from({ length: 50 }, () => sealSecret(current, place, 'the same'));
  const distinct = (bytes: readonly Uint8Array[]) => new Set(bytes.map((each) => Buffer.from(each).toString('hex')));
  expect(distinct(sealed.map(({ nonce }) => nonce)).size).toBe(50);
  expect(distinct(sealed.map(({ ciphertext }) => ciphertext)).size).toBe(50);
  expect(sealed.every(({ nonce }) => nonce.length === 12)).toBe(true);
});

it('opens with any configured key by the id that is stored with it', () => {
  const sealed = sealSecret(former, place, 'old');
  expect(sealed.keyId).toBe('former');
  expect(openSecret([current, former], place, sealed)).toBe('old');
  expect(() => openSecret([current], place, sealed)).toThrow(UnknownEnvelopeKey);
});

it.each([
  ['another tenant', ['tenant_2', 'env_1', 'conn_1']],
  ['another environment', ['tenant_1', 'env_2', 'conn_1']],
  ['another connection', ['tenant_1', 'env_1', 'conn_2']],
  ['a place that only reads alike', ['tenant_1', 'env_1conn_1']],
])('opens nothing in %s', (_place, other) => {
  const sealed = sealSecret(current, place, 'secret');
  expect(() => openSecret([current], other, sealed)).toThrow();
});

it('opens nothing of which a bit was changed', () => {
  const sealed = sealSecret(current, place, 'secret');
  const flipped = (bytes: Uint8Array, index: number) => bytes.map((byte, at) => (at === index ? byte ^ 1 : byte));
  for (const index of sealed.ciphertext.keys()) {
    const changed = { ...sealed, ciphertext: flipped(sealed.ciphertext, index) };
    expect(() => openSecret([current], place, changed)).toThrow();
  }
  for (const index of sealed.nonce.keys()) {
    expect(() => openSecret([current], place, { ...sealed, nonce: flipped(sealed.nonce, index) })).toThrow();
  }
  expect(() => openSecret([current], place, { ...sealed, ciphertext: sealed.ciphertext.subarray(0, 8) })).toThrow();
  expect(() => openSecret([{ ...former, id: 'current' }], place, sealed)).toThrow();
});
