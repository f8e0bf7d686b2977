import { type Decimal, decimal, decimalString } from '../../billing/money/money.ts';
import { type CreditLot, type LotUse, lotsPaying } from '../../billing/wallet/credit-lot.ts';
import { type EntryAmounts, planCredit, planDebit, type Quantity } from '../../billing/wallet/wallet-ledger.ts';
import { realNow } from '../../db/clock.ts';
import type { ConsumedLot } from '../../db/entities/wallet/wallet-transaction.ts';
import { newId } from '../../db/id.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { ToldEntry } from './wallet-entry-event.ts';

/** A locked wallet as its ledger sees it. */
export interface LedgerWallet {
  id: string;
  customerId: string;
  currency: string;
  walletStatus: string;
  walletType: string;
  creditBalance: Decimal;
  conversionRate: string;
  topupConversionRate: string;
  version: number;
  createdAt: string;
  name: string;
  /** Its own alert settings as stored. */
  alertSettings: Record<string, unknown> | null;
  alertSettingId: string | null;
  /** Alert settings of wallets without their own; null where none are stored. */
  defaultAlerts: Record<string, unknown> | null;
  /** True where balances of the environment are watched. */
  isWatched: boolean;
  /** The customer's now, read once after the lock. */
  now: string;
  isTestClock: boolean;
  /** Completed credits that are not used up. */
  lots: CreditLot[];
}

/** Wallets locked by a transaction, and the entries it will write. */
export interface Ledger {
  readonly sql: Sql;
  readonly scope: Scope;
  readonly wallets: ReadonlyMap<string, LedgerWallet>;
  readonly entries: LedgerEntry[];
  readonly usedLots: Map<string, Decimal>;
}

/** What an entry says whichever way the credits go. */
export interface EntryFacts {
  reason: string;
  quantity: Quantity;
  referenceType: 'PAYMENT' | 'EXTERNAL' | 'REQUEST' | 'INVOICE';
  referenceId: string;
  idempotencyKey: string;
  description?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Request that asked for it, where several share a transaction. */
  requestId?: string | undefined;
}

export interface CreditFacts extends EntryFacts {
  expiryDate?: string | null | undefined;
  priority?: number | null | undefined;
  /** Not for invoices of a period that had ended by then; null: for any. */
  paysFrom?: string | null | undefined;
  /** True where its credits were taxed before, so that what they pay is not taxed again. */
  isTaxed?: boolean | undefined;
  parentTransactionId?: string | undefined;
  /** A purchase that is still to be paid: it moves nothing until then. */
  isPending?: boolean | undefined;
}

export interface DebitFacts extends EntryFacts {
  /** End of the invoice's period, where it has one: lots that expired before it or pay only from later on are not used. */
  referenceTime?: string | undefined;
}

/** A row of `wallet_transaction` before it is written. */
export interface LedgerEntry extends ToldEntry {
  position: number;
  createdAt: string;
  /** For the audit alone. */
  requestId?: string | undefined;
  [member: string]: unknown;
}

const lockText = `
select w.id, w.customer_id, w.currency, w.wallet_status, w.wallet_type, w.credit_balance, w.conversion_rate, w.topup_conversion_rate,
  w.version, w.created_at, w.name, w.alert_settings, (select clock.frozen_time from customer c
    join test_clock clock on clock.id = c.test_clock_id where c.id = w.customer_id) as frozen_time,
  (select s.value from setting s where s.environment_id = $1 and s.key = 'wallet_balance_alert_config' and s.status = 'published')
    as default_alerts,
  (select a.id from alert_setting a where a.environment_id = $1 and a.entity_type = 'wallet' and a.entity_id = w.id
    and a.status = 'published') as alert_setting_id,
  exists (select from usage.watched_environment u join environment e on e.number = u.env where e.id = $1) as is_watched
from wallet w where w.environment_id = $1 and w.id = any($2) and w.status = 'published' order by w.id for update of w`;
const lockFreeText = `${lockText} skip locked`;

// A statement of its own: one that locks sees what its locks waited for, but not what else those transactions wrote.
const lotsText = `
select id, wallet_id, credit_amount, credits_available, expiry_date, priority, pays_from, is_taxed, created_at, transaction_reason, transaction_status, status
from wallet_transaction where wallet_id = any($1) and credits_available > 0`;

/**
 * Locks wallets by ascending id and reads what is left of their lots: two statements for any number. With `leaves: 'locked'` it waits
 * for nobody and leaves out wallets that another transaction has. spec: wallets-and-payments §2.3
 */
export async function openLedger(
  sql: Sql,
  scope: Scope,
  walletIds: readonly string[],
  { leaves }: { leaves?: 'locked' } = {},
): Promise<Ledger> {
  const rows = await sql.rows(leaves === 'locked' ? lockFreeText : lockText, [scope.environmentId, walletIds]);
  const lots = rows.length === 0 ? [] : await sql.rows(lotsText, [rows.map((row) => row.id)]);
  const lotsOf = Map.groupBy(lots, (lot) => lot.wallet_id as string);
  const now = realNow();
  const wallets = rows.map((row): [string, LedgerWallet] => [
    row.id,
    {
      id: row.id,
      customerId: row.customer_id,
      currency: row.currency,
      walletStatus: row.wallet_status,
      walletType: row.wallet_type,
      creditBalance: decimal(row.credit_balance),
      conversionRate: decimalText(row.conversion_rate),
      topupConversionRate: decimalText(row.topup_conversion_rate),
      version: row.version,
      createdAt: instantText(row.created_at),
      name: row.name,
      alertSettings: row.alert_settings,
      alertSettingId: row.alert_setting_id,
      defaultAlerts: row.default_alerts,
      isWatched: row.is_watched,
      now: row.frozen_time ? instantText(row.frozen_time) : now,
      isTestClock: row.frozen_time !== null,
      lots: (lotsOf.get(row.id) ?? []).map(lotOf),
    },
  ]);
  return { sql, scope, wallets: new Map(wallets), entries: [], usedLots: new Map() };
}

/** A lot from its row. */
export function lotOf(row: Record<string, unknown>): CreditLot {
  return {
    id: row.id as string,
    creditAmount: decimal(row.credit_amount as string),
    creditsAvailable: decimal(row.credits_available as string),
    expiryDate: row.expiry_date ? instantText(row.expiry_date as string) : null,
    priority: row.priority as number | null,
    paysFrom: row.pays_from ? instantText(row.pays_from as string) : null,
    isTaxed: row.is_taxed === true,
    createdAt: instantText(row.created_at as string),
    transactionReason: row.transaction_reason as string,
    transactionStatus: row.transaction_status as string,
    status: row.status as string,
  };
}

/**
 * Enters a completed credit, whose lot first pays what the wallet owes, or a pending one, which leaves the balance as it is.
 * spec: wallets-and-payments §2.3, §2.6
 */
export function enterCredit(ledger: Ledger, wallet: LedgerWallet, facts: CreditFacts): LedgerEntry {
  const completed = planCredit(wallet, facts.quantity);
  const isPending = facts.isPending ?? false;
  const plan = isPending
    ? { ...completed, creditBalanceAfter: wallet.creditBalance, available: decimal('0') }
    : completed;
  const lot = {
    creditsAvailable: plan.available,
    expiryDate: facts.expiryDate ?? null,
    priority: facts.priority ?? null,
    paysFrom: facts.paysFrom ?? null,
    isTaxed: facts.isTaxed ?? false,
    transactionStatus: isPending ? 'pending' : 'completed',
    status: 'published',
  };
  const entry = enter(ledger, wallet, facts, plan, {
    ...lot,
    type: 'credit',
    topupConversionRate: wallet.topupConversionRate,
    creditsAvailable: decimalString(plan.available),
    parentTransactionId: facts.parentTransactionId ?? null,
    metadata: { ...facts.metadata },
  });
  if (isPending) return entry;
  const { id, createdAt, transactionReason } = entry;
  wallet.lots.push({ ...lot, id, createdAt, transactionReason, creditAmount: plan.credits });
  return entry;
}

/**
 * Enters a completed debit with the lots it takes; one of no credits is null and writes nothing. Throws `invalid_operation`
 * "insufficient balance". spec: wallets-and-payments §2.3, §2.4
 */
export function enterDebit(ledger: Ledger, wallet: LedgerWallet, facts: DebitFacts): LedgerEntry | null {
  const { referenceTime } = facts;
  const lots = referenceTime === undefined ? wallet.lots : lotsPaying(wallet.lots, referenceTime);
  const plan = planDebit(
    { ...wallet, lots },
    {
      ...facts.quantity,
      reason: facts.reason,
      referenceTime: referenceTime ?? wallet.now,
    },
  );
  return plan.credits.isZero() ? null : enterDebitOf(ledger, wallet, facts, plan);
}

/** Enters a completed debit as it was planned, with the lots it takes. spec: wallets-and-payments §2.4 */
export function enterDebitOf(
  ledger: Ledger,
  wallet: LedgerWallet,
  facts: EntryFacts,
  plan: EntryAmounts & { uses: LotUse[] },
): LedgerEntry {
  for (const use of plan.uses) ledger.usedLots.set(use.id, use.left);
  for (const lot of wallet.lots) lot.creditsAvailable = ledger.usedLots.get(lot.id) ?? lot.creditsAvailable;
  const taken = plan.uses.filter((use) => !use.taken.isZero());
  const used = taken.map((use) => use.id);
  return enter(ledger, wallet, facts, plan, {
    type: 'debit',
    conversionRate: wallet.conversionRate,
    creditsAvailable: '0',
    consumedLots: taken.map((use): ConsumedLot => ({ id: use.id, credits: decimalString(use.taken) })),
    metadata: { ...facts.metadata, ...(used.length === 0 ? {} : { consumed_credit_tx_ids: used.join(',') }) },
  });
}

function enter(
  ledger: Ledger,
  wallet: LedgerWallet,
  facts: EntryFacts,
  plan: EntryAmounts,
  columns: Record<string, unknown> & Pick<ToldEntry, 'type' | 'metadata'>,
): LedgerEntry {
  const before = wallet.creditBalance;
  wallet.creditBalance = plan.creditBalanceAfter;
  wallet.version += 1;
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = ledger.scope;
  const entry: LedgerEntry = {
    id: newId('wtxn'),
    tenantId,
    environmentId,
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    updatedBy: actor,
    walletId: wallet.id,
    customerId: wallet.customerId,
    currency: wallet.currency,
    position: wallet.version,
    creditAmount: decimalString(plan.credits),
    amount: decimalString(plan.amount),
    creditBalanceBefore: decimalString(before),
    creditBalanceAfter: decimalString(plan.creditBalanceAfter),
    transactionStatus: 'completed',
    transactionReason: facts.reason,
    referenceType: facts.referenceType,
    referenceId: facts.referenceId,
    idempotencyKey: facts.idempotencyKey,
    description: facts.description ?? '',
    occurredAt: wallet.now,
    isTaxed: false,
    requestId: facts.requestId,
    ...columns,
  };
  ledger.entries.push(entry);
  return entry;
}
