import { expect, test } from 'vitest';
import { alertHeadroom } from '../../../../billing/alert/alert-headroom.ts';
import { decimal } from '../../../../billing/money/money.ts';

const level = (threshold: string, condition: 'above' | 'below') => ({ threshold, condition });
const levels = (condition: 'above' | 'below', critical: string, warning: string | null, info: string | null) => ({
  critical: level(critical, condition),
  warning: warning === null ? null : level(warning, condition),
  info: info === null ? null : level(info, condition),
});

test.each([
  ['the next level below a balance', levels('below', '10', '50', '100'), '120.5', '20.5'],
  ['the level after one that is reached', levels('below', '10', '50', '100'), '100', '50'],
  ['none, once the last is reached', levels('below', '10', '50', null), '10', null],
  ['the next level above spending', levels('above', '90', '50', null), '49.5', '0.5'],
  ['the level after one that spending reached', levels('above', '90', '50', null), '50', '40'],
  ['none above the last', levels('above', '90', null, null), '91', null],
  ['none where nothing is watched', { critical: null, warning: null, info: null }, '5', null],
])('a value is as far as %s', (_, config, value, expected) => {
  expect(alertHeadroom(config, decimal(value))?.toString() ?? null).toBe(expected);
});
