import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inTransaction } from '../../db/transaction.ts';
import { measurePayer, type WantedFigures } from '../../services/evaluation/payer-figures.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { isOutage } from '../failure.ts';
import type { Headroom, LookAgain, UsageEvaluator } from './usage-evaluator.ts';
import type { UsageRule, Watched } from './usage-rule.ts';

const maxAtOnce = 2;

/** Needs of evaluating customers by their usage. */
export interface PayerEvaluation {
  database: Database;
  readUsage: UsageReader;
  /** Hears of each failure that is no outage. */
  onFailure: (customerId: string, error: unknown) => void;
}

/**
 * All that follows from usage: each customer is measured and rated once, and every rule about it reads those figures, in the order of the
 * rules. A rule that fails for a customer stops neither the others nor other customers: `onFailure` hears of it, and it is tried again in some minutes.
 * design: money-in-wallets finding 57
 */
export function payerEvaluator(dependencies: PayerEvaluation & { rules: readonly UsageRule[] }): UsageEvaluator {
  return {
    name: 'usage',
    async evaluate(scope, customerIds) {
      const watched: Watched[] = [];
      for (const rule of dependencies.rules) watched.push(...(await rule.watch(scope, customerIds)));
      const ofCustomer = Map.groupBy(watched, ({ customerId }) => customerId);
      const answers: (LookAgain | Headroom)[] = customerIds.map((customerId) => ({ customerId, headroom: null }));
      const waiting = [...ofCustomer];
      const work = async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          answers.push(...(await lookAt(dependencies, scope, ...next)));
        }
      };
      await Promise.all(Array.from({ length: maxAtOnce }, work));
      return answers;
    },
  };
}

async function lookAt(
  { database, readUsage, onFailure }: PayerEvaluation,
  scope: Scope,
  customerId: string,
  watched: readonly Watched[],
): Promise<(LookAgain | Headroom)[]> {
  const answers: (LookAgain | Headroom)[] = [];
  const orLater = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (isOutage(error)) throw error;
      onFailure(customerId, error);
      answers.push({ customerId, at: null });
    }
  };
  await orLater(async () => {
    const wanted = allOf(watched);
    const figures = await inTransaction(database, scope, (tx) => measurePayer(tx, customerId, wanted, readUsage));
    for (const one of watched) {
      await orLater(async () => {
        const { headroom, againAt } = await one.act(figures);
        answers.push({ customerId, headroom });
        if (againAt !== null) answers.push({ customerId, at: againAt });
      });
    }
  });
  return answers;
}

function allOf(watched: readonly Watched[]): WantedFigures {
  return {
    wallets: watched.some(({ wants }) => wants.wallets),
    running: watched.flatMap(({ wants }) => wants.running ?? []),
    thresholds: watched.flatMap(({ wants }) => wants.thresholds ?? []),
  };
}
