import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrast, textOn, visibleOn } from '../../../../integrations/checkout-page/color.ts';
import { standingColors } from '../../../../integrations/checkout-page/style.ts';
import { pageColors } from '../../../../integrations/html-page.ts';

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
});

test('a button of any colour can be told from its ground, and its words can be read', () => {
  const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(color, fc.constantFrom('light', 'dark'), (accent, scheme) => {
      const { card } = pageColors[scheme];
      const button = visibleOn(accent, card);
      expect(contrast(button, card)).toBeGreaterThanOrEqual(3);
      expect(contrast(button, textOn(button))).toBeGreaterThanOrEqual(4.5);
      if (contrast(accent, card) >= 3) expect(button).toBe(accent);
    }),
    { numRuns: 2_000 },
  );
});

test.each(['light', 'dark'] as const)('every text of the %s scheme can be read on its ground', (scheme) => {
  const { ink, soft, page, card } = pageColors[scheme];
  const standing = standingColors[scheme];
  for (const [text, ground] of [
    ...[ink, soft].flatMap((color) => [page, card].map((other) => [color, other] as const)),
    [standing.note, standing['note-tint']] as const,
    [standing.bad, standing['bad-tint']] as const,
    [standing.good, standing['good-tint']] as const,
  ]) {
    expect(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  }
});
