import { type Decimal, least, zero } from '../money/money.ts';
import { availableOfNewLot, type CreditLot, debtOf, inOrderOfUse, type LotUse, useLots } from './credit-lot.ts';
import { creditsOf, creditValue, roundCredits } from './wallet.ts';

/** What an entry of the ledger depends on. */
export interface WalletState {
  creditBalance: Decimal;
  conversionRate: string;
  topupConversionRate: string;
  lots: readonly CreditLot[];
}

/** Credits, or an amount they are reckoned from; where both are given each is as the caller says. */
export type Quantity = { credits: Decimal; amount?: Decimal | undefined } | { credits?: undefined; amount: Decimal };

/** What an entry comes to. */
export interface EntryAmounts {
  credits: Decimal;
  amount: Decimal;
  creditBalanceAfter: Decimal;
  balanceAfter: Decimal;
}

const wholeWallet = 'WALLET_TERMINATION';
const mayOverdraw = 'MANUAL_BALANCE_DEBIT';

/** A completed credit: the lot first pays what the wallet owes. spec: wallets-and-payments §2.2, §2.3 */
export function planCredit(wallet: WalletState, quantity: Quantity): EntryAmounts & { available: Decimal } {
  const { topupConversionRate: rate } = wallet;
  const credits = quantity.credits ? roundCredits(quantity.credits) : creditsOf(quantity.amount, rate);
  const creditBalanceAfter = wallet.creditBalance.plus(credits);
  return {
    credits,
    amount: quantity.amount ?? creditValue(credits, rate),
    creditBalanceAfter,
    balanceAfter: creditValue(creditBalanceAfter, wallet.conversionRate),
    available: availableOfNewLot(credits, debtOf(wallet.lots, wallet.creditBalance)),
  };
}

/**
 * A completed debit with the lots it takes: in order of use, of lots that had not expired at the time of reference; the end of a
 * wallet takes all that is left of all lots, and only a debit by hand overdraws. Throws `invalid_operation` "insufficient
 * balance". spec: wallets-and-payments §2.4
 */
export function planDebit(
  wallet: WalletState,
  debit: Quantity & { reason: string; referenceTime: string },
): EntryAmounts & { uses: LotUse[] } {
  const { conversionRate: rate } = wallet;
  const credits = debit.credits ? roundCredits(debit.credits) : creditsOf(debit.amount, rate);
  const uses =
    debit.reason === wholeWallet
      ? useAllLots(wallet.lots, credits)
      : useLots(wallet, { credits, referenceTime: debit.referenceTime, mayOverdraw: debit.reason === mayOverdraw });
  const creditBalanceAfter = wallet.creditBalance.minus(credits);
  return {
    credits,
    amount: debit.amount ?? creditValue(credits, rate),
    creditBalanceAfter,
    balanceAfter: creditValue(creditBalanceAfter, rate),
    uses,
  };
}

/**
 * The debit of a lot that expired: exactly the credits that are left of it, also where that takes the balance below zero.
 * spec: wallets-and-payments §2.8, §2.2 invariant 7
 */
export function planExpiry(
  wallet: Pick<WalletState, 'creditBalance' | 'conversionRate'>,
  { id, creditsAvailable: credits }: Pick<CreditLot, 'id' | 'creditsAvailable'>,
): EntryAmounts & { uses: LotUse[] } {
  const creditBalanceAfter = wallet.creditBalance.minus(credits);
  return {
    credits,
    amount: creditValue(credits, wallet.conversionRate),
    creditBalanceAfter,
    balanceAfter: creditValue(creditBalanceAfter, wallet.conversionRate),
    uses: [{ id, taken: credits, left: zero }],
  };
}

/** All lots end, whatever their expiry. What they hold beyond the balance has been owed already and is taken from none. */
function useAllLots(lots: readonly CreditLot[], credits: Decimal): LotUse[] {
  let needed = credits;
  return inOrderOfUse(lots).map(({ id, creditsAvailable }) => {
    const taken = least(creditsAvailable, needed);
    needed = needed.minus(taken);
    return { id, taken, left: zero };
  });
}
