import type { Decimal } from '../../../billing/money.ts';
import { creditValue } from '../../../billing/wallet.ts';
import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';
import { markCustomers } from '../../usage-mark.ts';
import type { LedgerWallet } from '../wallet/wallet-ledger.ts';
import { recordAlerts } from './alert-stream.ts';
import { creditReading, percentageBases, type WatchedWallet, walletAlerts } from './wallet-alert.ts';

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
  await believeCalm(sql, scope, [...credited]);
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

const longAgo = '1970-01-01T00:00:00.000Z';

/** Lets streams of wallets, and of features in them, take a less severe state without waiting that it lasts. */
export async function believeCalm(sql: Sql, scope: Scope, walletIds: readonly string[]): Promise<void> {
  if (walletIds.length === 0) return;
  await sql.rows(
    `with calmed as (
       select environment_id, entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start from alert_stream
       where environment_id = $1 and state <> 'ok' and (entity_type = 'wallet' and entity_id = any($2)
         or entity_type = 'feature' and parent_entity_id = any($2))
       order by entity_type, entity_id, alert_type, parent_entity_id, setting_id, period_start for update)
     update alert_stream s set calmer_state = coalesce(s.calmer_state, 'ok'), calmer_since = $3 from calmed c
     where (s.environment_id, s.entity_type, s.entity_id, s.alert_type, s.parent_entity_id, s.setting_id, s.period_start)
       = (c.environment_id, c.entity_type, c.entity_id, c.alert_type, c.parent_entity_id, c.setting_id, c.period_start)`,
    [scope.environmentId, walletIds, longAgo],
  );
}
