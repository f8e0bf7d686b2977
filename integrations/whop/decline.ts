import type { DeclineClass } from '../gateway-reference.ts';
import type { WhopPayment } from './shapes.ts';

/** Words of a failure, and what they mean. The words themselves may name what is nobody's business and are not kept. */
const known: readonly [words: RegExp, code: string, meaning: DeclineClass][] = [
  [/authenticat|3d secure|3ds/i, 'authentication_required', 'authenticate'],
  [/stolen/i, 'stolen_card', 'never'],
  [/lost card|card (was |is )?lost/i, 'lost_card', 'never'],
  [/expired/i, 'expired_card', 'never'],
  [/fraud/i, 'fraudulent', 'never'],
  [/not support/i, 'card_not_supported', 'never'],
  [/incorrect|invalid/i, 'invalid_card', 'never'],
  [/insufficient/i, 'insufficient_funds', 'retry'],
];

/** A decline as it is told: Whop has sentences in place of codes. What is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineOfWhop({ failure_message }: Pick<WhopPayment, 'failure_message'>): {
  code: string;
  class: DeclineClass;
} {
  const found = known.find(([words]) => words.test(failure_message ?? ''));
  return found ? { code: found[1], class: found[2] } : { code: 'card_declined', class: 'retry' };
}
