import type { Database } from '../../db/orm.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import type { AlertOutcome } from '../../services/alert/alert-stream.ts';
import { alertSpending, watchedSpending } from '../../services/alert/spend-alert.ts';
import { alertWallets, measureWallets, payersAmong } from '../../services/alert/wallet-alert-evaluate.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { isOutage } from '../failure.ts';
import type { Headroom, LookAgain, UsageEvaluator } from './usage-evaluator.ts';

const maxAtOnce = 2;

/**
 * Alerts on balances and spending: each customer's wallets, and each of its watched subscriptions, are compared with their settings
 * in transactions of their own. spec: wallets-and-payments §2.16
 */
export function alertEvaluator(dependencies: { database: Database; readUsage: UsageReader }): UsageEvaluator {
  const { database, readUsage } = dependencies;
  return {
    name: 'alert',
    async evaluate(scope, customerIds) {
      const { payers, spending } = await inSqlTransaction(database, scope, async (tx) => ({
        payers: await payersAmong(tx, scope, customerIds),
        spending: await watchedSpending(tx, scope, customerIds),
      }));
      const looked = await eachOf([
        ...payers.map((customerId) => ({
          customerId,
          look: async () => {
            const measured = await inTransaction(database, scope, (tx) => measureWallets(tx, customerId, readUsage));
            return inSqlTransaction(database, scope, (tx) => alertWallets(tx, measured));
          },
        })),
        ...spending.map((watched) => ({
          customerId: watched.customerId,
          look: () => inSqlTransaction(database, scope, (tx) => alertSpending(tx, watched, readUsage)),
        })),
      ]);
      return [...customerIds.map((customerId) => ({ customerId, headroom: null })), ...looked];
    },
  };
}

interface Look {
  customerId: string;
  look(): Promise<AlertOutcome>;
}

/** Takes looks, a few at once; what fails for one customer is tried again later and stops no other. */
async function eachOf(looks: Look[]): Promise<(LookAgain | Headroom)[]> {
  const answers: (LookAgain | Headroom)[] = [];
  const work = async () => {
    for (let next = looks.shift(); next; next = looks.shift()) {
      const { customerId } = next;
      try {
        const { againAt, headroom } = await next.look();
        answers.push({ customerId, headroom });
        if (againAt !== null) answers.push({ customerId, at: againAt });
      } catch (error) {
        if (isOutage(error)) throw error;
        answers.push({ customerId, at: null });
      }
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
  return answers;
}
