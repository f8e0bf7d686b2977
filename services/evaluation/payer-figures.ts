import { customersNow } from '../../db/clock.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type RunningCost, runningCost, runningRequest } from '../charging/running-cost.ts';
import { type BilledLine, rateCharges } from '../charging/subscription-charge.ts';
import { readSubscriptions, type SubscriptionRow } from '../charging/subscription-row.ts';
import { askingOnce } from '../charging/usage-once.ts';
import { restOfThreshold, thresholdRequests } from '../subscription/period/subscription-threshold.ts';
import type { UsageReader } from '../usage-reader.ts';
import { answersForUsage, balancesAfter, paidSubscriptions, type WalletBalance } from '../wallet/wallet-balance.ts';
import { activeWallets, type MeasuredWallets, measuredWallets } from './wallet-alert-evaluate.ts';

/** Figures of a customer's usage that rules read. */
export interface WantedFigures {
  /** Balances of its wallets. */
  wallets: boolean;
  /** Subscriptions whose current period is to be rated. */
  running: readonly string[];
  /** Subscriptions with a threshold of invoices. */
  thresholds: readonly string[];
}

/** A customer's usage at one present: measured and rated once, and read by every rule about it. design: money-in-wallets finding 57 */
export interface PayerFigures {
  now: string;
  /** By subscription id. */
  running: ReadonlyMap<string, RunningCost>;
  /** Rest of each threshold in force by subscription id, 0 where it is reached. */
  thresholds: ReadonlyMap<string, string>;
  /** By wallet id. */
  balances: ReadonlyMap<string, WalletBalance>;
  wallets: MeasuredWallets | null;
}

/**
 * Measures a customer: one reading of usage for everything that is wanted. Each subscription is rated once; one with a threshold once
 * more, from the same reading, since its invoice bills otherwise than the period. Reads only, so that nobody waits while usage is rated.
 * spec: wallets-and-payments §2.10, §2.16; subscriptions-and-invoicing §2.14.1
 */
export async function measurePayer(
  tx: Transaction,
  customerId: string,
  wanted: WantedFigures,
  readUsage: UsageReader,
): Promise<PayerFigures> {
  const { scope } = tx;
  const wallets = wanted.wallets ? await activeWallets(tx, customerId) : [];
  const paid = wallets.some(answersForUsage) ? await paidSubscriptions(tx, customerId) : [];
  const rated = new Set([...paid, ...wanted.running]);
  const rows = [...(await readRows(tx, [...rated, ...wanted.thresholds])).values()];
  const nows = await customersNow(tx, [customerId, ...rows.map((row) => row.customerId)]);
  const now = nows.get(customerId)!;
  const running = rows.filter(({ id }) => rated.has(id)).map((row) => ({ row, now: nows.get(row.customerId)! }));
  const watched = rows.filter(({ id }) => wanted.thresholds.includes(id));
  const thresholds = await thresholdRequests(tx, scope, watched, now);
  const requests = [
    ...running.map((one) => runningRequest(one.row, one.now)),
    ...thresholds.map(({ request }) => request),
  ];
  const lines: Map<string, BilledLine[]> =
    requests.length === 0 ? new Map() : await rateCharges(tx, scope, requests, askingOnce(readUsage));
  const linesOf = (key: string) => lines.get(key) ?? [];
  const costs = new Map(running.map((one) => [one.row.id, runningCost(one.row, one.now, linesOf(one.row.id))]));
  const balances = await balancesAfter(tx, customerId, wallets, costs);
  return {
    now,
    running: costs,
    thresholds: new Map(
      thresholds.map((asked) => [asked.request.subscription.id, restOfThreshold(asked, linesOf(asked.request.key))]),
    ),
    balances,
    wallets: wanted.wallets ? await measuredWallets(tx, customerId, wallets, balances) : null,
  };
}

async function readRows(tx: Transaction, ids: readonly string[]): Promise<Map<string, SubscriptionRow>> {
  return ids.length === 0 ? new Map() : readSubscriptions(tx, tx.scope.environmentId, [...new Set(ids)]);
}
