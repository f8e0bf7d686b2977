import type { Client } from '@temporalio/client';
import type { Database } from '../db/orm.ts';
import type { UsageReader } from '../services/usage-reader.ts';
import { alertRule } from './alert/alert-rule.ts';
import { grantRule } from './alert/grant-rule.ts';
import { payerEvaluator } from './alert/payer-evaluator.ts';
import { thresholdRule } from './alert/threshold-rule.ts';
import type { UsageEvaluator } from './alert/usage-evaluator.ts';
import { topUpRule } from './wallet/top-up-rule.ts';

/**
 * Everything that follows from usage, in the order in which it acts on what was measured of a customer. Thresholds come last: what they
 * invoice begins a new period, of which nothing was measured yet. design: money-in-wallets finding 57
 */
export function usageEvaluator(dependencies: {
  database: Database;
  readUsage: UsageReader;
  temporal: Client;
}): UsageEvaluator {
  const { database } = dependencies;
  return payerEvaluator({
    ...dependencies,
    rules: [grantRule(database), alertRule(database), topUpRule(dependencies), thresholdRule(dependencies)],
  });
}
