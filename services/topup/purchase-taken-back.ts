import { type Decimal, decimal, sum } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { enterDebitOf, type Ledger, type LedgerWallet } from '../ledger/wallet-ledger.ts';
import { writeLedger } from '../ledger/wallet-ledger-write.ts';
import { pauseByReturn } from './auto-topup-end.ts';
import { lockPurchases, type PurchaseRow } from './wallet-purchase.ts';

/** Money of a paid purchase that leaves. */
export interface TakenBack {
  purchaseId: string;
  /** The part of what was paid that leaves; `paid` is above zero. */
  amount: string;
  paid: string;
  /** The id of the refund, note or dispute: the same takes credits once. */
  key: string;
  description: string;
  /** Refuses more than is left of what was bought, where a person decides; otherwise the balance falls below zero. */
  refusesBeyondLot: boolean;
}

/**
 * Takes the credits of a purchase back with the money that leaves: its lot, then its bonus pro rata, then the balance below zero. A
 * purchase that did not complete has none. A wallet that fills itself is paused. Throws `invalid_operation` for more than is left, where
 * that is refused.
 * spec: wallets-and-payments §2.14; design: money-in-wallets finding 5
 */
export async function takeBackPurchase(sql: Sql, scope: Scope, taken: TakenBack): Promise<void> {
  const { ledger, rows } = await lockPurchases(sql, scope, [taken.purchaseId]);
  const lots = rows.filter((row) => row.transaction_status === 'completed');
  const [lot] = lots;
  if (!lot) return;
  const before = await takenBefore(sql, scope, lot);
  const upTo = (credits: string, amount: Decimal) =>
    decimal(credits).times(amount).dividedBy(taken.paid).toDecimalPlaces(9);
  // Rounded as a whole and not each by itself, so that several parts of the money take what all of it takes.
  const wanted = lots.map((row) => ({
    row,
    credits: upTo(row.credit_amount, before.plus(taken.amount)).minus(upTo(row.credit_amount, before)),
  }));
  if (taken.refusesBeyondLot && wanted[0]!.credits.greaterThan(lot.credits_available)) {
    const left = decimalText(lot.credits_available);
    throw refuse(
      'invalid_operation',
      `only ${left} of the ${decimalText(lot.credit_amount)} credits of this purchase are left; give back the money of those at most`,
      { credits_available: left },
    );
  }
  const wallet = ledger.wallets.get(lot.wallet_id)!;
  enterTakenBack(ledger, wallet, wanted, taken);
  await writeLedger(ledger);
  await pauseByReturn(sql, scope, { walletId: lot.wallet_id, key: taken.key, at: wallet.now });
}

/** Money of a purchase that has left before, as the debits say that took its credits back. */
async function takenBefore(sql: Sql, scope: Scope, lot: PurchaseRow): Promise<Decimal> {
  const [row] = await sql.rows<{ amount: string }>(
    `select coalesce(sum((metadata->>'taken_back_amount')::numeric), 0) as amount from wallet_transaction
     where environment_id = $1 and wallet_id = $2 and type = 'debit' and metadata->>'taken_back' = $3`,
    [scope.environmentId, lot.wallet_id, lot.id],
  );
  return decimal(row!.amount);
}

function enterTakenBack(
  ledger: Ledger,
  wallet: LedgerWallet,
  wanted: readonly { row: PurchaseRow; credits: Decimal }[],
  { key, purchaseId, description, amount }: TakenBack,
): void {
  const uses = wanted
    .map(({ row, credits }) => {
      const available = decimal(row.credits_available);
      const taken = credits.lessThan(available) ? credits : available;
      return { id: row.id, taken, left: available.minus(taken) };
    })
    .filter(({ taken }) => taken.greaterThan(0));
  const credits = sum(wanted.map((each) => each.credits));
  const creditBalanceAfter = wallet.creditBalance.minus(credits);
  // The losses of the lots are written with the entry.
  for (const use of uses) {
    const lot = wallet.lots.find((one) => one.id === use.id);
    if (lot) lot.creditsAvailable = use.left;
  }
  enterDebitOf(
    ledger,
    wallet,
    {
      reason: 'CREDIT_ADJUSTMENT',
      referenceType: 'REQUEST',
      referenceId: key,
      idempotencyKey: key,
      description,
      metadata: { taken_back: purchaseId, taken_back_amount: amount },
      quantity: { credits },
    },
    {
      credits,
      amount: creditValue(credits, wallet.conversionRate),
      creditBalanceAfter,
      balanceAfter: creditValue(creditBalanceAfter, wallet.conversionRate),
      uses,
    },
  );
}
