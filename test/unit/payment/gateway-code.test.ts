import { expect, test } from 'vitest';
import { gatewayCode } from '../../../activities/integration/gateway-reason.ts';

test.each(['card_declined', '404', '1A', 'invalid_number (card[number])', 'param_wrong_value (a, b)', 'refund_failed'])(
  'a code of a gateway is told as it is: %s',
  (told) => {
    expect(gatewayCode(told, 'declined')).toBe(told);
  },
);

test.each(['The card of Ada Lovelace was declined.', 'ada@example.com', 'declined (for Ada!)', ''])(
  'a sentence of a gateway is not kept: %s',
  (told) => {
    expect(gatewayCode(told, 'declined')).toBe('declined');
  },
);

test('no reason stays none', () => {
  expect(gatewayCode(null, 'declined')).toBeNull();
});
