import { storedAlerts } from '../../billing/alert/alert-config.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import { Wallet } from '../../db/entities/wallet/wallet.ts';
import { refuseInvalid } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { keepAlertSetting } from '../alert/alert-setting.ts';
import { closeStreams } from '../alert/alert-stream.ts';
import { noteLots } from '../ledger/wallet-agenda.ts';
import { takenWallet } from '../ledger/wallet-create.ts';
import { walletEvent } from '../ledger/wallet-event.ts';
import { enterDebit, type Ledger, type LedgerWallet } from '../ledger/wallet-ledger.ts';
import { writeLedger } from '../ledger/wallet-ledger-write.ts';
import type { AuditRecord } from '../platform/audit.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { switchAutoTopup } from '../topup/auto-topup-switch.ts';
import { createToppedUpWallet } from './auto-topup/auto-topup-wallet.ts';
import { findWallet } from './wallet.ts';
import { lockWallet } from './wallet-topup.ts';

/**
 * Closes a prepaid wallet and gives its credits, one for one, to a new postpaid wallet of the same terms; returns the new id.
 * Throws `not_found`, `invalid_operation` for a wallet that is not active, not prepaid or in debt, and `already_exists` while the
 * customer has a postpaid wallet of the currency. spec: wallets-and-payments §2.9
 */
export async function convertToPostpaid(tx: Transaction, id: string): Promise<string> {
  const { ledger, wallet } = await lockWallet(tx, id);
  guardWallet(wallet, 'modify');
  if (wallet.creditBalance.isNegative()) {
    throw refuseInvalid('modification_type', `wallet ${id} has a negative balance; top it up first`);
  }
  const [pending] = await tx.rows(
    `select id from wallet_transaction where wallet_id = $1 and transaction_status = 'pending' limit 1`,
    [id],
  );
  if (pending) throw refuseInvalid('modification_type', `purchase ${pending.id} of wallet ${id} waits for its payment`);
  // A postpaid wallet pays invoices with their tax.
  if (wallet.lots.some(({ isTaxed, creditsAvailable }) => isTaxed && creditsAvailable.greaterThan(0))) {
    const problem = `wallet ${id} holds credits that were taxed when they were bought, and a postpaid wallet would pay tax with them again; use them first, or terminate it`;
    throw refuseInvalid('modification_type', problem);
  }
  const { customerId, currency, conversionRate, topupConversionRate, creditBalance } = wallet;
  await refuseTaken(tx, { customerId, currency });
  const { metadata, autoTopup, alertSettings } = await findWallet(tx, id);
  const credits = creditBalance;
  takeEverything(ledger, wallet, `${id}_conversion_debit`, { description: 'Converted to a postpaid wallet' });
  await closeWallet(tx, ledger, wallet);
  const facts = { referenceType: 'REQUEST' as const, referenceId: id, idempotencyKey: `${id}_conversion_credit` };
  const newId = await createToppedUpWallet(tx, tx.scope, {
    customerId,
    currency,
    walletType: 'POST_PAID',
    conversionRate,
    topupConversionRate,
    autoTopup: autoTopup ?? null,
    alertSettings: alertSettings ?? null,
    metadata: { ...metadata, converted_from: id },
    ...(credits.isZero()
      ? {}
      : {
          firstCredit: {
            ...facts,
            reason: 'FREE_CREDIT_GRANT',
            quantity: { credits },
            description: `From wallet ${id}`,
          },
        }),
  });
  await keepAlertSetting(tx, 'wallet', newId, alertSettings ? storedAlerts(alertSettings) : null);
  return newId;
}

async function refuseTaken(tx: Transaction, wallet: { customerId: string; currency: string }): Promise<void> {
  const where = { ...wallet, environmentId: tx.scope.environmentId, walletType: 'POST_PAID', status: 'published' };
  const live = await tx.em.count(Wallet, { ...where, walletStatus: { $ne: 'closed' } });
  if (live > 0) throw takenWallet({ ...wallet, walletType: 'POST_PAID' });
}

/** Enters the debit of all credits of a wallet that ends; nothing where it has none. spec: wallets-and-payments §2.9 */
export function takeEverything(
  ledger: Ledger,
  wallet: LedgerWallet,
  idempotencyKey: string,
  says: { description: string; metadata?: Record<string, string> },
): void {
  if (!wallet.creditBalance.greaterThan(0)) return;
  enterDebit(ledger, wallet, {
    reason: 'WALLET_TERMINATION',
    quantity: { credits: wallet.creditBalance },
    referenceType: 'REQUEST',
    referenceId: wallet.id,
    idempotencyKey,
    ...says,
  });
}

/** Writes what was entered and closes the locked wallet: its alerts end, and nothing of it expires any more. spec: wallets-and-payments §2.1 */
export async function closeWallet(tx: Transaction, ledger: Ledger, wallet: LedgerWallet): Promise<void> {
  await writeLedger(ledger);
  await keepAlertSetting(tx, 'wallet', wallet.id, null);
  await closeStreams(tx, { id: '', entityType: 'wallet', entityId: wallet.id });
  const { id, now: occurredAt } = wallet;
  const version = wallet.version + 1;
  await tx.rows(
    `update wallet set wallet_status = 'closed', version = $3, updated_at = $4, updated_by = $5 where environment_id = $1 and id = $2`,
    [tx.scope.environmentId, id, version, new Date().toISOString(), tx.scope.actor],
  );
  noteLots(tx, tx.scope, [id]);
  await switchAutoTopup(tx, tx.scope, { ...wallet, autoTopup: null });
  const audit: AuditRecord = { objectType: 'wallet', objectId: id, action: 'terminated', version, occurredAt };
  await writeEvents(tx, tx.scope, [walletEvent('wallet.terminated', await findWallet(tx, id), occurredAt)]);
  await writeAudit(tx, tx.scope, [audit]);
}
