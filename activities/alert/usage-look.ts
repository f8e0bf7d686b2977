import { decimal, decimalString } from '../../billing/money/money.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import {
  type DueMark,
  dueEvaluators,
  dueMarks,
  type Looked,
  type MarkLimits,
  type MarkTime,
  settleLooks,
} from '../../metering/postgres/due-mark.ts';
import { spendFactors } from '../../services/usage/spend-factor.ts';
import { crashPoint } from '../crash-points.ts';
import type { Headroom, LookAgain, UsageEvaluator } from './usage-evaluator.ts';

/**
 * Customers that an evaluator is given in one call. They are few, because whoever may have crossed a threshold waits for the call that is
 * under way, and goes before those that were looked at since. design: money-in-wallets finding 57
 */
const customersACall: MarkLimits = { urgent: 10, routine: 6 };
/** When a customer is looked at again whose evaluation failed. spec: subscriptions-and-invoicing §2.5, five minutes at most */
const againAfterMs = 5 * 60_000;

/** Evaluators of usage and the marks they look at. */
export interface UsageLooks {
  readonly names: readonly string[];
  /** Names of those that have something to look at. */
  due(scope: Scope, time: MarkTime): Promise<string[]>;
  /** Gives an evaluator the customers it is due to look at, a few at a time, and keeps that it looked. Answers how many there were. */
  look(scope: Scope, evaluator: string, time: MarkTime): Promise<number>;
}

/**
 * Looks at marked customers. Killed between a look and keeping it, the same customers are looked at again.
 * design: money-in §1 The trigger, money-in-wallets findings 15, 57
 */
export function usageLooks({
  database,
  evaluators,
}: {
  database: Database;
  evaluators: readonly UsageEvaluator[];
}): UsageLooks {
  const names = evaluators.map(({ name }) => name);
  const byName = new Map(evaluators.map((evaluator) => [evaluator.name, evaluator]));
  return {
    names,
    due: (scope, time) => inSqlTransaction(database, scope, (tx) => dueEvaluators(tx, scope, names, time)),
    async look(scope, name, time) {
      const evaluator = byName.get(name);
      if (!evaluator) return 0;
      const asked = { evaluator: name, time, limits: customersACall };
      const marks = await inSqlTransaction(database, scope, (tx) => dueMarks(tx, scope, asked));
      const customerIds = [...new Set(marks.flatMap(({ customerId }) => customerId ?? []))];
      const answers = customerIds.length === 0 ? [] : await evaluator.evaluate(scope, customerIds);
      crashPoint('evaluateUsage.beforeEffect');
      await inSqlTransaction(database, scope, async (tx) => {
        const bounded = answers.flatMap((one) => ('headroom' in one && one.headroom !== null ? [one.customerId] : []));
        const factors = bounded.length === 0 ? new Map() : await spendFactors(tx, scope, bounded);
        const looked = outcomes(marks, answers, factors);
        await settleLooks(tx, scope, { evaluator: name, evaluators: names }, looked);
        crashPoint('evaluateUsage.beforeCommit');
      });
      return marks.length;
    },
  };
}

function outcomes(
  marks: readonly DueMark[],
  answers: readonly (LookAgain | Headroom)[],
  factors: ReadonlyMap<string, string | null>,
): Looked[] {
  const soon = new Date(Date.now() + againAfterMs).toISOString();
  const byCustomer = Map.groupBy(answers, ({ customerId }) => customerId);
  return marks.map((mark) => {
    if (mark.customerId === null) return { mark, headroom: null, againAt: null };
    const own = byCustomer.get(mark.customerId) ?? [];
    const instants = own.flatMap((answer) => ('at' in answer ? (answer.at ?? soon) : []));
    const headroom = inPrices(leastHeadroom(own), factors.get(mark.customerId));
    return { mark, headroom, againAt: instants.sort()[0] ?? null };
  });
}

/** Least of the headrooms told; nothing where none is told, for all that is known. */
function leastHeadroom(answers: readonly (LookAgain | Headroom)[]): string | null {
  const told = answers.flatMap((answer) => ('headroom' in answer ? [answer.headroom] : []));
  if (told.length === 0) return '0';
  const bounded = told.filter((headroom) => headroom !== null);
  return bounded.reduce<string | null>(
    (least, one) => (least === null || decimal(one).lt(decimal(least)) ? one : least),
    null,
  );
}

/** A headroom in prices of units, where one unit may be charged several times; nothing where that is not bounded. */
function inPrices(headroom: string | null, factor: string | null | undefined): string | null {
  if (headroom === null || factor === undefined) return headroom;
  return factor === null ? '0' : decimalString(decimal(headroom).dividedBy(decimal(factor)).toDecimalPlaces(9, 1));
}
