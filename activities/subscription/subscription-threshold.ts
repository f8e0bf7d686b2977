import type { SqlTransaction } from '../../db/transaction.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { invoiceThreshold } from '../../services/subscription/period/subscription-threshold.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller, Command } from '../../workflows/lifecycle.messages.ts';
import type { SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';

interface SubscriptionReference {
  tenantId: string;
  environmentId: string;
  subscriptionId: string;
}

interface Dependencies {
  inScope<T>(owner: SubscriptionReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
}

/** The intermediate invoice of a subscription whose usage reached its threshold. spec: subscriptions-and-invoicing §2.14.1 */
export function createSubscriptionThreshold({ inScope, readUsage, snapshot }: Dependencies) {
  return {
    invoiceThreshold: ({
      command,
      ...self
    }: SubscriptionReference & { command: Command }): Promise<SubscriptionSnapshot> =>
      inScope(
        self,
        async (tx) => {
          const request = { subscriptionId: self.subscriptionId, at: command.at };
          return snapshot(await invoiceThreshold(tx, tx.scope, request, readUsage));
        },
        command.caller,
      ),
  };
}
