import type { Client } from '@temporalio/client';
import { alertRule } from './alert/alert-rule.ts';
import { grantRule } from './alert/grant-rule.ts';
import { type PayerEvaluation, payerEvaluator } from './alert/payer-evaluator.ts';
import { thresholdRule } from './alert/threshold-rule.ts';
import type { UsageEvaluator } from './alert/usage-evaluator.ts';
import { topUpRule } from './wallet/top-up-rule.ts';

/**
 * Everything that follows from usage, in the order in which it acts on what was measured of a customer. Thresholds come last: what they
 * invoice begins a new period, of which nothing was measured yet. design: money-in-wallets finding 57
 */
export function usageEvaluator(dependencies: PayerEvaluation & { temporal: Client }): UsageEvaluator {
  const { database } = dependencies;
  return payerEvaluator({
    ...dependencies,
    rules: [grantRule(database), alertRule(database), topUpRule(dependencies), thresholdRule(dependencies)],
  });
}
