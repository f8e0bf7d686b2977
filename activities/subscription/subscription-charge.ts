import { coalesce } from '../../db/coalesce.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../services/charging/subscription-snapshot.ts';
import type { RecordedPayment } from '../../services/payment/payment-outcome.ts';
import type { SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { type PaymentAnswer, recordAnswers } from '../payment/payment.ts';

export interface ChargeAnswer extends PaymentAnswer {
  subscriptionId: string;
}

type RecordedCharge = RecordedPayment & { subscription: SubscriptionSnapshot };

export interface ChargeTools {
  inScope<T>(owner: { tenantId: string; environmentId: string }, work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
}

/** The collection of a subscription's invoices as its own workflow does it. spec: wallets-and-payments §2.19 */
export function createSubscriptionCharges(tools: ChargeTools) {
  return {
    /** What the gateway said of a charge the subscription asked for, and how the subscription stands then. */
    recordCharge: coalesce<ChargeAnswer, RecordedCharge>({
      groupOf: ({ environmentId }) => environmentId,
      run: (answers) => recordCharges(tools, answers),
    }),
  };
}

/** Records answers of one environment in one transaction, and reads the subscriptions again. Answered in the order asked. */
export async function recordCharges(
  { inScope, snapshot }: ChargeTools,
  answers: readonly ChargeAnswer[],
): Promise<RecordedCharge[]> {
  crashPoint('recordCharge.beforeEffect');
  const [first] = answers;
  if (!first) return [];
  const results = await inScope(first, async (tx) => {
    const recorded = await recordAnswers(tx, answers);
    const ids = answers.map(({ subscriptionId }) => subscriptionId);
    const attended = await refreshSubscriptions(tx, tx.scope.environmentId, ids);
    const byId = new Map(attended.map((each) => [each.row.id, snapshot(each)]));
    return recorded.map((payment, index) => ({
      ...payment,
      subscription: byId.get(ids[index] as string) as SubscriptionSnapshot,
    }));
  });
  crashPoint('recordCharge.beforeAnswer');
  return results;
}
