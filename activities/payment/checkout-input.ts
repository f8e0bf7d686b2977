import type { SqlTransaction } from '../../db/transaction.ts';
import type { Caller } from '../../workflows/lifecycle.messages.ts';

export interface CheckoutReference {
  tenantId: string;
  environmentId: string;
  sessionId: string;
}

export interface CheckoutMoment extends CheckoutReference {
  /** On the customer's clock. */
  at: string;
  caller?: Caller;
}

/** Runs a transaction in the scope of a session, for its caller where there is one. */
export type InScope = <T>(
  session: CheckoutReference & { caller?: Caller },
  work: (tx: SqlTransaction) => Promise<T>,
) => Promise<T>;
