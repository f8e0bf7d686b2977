import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { alertSpending, watchedSpending } from '../../services/evaluation/spend-alert.ts';
import { alertWallets, payersAmong } from '../../services/evaluation/wallet-alert-evaluate.ts';
import { crashPoint } from '../crash-points.ts';
import type { UsageRule, Watched } from './usage-rule.ts';

const nothing = { headroom: null, againAt: null };

/**
 * Alerts on balances and spending: each customer's wallets, and each of its watched subscriptions, are compared with their settings
 * in transactions of their own. spec: wallets-and-payments §2.16
 */
export function alertRule(database: Database): UsageRule {
  const alerting = <T>(scope: Scope, compare: (tx: SqlTransaction) => Promise<T>) =>
    inSqlTransaction(database, scope, async (tx) => {
      const compared = await compare(tx);
      crashPoint('alertUsage.beforeCommit');
      return compared;
    });
  return {
    async watch(scope, customerIds) {
      const { payers, spending } = await inSqlTransaction(database, scope, async (tx) => ({
        payers: await payersAmong(tx, scope, customerIds),
        spending: await watchedSpending(tx, scope, customerIds),
      }));
      return [
        ...payers.map(
          (customerId): Watched => ({
            customerId,
            wants: { wallets: true },
            act: ({ wallets }) => alerting(scope, (tx) => alertWallets(tx, wallets!)),
          }),
        ),
        ...spending.map(
          (watched): Watched => ({
            customerId: watched.customerId,
            wants: { running: [watched.subscriptionId] },
            async act({ running }) {
              const cost = running.get(watched.subscriptionId);
              return cost ? alerting(scope, (tx) => alertSpending(tx, watched.subscriptionId, cost)) : nothing;
            },
          }),
        ),
      ];
    },
  };
}
