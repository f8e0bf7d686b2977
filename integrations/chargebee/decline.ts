import type { DeclineClass } from '../gateway-reference.ts';
import type { ChargebeeStatus, ChargebeeTransaction } from './shapes.ts';

/** Words of the processors behind Chargebee for declines after which another try with the same card cannot succeed, or would look like fraud. */
const forGood =
  /stolen|lost|pick_?up|fraud|expired|closed|restricted|revo(ked|cation)|invalid_(account|card|number)|incorrect_number|not_supported/i;
const asksPayer = /authenticat|3ds|three_?d/i;

/** Whether a transaction came to nothing, also one that had succeeded before. */
export function isFailed(status: ChargebeeStatus): boolean {
  return status === 'failure' || status === 'timeout' || status === 'voided' || status === 'late_failure';
}

/** Whether nobody knows yet what comes of a transaction: its bank decides, or Chargebee's connection to the processor broke off. */
export function isUndecided(status: ChargebeeStatus): boolean {
  return status === 'in_progress' || status === 'needs_attention';
}

/** The code of a payment that failed: the bank's where it is told, else the processor's, else what Chargebee calls it. */
export function declineCodeOf({ error_detail, error_code, status }: ChargebeeTransaction): string {
  return error_detail?.decline_code || error_code || (status === 'failure' ? 'declined' : status);
}

/** Class of a decline by its code; what is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineClassOfChargebee(code: string): DeclineClass {
  if (asksPayer.test(code)) return 'authenticate';
  return forGood.test(code) ? 'never' : 'retry';
}
