import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';

/** Money that goes to a customer's prepaid wallet. spec: wallets-and-payments §2.6, subscriptions-and-invoicing §2.8.3, §2.15.7, §2.20 */
export interface PrepaidCredit {
  customerId: string;
  currency: string;
  /** Above zero, at the currency's precision. */
  amount: string;
  /** What it is given for, with the id of that invoice, subscription, credit note or refund. */
  cause: 'invoice_void' | 'proration' | 'credit_note' | 'refund';
  causeId: string;
  description: string;
  /** The same key credits once. */
  idempotencyKey: string;
  at: string;
}

/**
 * Credits the prepaid wallet of the customer in the currency inside the caller's transaction, making the wallet where there is
 * none; the credit does not expire. Throws `not_implemented` as long as there are no wallets.
 */
export async function creditPrepaidWallet(_sql: Sql, _scope: Scope, credit: PrepaidCredit): Promise<void> {
  throw refuse(
    'not_implemented',
    `${credit.amount} ${credit.currency} would go to a prepaid wallet, and this release has no wallets`,
  );
}
