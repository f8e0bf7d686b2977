import type { DeclineClass } from '../gateway-reference.ts';
import type { MoyasarPayment } from './shapes.ts';

/** Response codes of issuers (ISO 8583) after which another try with the same card cannot succeed, or would look like fraud. */
const forGood = new Set([
  '04',
  '07',
  '14',
  '15',
  '33',
  '36',
  '37',
  '41',
  '43',
  '54',
  '57',
  '62',
  '67',
  '93',
  'R0',
  'R1',
]);
const asksPayer = new Set(['1A', '65', '70']);

/** The issuer's code of a payment that failed; `declined` where Moyasar tells none. */
export function declineCodeOf({ source }: MoyasarPayment): string {
  return source?.response_code || 'declined';
}

/** Class of a decline by the issuer's code; what is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineClassOfMoyasar(code: string): DeclineClass {
  if (asksPayer.has(code)) return 'authenticate';
  return forGood.has(code) ? 'never' : 'retry';
}
