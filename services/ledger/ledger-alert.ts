import type { Decimal } from '../../billing/money/money.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { allowCalmOfWallets } from '../alert/alert-calm.ts';
import { recordAlerts } from '../alert/alert-stream.ts';
import { markCustomers } from '../usage-mark.ts';
import { percentageBases } from './percentage-base.ts';
import { creditReading, type WatchedWallet, walletAlerts } from './wallet-alert.ts';
import type { LedgerWallet } from './wallet-ledger.ts';

/**
 * Alerts after ledger operations on locked wallets, in their transaction: the balance itself is compared at once, and what usage
 * leaves of it is looked at next, by a mark. After a credit an alarm may end at once. Nothing, not even a statement, where the
 * environment watches nothing. spec: wallets-and-payments §2.16; design: money-in-wallets finding 16
 */
export async function followLedger(
  sql: Sql,
  scope: Scope,
  wallets: readonly LedgerWallet[],
  credited: ReadonlySet<string>,
): Promise<void> {
  const watched = wallets.filter(({ isWatched }) => isWatched);
  if (watched.length === 0) return;
  await allowCalmOfWallets(sql, scope, [...credited]);
  const views = watched
    .map((wallet) => ({ wallet, view: watchedWallet(wallet) }))
    .filter(({ view }) => view.alerts.alert_enabled);
  const { credits } = await percentageBases(
    sql,
    scope,
    views.map(({ view }) => view),
  );
  const readings = views.flatMap(({ wallet, view }) => creditReading(view, wallet, base(credits, view.id)) ?? []);
  await recordAlerts(sql, scope, readings);
  markCustomers(
    sql,
    scope,
    watched.map(({ customerId }) => customerId),
  );
}

const base = (credits: ReadonlyMap<string, Decimal>, id: string): Decimal | null => credits.get(id) ?? null;

function watchedWallet(wallet: LedgerWallet): WatchedWallet {
  const { creditBalance, conversionRate, alertSettings, defaultAlerts } = wallet;
  return {
    ...wallet,
    balance: creditValue(creditBalance, conversionRate),
    alerts: walletAlerts(alertSettings, defaultAlerts),
  };
}
