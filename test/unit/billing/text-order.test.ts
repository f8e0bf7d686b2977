import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareText } from '../../../billing/text-order.ts';

const sign = (a: string, b: string) => Math.sign(compareText(a, b));

test.each([
  ['a', 'b'],
  ['B', 'a'],
  ['a', 'ä'],
  ['a', 'ab'],
  ['\uffff', '\u{10000}'],
  ['x\u{1f600}', 'x\u{1f601}'],
])('%j comes before %j', (first, second) => {
  expect([sign(first, second), sign(second, first), sign(first, first)]).toEqual([-1, 1, 0]);
});

test('texts are in the order of their UTF-8 bytes', () => {
  const codePoint = fc.integer({ min: 0, max: 0x10ffff }).filter((point) => point < 0xd800 || point > 0xdfff);
  const text = fc.string({ unit: codePoint.map((point) => String.fromCodePoint(point)) });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(sign(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
