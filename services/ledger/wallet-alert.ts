import { type AlertConfig, storedAlerts } from '../../billing/alert/alert-config.ts';
import { type AlertState, alertEvent, percentageOf } from '../../billing/alert/alert-state.ts';
import { type Decimal, decimalString } from '../../billing/money/money.ts';
import type { AlertReading } from '../alert/alert-reading.ts';
import type { BalanceEvent } from '../platform/event-catalogue/wallet-events.ts';
import { settingDefaults } from '../platform/setting-defaults.ts';
import { toldWallet, type WalletFacts } from './wallet-event.ts';

type BalanceAlertType = BalanceEvent['payload']['alert']['alert_type'];

/** A wallet and what is watched of it. Balances are decimals; those in credits end with `CreditBalance`. */
export interface WatchedWallet extends Omit<WalletFacts, 'balance' | 'creditBalance'> {
  balance: Decimal;
  creditBalance: Decimal;
  /** Its own settings, else the default of the environment, enabled or not. */
  alerts: AlertConfig;
  alertSettingId: string | null;
}

/** A feature whose alerts are switched on. */
export interface WatchedFeature {
  id: string;
  config: AlertConfig;
  alertSettingId: string | null;
}

/** Present of the customer whose wallets these are, and whether it stands on a test clock. */
export interface Present {
  now: string;
  isTestClock: boolean;
}

/** Balance after the usage under way and what is owed. */
export interface OngoingBalance {
  balance: Decimal;
  creditBalance: Decimal;
}

/**
 * Settings in force for a wallet: its own, else the default of the environment as stored, which is null where nothing is.
 * spec: wallets-and-payments §1.9, §2.16
 */
export function walletAlerts(
  own: Record<string, unknown> | null | undefined,
  environment: Record<string, unknown> | null | undefined,
): AlertConfig {
  return storedAlerts(own ?? { ...settingDefaults.wallet_balance_alert_config, ...environment });
}

/** True where a change of the wallet's balance can change the state of an alert. A frozen or closed wallet is not watched. */
export function isWatched({ alerts, walletStatus }: Pick<WatchedWallet, 'alerts' | 'walletStatus'>): boolean {
  return alerts.alert_enabled && walletStatus === 'active';
}

/**
 * Alert of the balance itself, after a ledger operation: the currency value, or the percentage of the credits since `base`.
 * Null where nothing is to be compared. spec: wallets-and-payments §2.16 low_credit_balance
 */
export function creditReading(wallet: WatchedWallet, present: Present, base: Decimal | null): AlertReading | null {
  if (!isWatched(wallet)) return null;
  const value = measured(wallet, { balance: wallet.balance, creditBalance: wallet.creditBalance }, base);
  return value && walletReading(wallet, 'low_credit_balance', value, present, wallet);
}

/** Alert of the balance after usage and what is owed. spec: wallets-and-payments §2.16 low_ongoing_balance */
export function ongoingReading(
  wallet: WatchedWallet,
  ongoing: OngoingBalance,
  present: Present,
  base: Decimal | null,
): AlertReading | null {
  if (!isWatched(wallet)) return null;
  const value = measured(wallet, ongoing, base);
  return value && walletReading(wallet, 'low_ongoing_balance', value, present, ongoing);
}

function measured({ alerts }: WatchedWallet, balances: OngoingBalance, base: Decimal | null): Decimal | null {
  if (alerts.alert_threshold_type === 'absolute') return balances.balance;
  return base && percentageOf(balances.creditBalance, base);
}

function walletReading(
  wallet: WatchedWallet,
  alertType: BalanceAlertType,
  value: Decimal,
  { now, isTestClock }: Present,
  shown: OngoingBalance,
): AlertReading {
  return {
    entityType: 'wallet',
    entityId: wallet.id,
    alertType,
    parentEntityType: null,
    parentEntityId: '',
    settingId: '',
    periodStart: '',
    customerId: wallet.customerId,
    alertSettingId: wallet.alertSettingId,
    config: wallet.alerts,
    value,
    now,
    isCalmAtOnce: isTestClock,
    event: (state) => balanceEvent(alertEvent(alertType, state), wallet, shown, { state, alertType, now }),
  };
}

/** Event of a balance: a snapshot, whatever the wallet is by the time it is sent. spec: wallets-and-payments §2.24 */
export function balanceEvent(
  name: BalanceEvent['name'],
  wallet: WatchedWallet,
  shown: OngoingBalance,
  { state, alertType, now }: { state: AlertState; alertType: BalanceAlertType; now: string },
): BalanceEvent {
  const facts = {
    ...wallet,
    balance: decimalString(wallet.balance),
    creditBalance: decimalString(wallet.creditBalance),
  };
  const alert = {
    state,
    current_balance: jsonNumber(shown.balance),
    credit_balance: jsonNumber(shown.creditBalance),
    alert_type: alertType,
    alert_settings: wallet.alerts,
  };
  return {
    name,
    entityType: 'wallet',
    entityId: wallet.id,
    payload: { wallet: toldWallet(facts), alert },
    occurredAt: now,
  };
}

/** Alert of a feature in one wallet. spec: wallets-and-payments §2.16 feature_wallet_balance */
export function featureReading(
  feature: WatchedFeature,
  wallet: WatchedWallet,
  ongoing: OngoingBalance,
  { now, isTestClock }: Present,
): AlertReading {
  return {
    entityType: 'feature',
    entityId: feature.id,
    alertType: 'feature_wallet_balance',
    parentEntityType: 'wallet',
    parentEntityId: wallet.id,
    settingId: '',
    periodStart: '',
    customerId: wallet.customerId,
    alertSettingId: feature.alertSettingId,
    config: feature.config,
    value: ongoing.balance,
    now,
    isCalmAtOnce: isTestClock,
    event: (state) => {
      const alert = {
        alert_type: 'feature_wallet_balance' as const,
        alert_status: state,
        feature_id: feature.id,
        wallet_id: wallet.id,
        customer_id: wallet.customerId,
        current_balance: decimalString(ongoing.balance),
        credit_balance: decimalString(ongoing.creditBalance),
      };
      return {
        name: 'feature.wallet_balance.alert',
        entityType: 'feature',
        entityId: feature.id,
        payload: { alert, ...alert },
        occurredAt: now,
      };
    },
  };
}

/** The two numbers of a balance alert are JSON numbers with all their digits, typed as what their reader has. design: money-in-wallets finding 44 */
const jsonNumber = (value: Decimal) => JSON.rawJSON(decimalString(value)) as unknown as number;
