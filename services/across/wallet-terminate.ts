import { refuse } from '../../billing/refusal.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { CheckoutRow } from '../collection/checkout-row.ts';
import { lockPayableInvoices } from '../collection/payment-row.ts';
import { voidInvoice } from '../invoice/issue/invoice-void.ts';
import {
  lockWalletCheckouts,
  readWalletCheckouts,
  supersedeCheckouts,
} from '../payment/checkout/checkout-supersede.ts';
import { readSetting } from '../platform/setting.ts';
import { closeWallet, takeEverything } from '../wallet/wallet-close.ts';
import { lockWallet } from '../wallet/wallet-topup.ts';
import { giveBack } from './wallet-give-back.ts';

/** Objects whose workflows have to be told that a wallet ended, besides its own. */
export interface TerminatedWallet {
  customerId: string;
  testClockId: string | null;
  /** The customer's present. */
  at: string;
  /** Invoices of its purchases that were voided, or of which money goes back. */
  invoiceIds: string[];
  /** Refunds to send. */
  refundIds: string[];
  /** Checkout sessions that ended with it, whose links are to be closed. */
  checkoutIds: string[];
}

/**
 * Closes a wallet. Checkout sessions that buy its credits end. Purchases that wait for a payment fail and their invoices are voided, with what was paid of them on its way back,
 * but for those whose charge is under way, which decides alone. What is left of its credits is taken by one debit: by the policy
 * `forfeit` nothing goes back, by `refund_purchased` the money of bought credits that are not used goes back to where it came from. A
 * negative balance stays. Throws `not_found`, and `invalid_operation` for a closed wallet, and for a purchase that was paid in part
 * outside a gateway. spec: wallets-and-payments §2.9, README decision 40; design: money-in-wallets findings 4, 23
 */
export async function terminateWallet(
  tx: Transaction,
  id: string,
  refundableGateways: readonly string[] = [],
): Promise<TerminatedWallet> {
  const { policy } = await readSetting(tx, 'wallet_termination_policy');
  const givesBack = policy === 'refund_purchased';
  const { sessions, invoiceIds, at } = await lockAll(tx, id, givesBack);
  await supersedeCheckouts(tx, sessions, at);
  const voided = await voidPending(tx, id, invoiceIds, at);
  // Purchases that failed gave the wallet another version.
  const { ledger, wallet } = await lockWallet(tx, id);
  const given = givesBack ? await giveBack(tx, wallet, refundableGateways) : null;
  takeEverything(ledger, wallet, id, {
    description: givesBack ? 'Refunded or forfeited at termination' : 'Forfeited at termination',
    metadata: given?.metadata ?? {},
  });
  await closeWallet(tx, ledger, wallet);
  return {
    customerId: wallet.customerId,
    testClockId: await testClockOf(tx, wallet.customerId),
    at,
    invoiceIds: [...voided, ...(given?.invoiceIds ?? [])],
    refundIds: [...(await refundsOf(tx, voided)), ...(given?.refundIds ?? [])],
    checkoutIds: sessions.map((session) => session.id),
  };
}

const mostTries = 5;

/**
 * Locks what the end of a wallet touches, in the order of all: its checkout sessions, the invoices of its purchases, their payments, the
 * wallet. A purchase that was opened while this waited for the wallet is found when it is read again, and everything is locked anew with
 * it.
 */
async function lockAll(
  tx: Transaction,
  id: string,
  givesBack: boolean,
): Promise<{ sessions: CheckoutRow[]; invoiceIds: string[]; at: string }> {
  const { environmentId } = tx.scope;
  for (let tries = 1; ; tries += 1) {
    await tx.rows('savepoint wallet_ends');
    const sessions = await lockWalletCheckouts(tx, id);
    const ids = await invoicesToLock(tx, id, givesBack);
    await lockPayableInvoices(tx, environmentId, ids);
    await tx.rows(paymentsText, [environmentId, ids, id]);
    const { wallet } = await lockWallet(tx, id);
    guardWallet(wallet, 'terminate');
    const known = new Set([...ids, ...sessions.map((session) => session.id)]);
    const found = [...(await invoicesToLock(tx, id, givesBack)), ...(await readWalletCheckouts(tx, id))];
    if (found.every((one) => known.has(one))) return { sessions, invoiceIds: ids, at: wallet.now };
    if (tries === mostTries)
      throw refuse('service_unavailable', `credits of wallet ${id} are being bought all the time; try again`);
    await tx.rows('rollback to savepoint wallet_ends');
  }
}

const paymentsText = `
select p.id from payment p where p.environment_id = $1 and ((p.destination_type = 'INVOICE' and p.destination_id = any($2))
  or p.purchase_id in (select t.id from wallet_transaction t where t.environment_id = $1 and t.wallet_id = $3))
order by p.id for update of p`;

/** Ids of the invoices of pending purchases, and of paid ones of which credits are left where their money goes back. */
async function invoicesToLock(tx: Transaction, walletId: string, givesBack: boolean): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select i.id from invoice i join wallet_transaction t on t.id = i.purchase_id
     where t.environment_id = $1 and t.wallet_id = $2 and i.environment_id = $1 and i.status = 'published' and (
       (t.transaction_status = 'pending' and i.invoice_status <> 'VOIDED')
       or ($3 and t.transaction_status = 'completed' and t.credits_available > 0 and i.invoice_status = 'FINALIZED'))
     order by i.id`,
    [tx.scope.environmentId, walletId, givesBack],
  );
  return rows.map((row) => row.id);
}

/** Voids what is still to be paid, but for what is being charged; answers what was voided. */
async function voidPending(
  tx: Transaction,
  walletId: string,
  invoiceIds: readonly string[],
  at: string,
): Promise<string[]> {
  const pending = await tx.rows<{ id: string; in_flight: boolean; paid_elsewhere: boolean }>(
    `select i.id, exists (select from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
       and p.payment_status = 'PROCESSING') as in_flight,
       i.amount_paid > coalesce((select sum(p.amount) from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
         and p.succeeded_at is not null and p.payment_gateway is not null), 0) as paid_elsewhere
     from invoice i join wallet_transaction t on t.id = i.purchase_id
     where i.environment_id = $1 and i.id = any($2) and t.transaction_status = 'pending' and i.invoice_status <> 'VOIDED' order by i.id`,
    [tx.scope.environmentId, invoiceIds],
  );
  const voided: string[] = [];
  for (const { id, in_flight, paid_elsewhere } of pending) {
    if (in_flight) continue;
    if (paid_elsewhere) {
      const problem = `invoice ${id} of a purchase of wallet ${walletId} is paid in part, and not through a gateway; void it first, which returns the money`;
      throw refuse('invalid_operation', problem, { context: { invoice_id: id } });
    }
    await voidInvoice(tx, tx.scope, { invoiceId: id, at, metadata: null });
    voided.push(id);
  }
  return voided;
}

/** Refunds of voided invoices that wait to be sent: what was paid of them in part. */
async function refundsOf(tx: Transaction, invoiceIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from refund where environment_id = $1 and invoice_id = any($2) and refund_status = 'PENDING' order by id`,
    [tx.scope.environmentId, invoiceIds],
  );
  return rows.map((row) => row.id);
}

async function testClockOf(tx: Transaction, customerId: string): Promise<string | null> {
  const [row] = await tx.rows<{ test_clock_id: string | null }>(
    'select test_clock_id from customer where environment_id = $1 and id = $2',
    [tx.scope.environmentId, customerId],
  );
  return row?.test_clock_id ?? null;
}
