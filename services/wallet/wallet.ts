import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import { alertConfig, type GivenAlertConfig, storedAlerts } from '../../billing/alert/alert-config.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import { customerNow } from '../../db/clock.ts';
import { type AutoTopup, Wallet } from '../../db/entities/wallet/wallet.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { keepAlertSetting } from '../alert/alert-setting.ts';
import { noteLots } from '../ledger/wallet-agenda.ts';
import { walletEvent } from '../ledger/wallet-event.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { noAutoTopup } from '../topup/auto-topup-read.ts';
import { switchAutoTopup, withCollection } from '../topup/auto-topup-switch.ts';
import { markCustomers } from '../usage-mark.ts';

/** A published wallet as it is now. Throws `not_found`. spec: wallets-and-payments §1.1 */
export async function findWallet(tx: Transaction, id: string): Promise<Wallet> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const wallet = await tx.em.findOne(Wallet, where, { refresh: true });
  if (!wallet) throw missing('wallet', id);
  return wallet;
}

/** Published wallets by id. */
export async function walletsById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Wallet>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.em.find(Wallet, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(rows.map((row) => [row.id, row]));
}

export interface WalletFilters {
  walletIds?: readonly string[] | null | undefined;
  customerId?: string | null | undefined;
  /** `wallet_status`. */
  status?: string | null | undefined;
  alertEnabled?: boolean | null | undefined;
}

const wallets: ListDefinition<Wallet> = {
  entity: Wallet,
  columns: {
    customer_id: 'string',
    name: 'string',
    currency: 'string',
    wallet_status: 'string',
    wallet_type: 'string',
    balance: 'decimal',
    credit_balance: 'decimal',
    conversion_rate: 'decimal',
    topup_conversion_rate: 'decimal',
    alert_state: 'string',
  },
};

/** One page of wallets, closed ones included. spec: wallets-and-payments §1.1 */
export function listWallets(tx: Transaction, query: ListQuery, filters: WalletFilters): Promise<ListPage<Wallet>> {
  const enabled = { alertSettings: { alert_enabled: true } };
  return listPage(tx, wallets, query, {
    ...anyOf('id', filters.walletIds),
    ...(filters.customerId ? { customerId: filters.customerId } : {}),
    ...(filters.status ? { walletStatus: filters.status } : {}),
    ...(filters.alertEnabled === true ? enabled : {}),
    ...(filters.alertEnabled === false ? { $or: [{ alertSettings: null }, disabled(null), disabled(false)] } : {}),
  });
}

/** The published wallets of a customer, the oldest first. */
export function walletsOfCustomer(tx: Transaction, customerId: string): Promise<Wallet[]> {
  const where = { customerId, environmentId: tx.scope.environmentId, status: 'published' };
  return tx.em.find(Wallet, where, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}

/** What a caller may change; what is absent stays. Rates, currency, type and customer may only be repeated. */
export interface WalletChange {
  name?: string | undefined;
  description?: string | undefined;
  metadata?: Record<string, string> | undefined;
  autoTopup?: Partial<AutoTopup> | undefined;
  /** Replaces what is watched; a threshold type that is left out stays. */
  alertSettings?: GivenAlertConfig | undefined;
  allowedPriceTypes?: string[] | undefined;
  walletStatus?: 'active' | 'frozen' | undefined;
  fixed: Readonly<Record<string, string | undefined>>;
}

/**
 * Changes a wallet, freezes it or makes it active again, and tells `wallet.updated` when something changed. Throws `not_found`,
 * `invalid_operation` for a closed wallet, `validation_error` for another rate, currency, type or customer.
 * spec: wallets-and-payments §1.1 PUT, §2.1
 */
export async function updateWallet(tx: Transaction, id: string, change: WalletChange): Promise<Wallet> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const wallet = await tx.em.findOne(Wallet, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!wallet) throw missing('wallet', id);
  guardWallet(wallet, 'update');
  refuseFixed(wallet, change.fixed);
  const before = changeable(wallet);
  const alerts = change.alertSettings && walletAlertsOf(wallet, change.alertSettings);
  const terms = await autoTopupOf(tx, wallet, change.autoTopup);
  const after = { ...before, ...definedOf(change), ...terms, ...alerts };
  if (alerts && !alerts.alertSettings.alert_enabled) after.alertState = 'ok';
  if (isDeepStrictEqual(before, after)) return wallet;
  Object.assign(wallet, after);
  wallet.version += 1;
  touch(tx, wallet);
  await tx.em.flush();
  if (alerts) await keepAlertSetting(tx, 'wallet', id, alerts.alertSettings);
  if (after.walletStatus !== before.walletStatus) noteLots(tx, tx.scope, [id]);
  if (change.autoTopup || change.walletStatus) await switchAutoTopup(tx, tx.scope, wallet);
  markCustomers(tx, tx.scope, [wallet.customerId]);
  const occurredAt = await customerNow(tx, wallet.customerId);
  await writeEvents(tx, tx.scope, [walletEvent('wallet.updated', wallet, occurredAt)]);
  const { version } = wallet;
  await writeAudit(tx, tx.scope, [{ objectType: 'wallet', objectId: id, action: 'updated', version, occurredAt }]);
  return wallet;
}

/** Alert settings of a change, as they are stored. */
function walletAlertsOf(wallet: Wallet, given: GivenAlertConfig) {
  const stored = wallet.alertSettings ? storedAlerts(wallet.alertSettings) : null;
  return { alertSettings: { ...alertConfig('wallet', given, { path: 'alert_settings.', stored }) } };
}

function disabled(alertEnabled: false | null) {
  return { alertSettings: { alert_enabled: alertEnabled } };
}

function changeable(wallet: Wallet) {
  const { name, description, metadata, autoTopup, alertSettings, alertState, allowedPriceTypes, walletStatus } = wallet;
  return { name, description, metadata, autoTopup, alertSettings, alertState, allowedPriceTypes, walletStatus };
}

function definedOf({
  fixed: _fixed,
  autoTopup: _autoTopup,
  alertSettings: _alerts,
  ...change
}: WalletChange): Partial<Wallet> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Terms of top-ups merged member by member. Throws `validation_error` for terms that are on and not whole. spec: §1.1 PUT */
async function autoTopupOf(
  tx: Transaction,
  wallet: Wallet,
  change: Partial<AutoTopup> | undefined,
): Promise<{ autoTopup?: AutoTopup }> {
  if (!change) return {};
  const merged: AutoTopup = { ...noAutoTopup, ...wallet.autoTopup, ...change };
  for (const member of ['amount', 'threshold'] as const) {
    if (!merged.enabled || merged[member] !== null) continue;
    throw badField(`auto_topup.${member}`, 'is required while auto_topup is enabled');
  }
  return { autoTopup: await withCollection(tx, tx.scope, wallet.customerId, merged) };
}

function refuseFixed(wallet: Wallet, fixed: WalletChange['fixed']): void {
  const current: Record<string, string> = {
    customer_id: wallet.customerId,
    currency: wallet.currency,
    wallet_type: wallet.walletType,
    conversion_rate: wallet.conversionRate,
    topup_conversion_rate: wallet.topupConversionRate,
  };
  for (const [field, value] of Object.entries(fixed)) {
    if (value === undefined || value === current[field]) continue;
    throw badField(field, `is ${current[field]} and cannot be changed; create another wallet`);
  }
}
