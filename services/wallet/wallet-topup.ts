import { randomUUID } from 'node:crypto';
import { refuse } from '../../billing/refusal.ts';
import { type BonusConfig, planBonus, planTopup } from '../../billing/wallet/topup.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { enterCredit, type Ledger, type LedgerEntry, type LedgerWallet, openLedger } from '../ledger/wallet-ledger.ts';
import { takenKey, usedKeys, writeLedger } from '../ledger/wallet-ledger-write.ts';
import { readSetting } from '../platform/setting.ts';

export interface TopupRequest {
  walletId: string;
  reason: string;
  creditsToAdd: string | null;
  amount: string | null;
  expiryDate: string | null;
  priority: number | null;
  idempotencyKey: string | null;
  bonusCredits: string | null;
  bonusExpiryDate: string | null;
  description: string;
  metadata: Record<string, string>;
}

/** A wallet under its lock. Throws `not_found`. */
export async function lockWallet(tx: Transaction, id: string): Promise<{ ledger: Ledger; wallet: LedgerWallet }> {
  const ledger = await openLedger(tx, tx.scope, [id]);
  const wallet = ledger.wallets.get(id);
  if (!wallet) throw missing('wallet', id);
  return { ledger, wallet };
}

/**
 * Adds completed credits and the bonus of a purchase, or, for one that is still to be paid, opens both as pending; returns the
 * entry and its locked wallet. Throws `not_found`, `invalid_operation` for a frozen or closed wallet, `already_exists` for a key that was
 * used, `validation_error` for what may not be added. spec: wallets-and-payments §1.1, §2.3, §2.5, §2.7
 */
export async function topUpWallet(
  tx: Transaction,
  request: TopupRequest,
  { isPending }: { isPending: boolean } = { isPending: false },
): Promise<{ entry: LedgerEntry; wallet: LedgerWallet }> {
  const { ledger, wallet } = await lockWallet(tx, request.walletId);
  refusePastExpiry('expiry_date_utc', request.expiryDate, wallet.now);
  refusePastExpiry('bonus_credits_expiry_date_utc', request.bonusExpiryDate, wallet.now);
  const { creditsToAdd, amount, reason } = request;
  const topup = { creditsToAdd, amount, reason, ...wallet };
  const limits = await topupLimits(tx);
  // Shape and limits are the body's fault, the status the wallet's: the first is told first (§3).
  const planned = planTopup(topup, limits);
  const { now } = wallet;
  const bonus = planBonus({ ...planned, reason, bonusCredits: request.bonusCredits, now }, await bonusConfig(tx));
  guardWallet(wallet, 'top_up');
  const key = await freshKey(tx, request.idempotencyKey);
  const facts = { referenceType: 'EXTERNAL' as const, referenceId: key, description: request.description };
  const entry = enterCredit(ledger, wallet, {
    ...facts,
    reason,
    isPending,
    quantity: planned,
    idempotencyKey: key,
    metadata: request.metadata,
    expiryDate: request.expiryDate,
    priority: request.priority,
  });
  if (!bonus.credits.isZero()) {
    enterCredit(ledger, wallet, {
      ...facts,
      isPending,
      reason: 'PURCHASED_CREDIT_BONUS',
      quantity: { credits: bonus.credits },
      idempotencyKey: `${entry.id}_bonus`,
      expiryDate: request.bonusExpiryDate ?? bonus.expiryDate,
      parentTransactionId: entry.id,
    });
  }
  await writeLedger(ledger);
  return { entry, wallet };
}

/** The key an operation is known by; random where the caller gives none. Throws `already_exists`. spec: wallets-and-payments §0 */
async function freshKey(tx: Transaction, given: string | null): Promise<string> {
  if (given === null) return randomUUID();
  if ((await usedKeys(tx, tx.scope, [given])).has(given)) throw takenKey();
  return given;
}

/** The limits of top-ups in this environment. spec: wallets-and-payments §1.9, README decision 20 */
export async function topupLimits(tx: Transaction) {
  const { free_credit_limit_per_transaction: freeCreditLimit } = await readSetting(tx, 'wallet_topup_config');
  return { freeCreditLimit, minimums: await readSetting(tx, 'min_topup_amount_per_currency') };
}

async function bonusConfig(tx: Transaction): Promise<BonusConfig> {
  return (await readSetting(tx, 'bonus_credits_topup_config')) as BonusConfig;
}

/** Refuses credits that would have expired already. spec: wallets-and-payments §3 rows 4, 10 */
export function refusePastExpiry(field: string, expiryDate: string | null, now: string): void {
  if (expiryDate === null || expiryDate > now) return;
  throw refuse('validation_error', `${field} must be in the future, after ${now}`, {
    fields: { [field]: 'must be in the future' },
  });
}
