import { decimal, decimalString, least } from '../../billing/money/money.ts';
import { creditsOf } from '../../billing/wallet/wallet.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { createWallet, lockWalletsOf } from './wallet-create.ts';
import { enterCredit, type Ledger, type LedgerWallet, openLedger } from './wallet-ledger.ts';
import { usedKeys, writeLedger } from './wallet-ledger-write.ts';

/** Money that goes to a customer's prepaid wallet. spec: wallets-and-payments §2.14, subscriptions-and-invoicing §2.8.3, §2.15.7, §2.20 */
export interface PrepaidCredit {
  customerId: string;
  currency: string;
  /** Above zero, at the currency's precision. */
  amount: string;
  /** What it is given for, with the id of that invoice, subscription, credit note or refund. */
  cause: 'invoice_void' | 'proration' | 'credit_note' | 'refund';
  causeId: string;
  description: string;
  /** The same key credits once. */
  idempotencyKey: string;
  at: string;
  /** It gives back credits that were taxed when they were bought. */
  isTaxed?: boolean;
}

const reasonOf = {
  invoice_void: 'INVOICE_VOID_REFUND',
  proration: 'CREDIT_ADJUSTMENT',
  credit_note: 'CREDIT_NOTE',
  refund: 'CREDIT_NOTE',
} as const satisfies Record<PrepaidCredit['cause'], string>;

/** The member of the transaction's metadata that names what it was given for. */
const nameOf = {
  invoice_void: 'invoice_id',
  proration: 'subscription_id',
  credit_note: 'credit_note_id',
  refund: 'refund_id',
} as const satisfies Record<PrepaidCredit['cause'], string>;

/**
 * Credits the prepaid wallet of the customer in the currency inside the caller's transaction, making the wallet where there is
 * none; the credit does not expire. It is worth the amount: converted at the rate at which credits are spent. A frozen wallet
 * takes it too, for the money is the customer's. Repeating a key changes nothing.
 * spec: wallets-and-payments §2.14, README decision 18
 */
export async function creditPrepaidWallet(sql: Sql, scope: Scope, credit: PrepaidCredit): Promise<void> {
  const currency = credit.currency.toLowerCase();
  const { ledger, wallet } = await lockPrepaidWallet(sql, scope, credit.customerId, currency);
  if ((await usedKeys(sql, scope, [credit.idempotencyKey])).size > 0) return;
  enterCredit(ledger, wallet, {
    reason: reasonOf[credit.cause],
    quantity: { credits: creditsOf(credit.amount, wallet.conversionRate), amount: decimal(credit.amount) },
    referenceType: credit.cause === 'invoice_void' ? 'INVOICE' : 'REQUEST',
    referenceId: credit.causeId,
    idempotencyKey: credit.idempotencyKey,
    description: credit.description,
    metadata: { [nameOf[credit.cause]]: credit.causeId },
    isTaxed: credit.isTaxed,
  });
  await writeLedger(ledger);
}

/** An invoice whose prepaid credits go back. */
interface PrepaidInvoice {
  id: string;
  customer_id: string;
  currency: string;
  taxed_credits_applied: string;
}

/**
 * Gives the prepaid credits of an invoice that is void back to the wallet, once: in two lots where a part of them was taxed when it was
 * bought, so that it is not taxed again. Nothing happens where there were none.
 * spec: wallets-and-payments §2.14; design: money-in-wallets finding 6
 */
export async function returnPrepaidCredits(
  sql: Sql,
  scope: Scope,
  invoice: PrepaidInvoice,
  { credits, of, at }: { credits: string; of: string; at: string },
): Promise<void> {
  const taxed = least(decimal(invoice.taxed_credits_applied), decimal(credits));
  const lots = [
    { amount: decimal(credits).minus(taxed), idempotencyKey: `${invoice.id}_prepaid`, isTaxed: false },
    { amount: taxed, idempotencyKey: `${invoice.id}_prepaid_taxed`, isTaxed: true },
  ];
  for (const { amount, idempotencyKey, isTaxed } of lots) {
    if (amount.isZero()) continue;
    await creditPrepaidWallet(sql, scope, {
      customerId: invoice.customer_id,
      currency: invoice.currency,
      amount: decimalString(amount),
      cause: 'invoice_void',
      causeId: invoice.id,
      description: `Prepaid credits of ${of}`,
      idempotencyKey,
      at,
      isTaxed,
    });
  }
}

async function lockPrepaidWallet(
  sql: Sql,
  scope: Scope,
  customerId: string,
  currency: string,
): Promise<{ ledger: Ledger; wallet: LedgerWallet }> {
  let walletId = await prepaidWallet(sql, scope, customerId, currency);
  if (walletId === null) {
    await lockWalletsOf(sql, customerId);
    walletId = await prepaidWallet(sql, scope, customerId, currency);
  }
  const ledger = await openLedger(sql, scope, [walletId ?? (await createWallet(sql, scope, { customerId, currency }))]);
  const [wallet] = ledger.wallets.values();
  // Somebody closed it while this transaction waited for it.
  if (wallet?.walletStatus === 'closed') return lockPrepaidWallet(sql, scope, customerId, currency);
  return { ledger, wallet: wallet! };
}

async function prepaidWallet(sql: Sql, scope: Scope, customerId: string, currency: string): Promise<string | null> {
  const [row] = await sql.rows<{ id: string }>(
    `select id from wallet where environment_id = $1 and customer_id = $2 and currency = $3 and wallet_type = 'PRE_PAID'
       and wallet_status <> 'closed' and status = 'published' order by created_at, id limit 1`,
    [scope.environmentId, customerId, currency],
  );
  return row?.id ?? null;
}
