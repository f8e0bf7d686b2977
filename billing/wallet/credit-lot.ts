import {
  currencyPrecision,
  type Decimal,
  decimal,
  decimalString,
  greatest,
  least,
  roundDownToCurrency,
  sum,
  zero,
} from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { compareText } from '../text-order.ts';
import { creditScale, creditsOf } from './wallet.ts';

/** A credit with what is left of it. spec: wallets-and-payments §2.4 */
export interface CreditLot {
  id: string;
  /** Its original size. */
  creditAmount: Decimal;
  creditsAvailable: Decimal;
  expiryDate: string | null;
  /** Lower goes first, null last. */
  priority: number | null;
  /** Not for invoices of a period that had ended by then; null or absent: for any. */
  paysFrom?: string | null;
  /** True where tax was paid on it when it was bought: what it pays is not taxed again. */
  isTaxed?: boolean;
  createdAt: string;
  transactionReason: string;
  /** Only completed ones can be used. */
  transactionStatus: string;
  /** Only published ones can be used. */
  status: string;
}

export interface LotUse {
  id: string;
  taken: Decimal;
  left: Decimal;
}

/** Something is left of the completed lot, and it has not expired at the time of reference; the expiry itself still counts. */
export function isUsable(lot: CreditLot, referenceTime: string): boolean {
  if (lot.transactionStatus !== 'completed' || lot.status !== 'published') return false;
  return lot.creditsAvailable.greaterThan(zero) && (lot.expiryDate === null || lot.expiryDate >= referenceTime);
}

/**
 * The lots that may pay an invoice whose period ends at `periodEnd`: all but those that pay only from their grant on, where that
 * came no earlier than the end. spec: wallets-and-payments §2.4, README decision 49
 */
export function lotsPaying<Lot extends Pick<CreditLot, 'paysFrom'>>(lots: readonly Lot[], periodEnd: string): Lot[] {
  return lots.filter(({ paysFrom }) => paysFrom == null || paysFrom < periodEnd);
}

/** The order in which lots are used: priority, expiry, larger original size, age, id. spec: wallets-and-payments §2.4 */
export function inOrderOfUse(lots: readonly CreditLot[]): CreditLot[] {
  return [...lots].sort(
    (a, b) =>
      nullLast(a.priority, b.priority, (x, y) => x - y) ||
      nullLast(a.expiryDate, b.expiryDate, compareText) ||
      b.creditAmount.comparedTo(a.creditAmount) ||
      compareText(a.createdAt, b.createdAt) ||
      compareText(a.id, b.id),
  );
}

function nullLast<Value>(a: Value | null, b: Value | null, order: (a: Value, b: Value) => number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return order(a, b);
}

/** Credits that can be spent: what usable lots hold, never more than the balance, which a debt lowers. spec: wallets-and-payments §2.4 */
export function usableCredits(lots: readonly CreditLot[], creditBalance: Decimal, referenceTime: string): Decimal {
  const held = sum(lots.filter((lot) => isUsable(lot, referenceTime)).map((lot) => lot.creditsAvailable));
  return greatest(least(held, creditBalance), zero);
}

/** What lots hold beyond the balance, left by a manual overdraft. spec: wallets-and-payments §2.2 invariant 3 */
export function debtOf(lots: readonly CreditLot[], creditBalance: Decimal): Decimal {
  const completed = lots.filter((lot) => lot.transactionStatus === 'completed');
  return sum(completed.map((lot) => lot.creditsAvailable)).minus(creditBalance);
}

/** What a new lot can give after the debt before it is paid. spec: wallets-and-payments §2.3 */
export function availableOfNewLot(credits: Decimal, debt: Decimal): Decimal {
  return greatest(credits.minus(debt), zero);
}

/**
 * The lots a debit takes, in order of use, the last one split. Only a debit that may overdraw takes less than it wants. Throws
 * `invalid_operation` when usable credits do not reach. spec: wallets-and-payments §2.4
 */
export function useLots(
  wallet: { lots: readonly CreditLot[]; creditBalance: Decimal },
  debit: { credits: Decimal; referenceTime: string; mayOverdraw: boolean },
): LotUse[] {
  const usable = usableCredits(wallet.lots, wallet.creditBalance, debit.referenceTime);
  if (!debit.mayOverdraw && usable.lessThan(debit.credits)) {
    const details = { credits_available: decimalString(usable), credits_needed: decimalString(debit.credits) };
    throw refuse(
      'invalid_operation',
      `insufficient balance: ${details.credits_needed} credits are needed, ${details.credits_available} can be used`,
      details,
    );
  }
  const usableLots = wallet.lots.filter((lot) => isUsable(lot, debit.referenceTime));
  const uses: LotUse[] = [];
  let needed = debit.credits;
  for (const lot of inOrderOfUse(usableLots)) {
    if (needed.isZero()) break;
    const taken = least(lot.creditsAvailable, needed);
    needed = needed.minus(taken);
    uses.push({ id: lot.id, taken, left: lot.creditsAvailable.minus(taken) });
  }
  return uses;
}

/**
 * The largest amount at the currency's precision whose credits, rounded, are there: what a wallet can pay of an invoice.
 * spec: wallets-and-payments §2.12 step 2
 */
export function walletAllowance(usable: Decimal, conversionRate: Decimal | string, currency: string): Decimal {
  if (!usable.greaterThan(zero)) return zero;
  const halfStep = decimal(`0.${'0'.repeat(creditScale)}5`);
  const highest = roundDownToCurrency(usable.plus(halfStep).times(decimal(conversionRate)), currency);
  if (!creditsOf(highest, conversionRate).greaterThan(usable)) return highest;
  const unit = decimal(1).dividedBy(decimal(10).toPower(currencyPrecision(currency)));
  return greatest(highest.minus(unit), zero);
}

const purchased = ['PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_DIRECT'];

/** Usable lots by where they came from: bought, and everything else. spec: wallets-and-payments §2.10 Breakdown */
export function creditsBreakdown(lots: readonly CreditLot[], now: string): { free: Decimal; purchased: Decimal } {
  const usable = lots.filter((lot) => isUsable(lot, now));
  const [bought, free] = [true, false].map((wanted) =>
    sum(
      usable.filter((lot) => purchased.includes(lot.transactionReason) === wanted).map((lot) => lot.creditsAvailable),
    ),
  );
  return { free: free!, purchased: bought! };
}
