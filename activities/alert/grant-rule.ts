import type { Database } from '../../db/orm.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { recordGrants } from '../../services/usage/entitlement-grant.ts';
import { grantedSubscriptions } from '../../services/usage/entitlement-grant-evaluate.ts';
import type { UsageRule } from './usage-rule.ts';

/**
 * The budgets of entitlements: their records follow usage, and one that is used up is reported. Each subscription is a
 * transaction of its own. spec: catalogue-and-metering §9.2
 */
export function grantRule(database: Database): UsageRule {
  return {
    async watch(scope, customerIds) {
      const granted = await inSqlTransaction(database, scope, (tx) => grantedSubscriptions(tx, scope, customerIds));
      return granted.map(({ subscriptionId, customerId }) => ({
        customerId,
        wants: { running: [subscriptionId] },
        async act({ running }) {
          const cost = running.get(subscriptionId);
          if (cost) await inSqlTransaction(database, scope, (tx) => recordGrants(tx, scope, [cost]));
          // Budgets are quantities, which no amount of money tells.
          return { headroom: '0', againAt: null };
        },
      }));
    },
  };
}
