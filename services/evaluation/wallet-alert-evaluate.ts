import { storedAlerts } from '../../billing/alert/alert-config.ts';
import { alertHeadroom } from '../../billing/alert/alert-headroom.ts';
import { type Decimal, decimal, decimalString, hundred, least } from '../../billing/money/money.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import { Wallet } from '../../db/entities/wallet/wallet.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { ScopedSql, Sql, Transaction } from '../../db/transaction.ts';
import type { AlertReading, AlertStreamKey } from '../alert/alert-reading.ts';
import { type AlertOutcome, closeUnwatched, recordAlerts } from '../alert/alert-stream.ts';
import { percentageBases } from '../ledger/percentage-base.ts';
import {
  creditReading,
  featureReading,
  ongoingReading,
  type Present,
  type WatchedFeature,
  type WatchedWallet,
  walletAlerts,
} from '../ledger/wallet-alert.ts';
import type { WalletBalance } from '../wallet/wallet-balance.ts';
import { tellOngoingBalances } from './ongoing-balance.ts';

/** Those of customers who have wallets to look at, or an alarm to end. */
export async function payersAmong(sql: Sql, scope: Scope, customerIds: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select people.id from unnest($2::text[]) as people(id) where exists (
       select from wallet w where w.environment_id = $1 and w.customer_id = people.id and w.wallet_status = 'active' and w.status = 'published')
       or exists (select from alert_stream t where t.environment_id = $1 and t.customer_id = people.id and t.state <> 'ok')
     order by 1`,
    [scope.environmentId, [...customerIds]],
  );
  return rows.map(({ id }) => id);
}

/** Active wallets of a customer with what is watched of them, and their balances after usage. */
export interface MeasuredWallets {
  customerId: string;
  present: Present;
  wallets: readonly WatchedWallet[];
  /** By wallet id. */
  ongoing: ReadonlyMap<string, WalletBalance>;
  features: readonly WatchedFeature[];
}

/** Wallets of a customer that are watched, in their order. */
export function activeWallets(tx: Transaction, customerId: string): Promise<Wallet[]> {
  const where = { environmentId: tx.scope.environmentId, customerId, walletStatus: 'active', status: 'published' };
  return tx.em.find(Wallet, where, { orderBy: { id: 'asc' } });
}

/** Reads what is watched of a customer's wallets, beside their balances. */
export async function watchedWallets(
  tx: Transaction,
  customerId: string,
  rows: readonly Wallet[],
  balances: ReadonlyMap<string, WalletBalance>,
): Promise<MeasuredWallets> {
  const { environmentId } = tx.scope;
  const [facts] = await tx.rows<{ frozen: boolean; default_alerts: Record<string, unknown> | null }>(
    `select c.test_clock_id is not null as frozen, (select value from setting s where s.environment_id = $1
       and s.key = 'wallet_balance_alert_config' and s.status = 'published') as default_alerts from customer c where c.id = $2`,
    [environmentId, customerId],
  );
  const settings = await tx.rows<{ id: string; entity_id: string }>(
    `select id, entity_id from alert_setting where environment_id = $1 and entity_type = 'wallet' and entity_id = any($2)
     and status = 'published'`,
    [environmentId, rows.map(({ id }) => id)],
  );
  const settingOf = new Map(settings.map((row) => [row.entity_id, row.id]));
  return {
    customerId,
    present: { now: [...balances.values()][0]?.now ?? new Date().toISOString(), isTestClock: facts?.frozen ?? false },
    wallets: rows.map((row) => ({
      ...row,
      balance: decimal(row.balance),
      creditBalance: decimal(row.creditBalance),
      alerts: walletAlerts(row.alertSettings, facts?.default_alerts),
      alertSettingId: settingOf.get(row.id) ?? null,
    })),
    ongoing: balances,
    features: rows.length === 0 ? [] : await watchedFeatures(tx),
  };
}

async function watchedFeatures(tx: ScopedSql): Promise<WatchedFeature[]> {
  const rows = await tx.rows<{ id: string; alert_settings: Record<string, unknown>; setting_id: string | null }>(
    `select f.id, f.alert_settings, a.id as setting_id from feature f left join alert_setting a on a.environment_id = f.environment_id
       and a.entity_type = 'feature' and a.entity_id = f.id and a.status = 'published'
     where f.environment_id = $1 and f.status = 'published' and (f.alert_settings ->> 'alert_enabled')::boolean order by f.id`,
    [tx.scope.environmentId],
  );
  return rows.map((row) => ({
    id: row.id,
    config: storedAlerts(row.alert_settings),
    alertSettingId: row.setting_id,
  }));
}

const balanceAlerts = ['low_credit_balance', 'low_ongoing_balance', 'feature_wallet_balance'] as const;

/**
 * Compares measured balances with their alerts, under the locks of the wallets: the balance itself, what usage leaves of it, and each
 * watched feature, in this order. What moved meanwhile has marked the customer again. spec: wallets-and-payments §2.16
 */
export async function alertWallets(tx: ScopedSql, measured: MeasuredWallets): Promise<AlertOutcome> {
  const { customerId, present, wallets, ongoing } = measured;
  const ids = wallets.map(({ id }) => id);
  const locked = await tx.rows<{ id: string; balance: string; credit_balance: string }>(
    `select id, balance, credit_balance from wallet where environment_id = $1 and id = any($2) and wallet_status = 'active'
     order by id for update`,
    [tx.scope.environmentId, ids],
  );
  const unmoved = new Map(locked.map((row) => [row.id, row]));
  const still = wallets.filter((wallet) => {
    const row = unmoved.get(wallet.id);
    return row && decimal(decimalText(row.credit_balance)).equals(wallet.creditBalance);
  });
  const bases = await percentageBases(tx, tx.scope, wallets);
  const readings: AlertReading[] = [];
  const headrooms: Decimal[] = [];
  for (const wallet of still) {
    const base = bases.credits.get(wallet.id) ?? null;
    const left = ongoing.get(wallet.id)!;
    const ofUsage = ongoingReading(wallet, left, present, base);
    const ofFeatures = measured.features.map((feature) => featureReading(feature, wallet, left, present));
    readings.push(...[creditReading(wallet, present, base), ofUsage].filter((one) => one !== null), ...ofFeatures);
    if (ofUsage) headrooms.push(...moneyHeadroom(wallet, ofUsage, base));
    headrooms.push(...ofFeatures.flatMap(({ config, value }) => alertHeadroom(config, value) ?? []));
  }
  const { againAt } = await recordAlerts(tx, tx.scope, readings);
  const kept = wallets.filter((wallet) => wallet.alerts.alert_enabled && !bases.stale.has(wallet.id));
  await closeUnwatched(tx, [customerId], balanceAlerts, [...readings, ...kept.flatMap(keysOf)]);
  const toldAgainAt = await tellOngoingBalances(tx, still, ongoing, present);
  return {
    againAt: [againAt, toldAgainAt].filter((at) => at !== null).sort()[0] ?? null,
    headroom: headrooms.length === 0 ? null : decimalString(headrooms.reduce(least)),
  };
}

/** Money that usage may cost before the wallet's next level; a percentage of credits has their value. None where no level is left. */
function moneyHeadroom(wallet: WatchedWallet, { config, value }: AlertReading, base: Decimal | null): Decimal[] {
  const headroom = alertHeadroom(config, value);
  if (headroom === null) return [];
  if (config.alert_threshold_type === 'absolute') return [headroom];
  return base ? [creditValue(headroom.times(base).dividedBy(hundred), wallet.conversionRate)] : [];
}

/** Keys of a wallet's streams, also where a percentage of nothing was not compared. */
function keysOf({ id }: WatchedWallet): AlertStreamKey[] {
  return (['low_credit_balance', 'low_ongoing_balance'] as const).map((alertType) => ({
    entityType: 'wallet',
    entityId: id,
    alertType,
    parentEntityId: '',
    settingId: '',
    periodStart: '',
  }));
}
