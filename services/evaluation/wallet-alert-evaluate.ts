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

/** Active wallets of a customer as they were when its usage was measured, and their balances after it. */
export interface MeasuredWallets {
  customerId: string;
  present: Present;
  wallets: readonly Wallet[];
  /** By wallet id. */
  ongoing: ReadonlyMap<string, WalletBalance>;
}

/** Wallets of a customer that are watched, in their order. */
export function activeWallets(tx: Transaction, customerId: string): Promise<Wallet[]> {
  const where = { environmentId: tx.scope.environmentId, customerId, walletStatus: 'active', status: 'published' };
  return tx.em.find(Wallet, where, { orderBy: { id: 'asc' } });
}

/** Joins a customer's wallets, their balances after usage, and the present at which both were read. */
export async function measuredWallets(
  tx: Transaction,
  customerId: string,
  wallets: readonly Wallet[],
  ongoing: ReadonlyMap<string, WalletBalance>,
): Promise<MeasuredWallets> {
  const [customer] = await tx.rows<{ frozen: boolean }>(
    'select test_clock_id is not null as frozen from customer where id = $1',
    [customerId],
  );
  const now = [...ongoing.values()][0]?.now ?? new Date().toISOString();
  return { customerId, present: { now, isTestClock: customer?.frozen ?? false }, wallets, ongoing };
}

/** Settings in force that are not in a wallet's own row. */
interface AlertSettings {
  /** Stored default of the environment, null where nothing is. */
  environment: Record<string, unknown> | null;
  /** Ids of wallets' settings by wallet id. */
  ofWallets: Readonly<Record<string, string>>;
  features: readonly WatchedFeature[];
}

async function alertSettings(tx: ScopedSql, walletIds: readonly string[]): Promise<AlertSettings> {
  if (walletIds.length === 0) return { environment: null, ofWallets: {}, features: [] };
  const [found] = await tx.rows<{ environment: Record<string, unknown> | null; of_wallets: Record<string, string> }>(
    `select (select value from setting where environment_id = $1 and key = 'wallet_balance_alert_config' and status = 'published')
         as environment,
       (select coalesce(jsonb_object_agg(entity_id, id), '{}') from alert_setting where environment_id = $1 and entity_type = 'wallet'
         and entity_id = any($2) and status = 'published') as of_wallets`,
    [tx.scope.environmentId, walletIds],
  );
  return { environment: found!.environment, ofWallets: found!.of_wallets, features: await watchedFeatures(tx) };
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
 * watched feature, in this order. Settings are read now, not when usage is measured, so that settings that were just replaced raise no
 * alarm. Wallets that moved since the measuring are left out: their customer is marked again. spec: wallets-and-payments §2.16
 */
export async function alertWallets(tx: ScopedSql, measured: MeasuredWallets): Promise<AlertOutcome> {
  const { customerId, present, ongoing } = measured;
  const { wallets, settings } = await lockWallets(tx, measured);
  const still = wallets.filter((wallet) => wallet.isUnmoved);
  const bases = await percentageBases(tx, tx.scope, wallets);
  const readings: AlertReading[] = [];
  const headrooms: Decimal[] = [];
  for (const wallet of still) {
    const base = bases.credits.get(wallet.id) ?? null;
    const left = ongoing.get(wallet.id)!;
    const ofUsage = ongoingReading(wallet, left, present, base);
    const ofFeatures = settings.features.map((feature) => featureReading(feature, wallet, left, present));
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

/** Locks measured wallets and reads their settings. A wallet that was closed, or whose balance changed, has moved. */
async function lockWallets(
  tx: ScopedSql,
  { wallets }: MeasuredWallets,
): Promise<{ wallets: (WatchedWallet & { isUnmoved: boolean })[]; settings: AlertSettings }> {
  const ids = wallets.map(({ id }) => id);
  const rows = await tx.rows<{ id: string; credit_balance: string; alert_settings: Record<string, unknown> | null }>(
    `select id, credit_balance, alert_settings from wallet where environment_id = $1 and id = any($2) and wallet_status = 'active'
     order by id for update`,
    [tx.scope.environmentId, ids],
  );
  const locked = new Map(rows.map((row) => [row.id, row]));
  const settings = await alertSettings(tx, ids);
  const watched = wallets.map((wallet) => {
    const row = locked.get(wallet.id);
    const creditBalance = decimal(wallet.creditBalance);
    return {
      ...wallet,
      balance: decimal(wallet.balance),
      creditBalance,
      alerts: walletAlerts(row ? row.alert_settings : wallet.alertSettings, settings.environment),
      alertSettingId: settings.ofWallets[wallet.id] ?? null,
      isUnmoved: row !== undefined && decimal(decimalText(row.credit_balance)).equals(creditBalance),
    };
  });
  return { wallets: watched, settings };
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
