import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A change that the workflow of a wallet's top-ups has to know of. */
export interface ChangedTopUp {
  id: string;
  customerId: string;
  testClockId: string | null;
  /** The customer's present. */
  at: string;
  change: 'settingsChanged' | 'methodChanged' | 'paymentSettled';
  /** True where nothing is left to wait for: a workflow that runs ends, and none is begun. */
  isOver: boolean;
}

type Owner = Pick<Scope, 'tenantId' | 'environmentId'>;

let tell: (owner: Owner, changed: ChangedTopUp) => void = () => undefined;

/** Sets whom this process tells of changed top-ups, once the change has committed. One a process; the next replaces it. */
export function onTopUpsChanged(told: (owner: Owner, changed: ChangedTopUp) => void): void {
  tell = told;
}

/** Has the workflow of a wallet's top-ups told of a change when the transaction has committed; nobody waits for that. */
export function noteTopUp(sql: Sql, owner: Owner, changed: ChangedTopUp): void {
  sql.end?.afterCommit.push(() => tell(owner, changed));
}
