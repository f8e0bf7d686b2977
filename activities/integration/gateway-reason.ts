import { GatewayOutcomeUnknown } from '../../integrations/payment-gateway.ts';

/** A code, with the parameters it is about behind it: `invalid_number (card[number])`. */
const code = /^[\w.:-]{1,100}( \([\w.,:[\] -]{1,200}\))?$/;

/**
 * The code by which a gateway tells its reason, and `otherwise` in place of a sentence: sentences name cards, payers and addresses, and
 * no history holds them. Null where it told none.
 */
export function gatewayCode(told: string | null, otherwise: string): string | null {
  return told === null || code.test(told) ? told : otherwise;
}

/** The text of our own errors; a foreign error is only named, because its text may hold what must not be kept. */
export function reasonOf(error: unknown): string {
  if (error instanceof GatewayOutcomeUnknown) return error.message.slice(0, 500);
  return `the gateway call failed: ${error instanceof Error ? error.name : 'unknown error'}`;
}
