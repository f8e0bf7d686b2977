/**
 * The cards of the sandbox gateway. A number is `4000 0000 00BB NNNC`: BB the behaviour, NNN its count (how many declines,
 * lost requests or look-ups), C the Luhn digit. Any other number is refused, so that no real card is ever kept.
 *
 * | Number              | Behaviour          | What happens                                                                |
 * |---------------------|--------------------|-----------------------------------------------------------------------------|
 * | 4000 0000 0000 0002 | succeeds           | captured at once                                                            |
 * | 4000 0000 0001 0001 | declines           | declined, always                                                            |
 * | 4000 0000 0002 NNNC | declines_times     | declines NNN charges, then succeeds (4000 0000 0002 0018 declines once)     |
 * | 4000 0000 0003 0009 | requires_action    | waits until an operator confirms or fails it                                |
 * | 4000 0000 0004 0008 | loses_answer       | captured, but the answer never arrives; a look-up tells                     |
 * | 4000 0000 0005 0007 | answers_twice      | captured, and the notification of it is sent twice                          |
 * | 4000 0000 0006 NNNC | answers_late       | processing for NNN look-ups, then captured (4000 0000 0006 0022 after two)  |
 * | 4000 0000 0007 NNNC | unreachable_times  | NNN requests are lost before they arrive, then succeeds                     |
 * | 4000 0000 0008 0004 | never_answers      | processing until an operator settles it                                     |
 * | 4000 0000 0009 0003 | answers_wrongly    | captured, but the answer names another amount; a look-up tells the right one |
 * | 4000 0000 0010 0000 | refund_fails       | captured at once; refunds are refused, always                               |
 * | 4000 0000 0011 NNNC | refund_fails_times | captured at once; NNN refunds are refused, then one succeeds                |
 * | 4000 0000 0012 NNNC | refund_answers_late | captured at once; refunds are processing for NNN look-ups, then succeed    |
 * | 4000 0000 0013 0007 | refund_never_answers | captured at once; refunds are processing until an operator settles them   |
 * | 4000 0000 0014 0006 | refund_loses_answer | captured at once; refunds succeed, but the answer never arrives            |
 * | 4000 0000 0015 0005 | refund_answers_twice | captured at once; refunds succeed, and are notified of twice              |
 * | 4000 0000 0016 0004 | declines_for_good  | declined as a stolen card, always                                           |
 * | 4000 0000 0017 0003 | needs_authentication | declined without its payer, who would have to confirm; a link asks it to  |
 * | 4000 0000 0018 0002 | captures_less      | a link takes less than it asks for; captured at once otherwise              |
 * | 4000 0000 0019 0001 | captures_more      | a link takes more than it asks for; captured at once otherwise              |
 * | 4000 0000 0020 0008 | captures_otherwise | a link takes another currency; captured at once otherwise                   |
 */
export const sandboxBehaviours = [
  'succeeds',
  'declines',
  'declines_times',
  'requires_action',
  'loses_answer',
  'answers_twice',
  'answers_late',
  'unreachable_times',
  'never_answers',
  'answers_wrongly',
  'refund_fails',
  'refund_fails_times',
  'refund_answers_late',
  'refund_never_answers',
  'refund_loses_answer',
  'refund_answers_twice',
  'declines_for_good',
  'needs_authentication',
  'captures_less',
  'captures_more',
  'captures_otherwise',
] as const;

export type SandboxBehaviour = (typeof sandboxBehaviours)[number];

/** Those whose charges are decided at once, answered once, and always alike. */
export const plainBehaviours: readonly SandboxBehaviour[] = [
  'succeeds',
  'declines',
  'refund_fails',
  'refund_fails_times',
  'refund_answers_late',
  'refund_never_answers',
  'refund_loses_answer',
  'refund_answers_twice',
];

export interface SandboxCard {
  behaviour: SandboxBehaviour;
  /** How often the behaviour shows before the card succeeds; 0 for those without a count. */
  count: number;
}

const counted: readonly SandboxBehaviour[] = [
  'declines_times',
  'answers_late',
  'unreachable_times',
  'refund_fails_times',
  'refund_answers_late',
];
const maximumCount = 999;

/** The number of the card that behaves so: `sandboxCardNumber('declines_times', 2)`. `count` is 0 to 999. */
export function sandboxCardNumber(behaviour: SandboxBehaviour, count = 0): string {
  const allowed = counted.includes(behaviour) ? maximumCount : 0;
  if (!Number.isInteger(count) || count < 0 || count > allowed) {
    throw new RangeError(`count of ${behaviour} must be a whole number from 0 to ${allowed}`);
  }
  const code = String(sandboxBehaviours.indexOf(behaviour)).padStart(2, '0');
  const body = `4000000000${code}${String(count).padStart(3, '0')}`;
  return body + luhnDigit(body);
}

/** The sandbox card of a number (spaces allowed), or null when it is not one. */
export function sandboxCardOf(cardNumber: string): SandboxCard | null {
  const digits = cardNumber.replaceAll(' ', '');
  const match = /^4000000000(\d\d)(\d{3})\d$/.exec(digits);
  const behaviour = sandboxBehaviours[Number(match?.[1])];
  if (!match || !behaviour || luhnDigit(digits.slice(0, -1)) !== digits.at(-1)) return null;
  const count = Number(match[2]);
  return count > 0 && !counted.includes(behaviour) ? null : { behaviour, count };
}

function luhnDigit(body: string): string {
  const sum = [...body].reverse().reduce((total, character, index) => {
    const doubled = Number(character) * (index % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}
