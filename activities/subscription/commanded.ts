import type { Caller } from '../../workflows/lifecycle.messages.ts';
import { crashPoint } from '../crash-points.ts';

type InTransaction<Owner, Tx> = <T>(owner: Owner, work: (tx: Tx) => Promise<T>, caller?: Caller) => Promise<T>;

/** Transactions of what people ask of a subscription, with the moments at which a fault test kills them. design: quality.md Faults */
export function commanded<Owner, Tx>(inTransaction: InTransaction<Owner, Tx>): InTransaction<Owner, Tx> {
  return async (owner, work, caller) => {
    crashPoint('commandSubscription.beforeEffect');
    const result = await inTransaction(
      owner,
      async (tx: Tx) => {
        const done = await work(tx);
        crashPoint('commandSubscription.beforeCommit');
        return done;
      },
      caller,
    );
    crashPoint('commandSubscription.beforeAnswer');
    return result;
  };
}
