import type { Database } from '../../db/orm.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { evaluateGrants, grantedSubscriptions } from '../../services/usage/entitlement-grant-evaluate.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { isOutage } from '../failure.ts';
import type { Headroom, LookAgain, UsageEvaluator } from './usage-evaluator.ts';

/**
 * The budgets of entitlements: their records follow usage, and one that is used up is reported. Each subscription is a
 * transaction of its own. spec: catalogue-and-metering §9.2
 */
export function grantEvaluator({
  database,
  readUsage,
}: {
  database: Database;
  readUsage: UsageReader;
}): UsageEvaluator {
  return {
    name: 'entitlement_grant',
    async evaluate(scope, customerIds) {
      const granted = await inSqlTransaction(database, scope, (tx) => grantedSubscriptions(tx, scope, customerIds));
      const answers: (LookAgain | Headroom)[] = customerIds.map((customerId) => ({ customerId, headroom: null }));
      for (const subscription of granted) {
        const { customerId } = subscription;
        try {
          await inSqlTransaction(database, scope, (tx) => evaluateGrants(tx, scope, subscription, readUsage));
          // Budgets are quantities, which no amount of money tells.
          answers.push({ customerId, headroom: '0' });
        } catch (error) {
          if (isOutage(error)) throw error;
          answers.push({ customerId, at: null });
        }
      }
      return answers;
    },
  };
}
