import { storedAlerts } from '../../../billing/alert/alert-config.ts';
import { refuse } from '../../../billing/refusal.ts';
import { guardWallet } from '../../../billing/wallet.ts';
import type { AuditRecord } from '../../audit.ts';
import { writeAudit } from '../../audit.ts';
import { customerNow } from '../../clock.ts';
import { Wallet } from '../../entities/wallet.ts';
import { writeEvents } from '../../outbox.ts';
import { refuseInvalid } from '../../record.ts';
import type { Transaction } from '../../transaction.ts';
import { keepAlertSetting } from '../alert/alert-setting.ts';
import { closeStreams } from '../alert/alert-stream.ts';
import { voidInvoice } from '../invoice/invoice-void.ts';
import { findWallet } from './wallet.ts';
import { noteLots } from './wallet-agenda.ts';
import { createWallet, takenWallet } from './wallet-create.ts';
import { walletEvent } from './wallet-event.ts';
import { enterDebit, type Ledger, type LedgerWallet } from './wallet-ledger.ts';
import { writeLedger } from './wallet-ledger-write.ts';
import { lockWallet } from './wallet-topup.ts';

/**
 * Closes a wallet: purchases that wait for a payment fail and their invoices are voided, but for those whose charge is under way,
 * which decides alone; what is left of its credits is forfeited by one debit, a negative balance stays. Throws `not_found`, and
 * `invalid_operation` for a closed one. spec: wallets-and-payments §2.9
 */
export async function terminateWallet(tx: Transaction, id: string): Promise<void> {
  await voidPendingPurchases(tx, id);
  const { ledger, wallet } = await lockWallet(tx, id);
  guardWallet(wallet, 'terminate');
  takeEverything(ledger, wallet, id, 'Forfeited at termination');
  await close(tx, ledger, wallet);
}

/** Voids what is still to be paid for a wallet. Invoices are locked before the wallet, as settlements do. spec: §2.9; README decision 40 */
async function voidPendingPurchases(tx: Transaction, walletId: string): Promise<void> {
  const invoices = await tx.rows<{ id: string; in_flight: boolean; is_part_paid: boolean }>(
    `select i.id, exists (select from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
       and p.payment_status = 'PROCESSING') as in_flight, i.amount_paid > 0 as is_part_paid
     from invoice i where i.environment_id = $1 and i.purchase_id in (select t.id from wallet_transaction t
       where t.environment_id = $1 and t.wallet_id = $2 and t.transaction_status = 'pending') and i.invoice_status <> 'VOIDED'
     order by i.id for update of i`,
    [tx.scope.environmentId, walletId],
  );
  const { walletStatus, customerId } = await findWallet(tx, walletId);
  if (walletStatus === 'closed') return;
  const at = await customerNow(tx, customerId);
  for (const { id, in_flight, is_part_paid } of invoices) {
    if (in_flight) continue;
    if (is_part_paid) {
      const problem = `invoice ${id} of a purchase of wallet ${walletId} is paid in part; void it first, which returns the money`;
      throw refuse('invalid_operation', problem, { invoice_id: id });
    }
    await voidInvoice(tx, tx.scope, { invoiceId: id, at, metadata: null });
  }
}

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
  const { customerId, currency, conversionRate, topupConversionRate, creditBalance } = wallet;
  await refuseTaken(tx, { customerId, currency });
  const { metadata, autoTopup, alertSettings } = await findWallet(tx, id);
  const credits = creditBalance;
  takeEverything(ledger, wallet, `${id}_conversion_debit`, 'Converted to a postpaid wallet');
  await close(tx, ledger, wallet);
  const facts = { referenceType: 'REQUEST' as const, referenceId: id, idempotencyKey: `${id}_conversion_credit` };
  const newId = await createWallet(tx, tx.scope, {
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

function takeEverything(ledger: Ledger, wallet: LedgerWallet, idempotencyKey: string, description: string): void {
  if (!wallet.creditBalance.greaterThan(0)) return;
  enterDebit(ledger, wallet, {
    reason: 'WALLET_TERMINATION',
    quantity: { credits: wallet.creditBalance },
    referenceType: 'REQUEST',
    referenceId: wallet.id,
    idempotencyKey,
    description,
  });
}

async function close(tx: Transaction, ledger: Ledger, wallet: LedgerWallet): Promise<void> {
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
  const audit: AuditRecord = { objectType: 'wallet', objectId: id, action: 'terminated', version, occurredAt };
  await writeEvents(tx, tx.scope, [walletEvent('wallet.terminated', await findWallet(tx, id), occurredAt)]);
  await writeAudit(tx, tx.scope, [audit]);
}
