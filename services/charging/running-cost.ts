import { type Decimal, decimal, roundToCurrency, sum } from '../../billing/money/money.ts';
import { customersNow } from '../../db/clock.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { UsageReader } from '../usage-reader.ts';
import type { ChargeRequest } from './charge-request.ts';
import { type BilledLine, rateCharges } from './subscription-charge.ts';
import { runningPeriodOf } from './subscription-period.ts';
import { readSubscriptions, type SubscriptionRow } from './subscription-row.ts';

/** Cost of a subscription's current period up to its customer's present. */
export interface RunningCost {
  subscription: SubscriptionRow;
  /** The present it was measured at. */
  now: string;
  /** Usage so far, and the fixed charges of the whole period. */
  lines: readonly BilledLine[];
  /** Cost of the usage alone, at the precision of the currency. */
  usageAmount: Decimal;
}

/**
 * Request for the cost of a current period so far, with the subscription's id as its key: usage until `now`, as an invoice of now would
 * bill it, and what the period pays in advance; a trial pays nothing in advance. spec: wallets-and-payments §2.10, §2.16
 */
export function runningRequest(subscription: SubscriptionRow, now: string): ChargeRequest {
  const running = runningPeriodOf(subscription);
  return {
    key: subscription.id,
    subscription,
    reason: 'running',
    elapsed: running,
    next: subscription.status === 'trialing' ? null : running,
    usageUntil: now,
    withoutBilled: true,
  };
}

/** The cost that the lines of a `runningRequest` come to. */
export function runningCost(subscription: SubscriptionRow, now: string, lines: readonly BilledLine[]): RunningCost {
  const usage = lines.filter(({ priceType }) => priceType === 'USAGE');
  const usageAmount = roundToCurrency(sum(usage.map(({ amount }) => decimal(amount))), subscription.currency);
  return { subscription, now, lines, usageAmount };
}

/** Costs of the current periods of subscriptions, by subscription id, each at its customer's present; usage is read once for all of them. */
export async function runningCosts(
  sql: Sql,
  scope: Scope,
  subscriptionIds: readonly string[],
  readUsage: UsageReader,
): Promise<Map<string, RunningCost>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = [...(await readSubscriptions(sql, scope.environmentId, subscriptionIds)).values()];
  const nows = await customersNow(
    sql,
    rows.map(({ customerId }) => customerId),
  );
  const requests = rows.map((row) => runningRequest(row, nows.get(row.customerId)!));
  const lines = await rateCharges(sql, scope, requests, readUsage);
  return new Map(rows.map((row) => [row.id, runningCost(row, nows.get(row.customerId)!, lines.get(row.id) ?? [])]));
}
