import { type Decimal, greatest, least, roundToCurrency, zero } from '../money/money.ts';
import { type CreditLot, debtOf, inOrderOfUse } from './credit-lot.ts';

export const terminationPolicies = ['forfeit', 'refund_purchased'] as const;
export type TerminationPolicy = (typeof terminationPolicies)[number];

/** Money captured for a bought lot. */
export interface CapturedPurchase {
  /** Id of the lot. */
  purchaseId: string;
  /** Amounts due and paid of its invoice, tax included. */
  amountDue: Decimal;
  amountPaid: Decimal;
  /** Part of `amountPaid` that gateways can still give back. */
  room: Decimal;
  currency: string;
}

/** The end of a wallet that gives back what was bought and not used. */
export interface GivenBack {
  refunds: { purchaseId: string; amount: Decimal }[];
  /** Lots that were bought, and of which something is forfeited because no gateway can give it back. */
  forfeitedPurchases: string[];
}

const bought = ['PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_DIRECT'];

/**
 * Refunds of a wallet's bought credits when it ends: for each lot the unused share of the money captured for it, tax included, as far as
 * gateways can return it. A debt of the wallet is taken from its lots in their order of use first. Free and bonus
 * credits are forfeited, and so is a lot that was paid elsewhere. spec: wallets-and-payments §2.9; design: money-in-wallets finding 23
 */
export function planGivenBack(
  wallet: { lots: readonly CreditLot[]; creditBalance: Decimal },
  captured: readonly CapturedPurchase[],
): GivenBack {
  const paymentOf = new Map(captured.map((one) => [one.purchaseId, one]));
  let owed = greatest(debtOf(wallet.lots, wallet.creditBalance), zero);
  const plan: GivenBack = { refunds: [], forfeitedPurchases: [] };
  for (const lot of inOrderOfUse(wallet.lots)) {
    const taken = least(owed, lot.creditsAvailable);
    owed = owed.minus(taken);
    const unused = lot.creditsAvailable.minus(taken);
    if (!bought.includes(lot.transactionReason) || !unused.greaterThan(zero)) continue;
    const payment = paymentOf.get(lot.id);
    const wanted = payment ? shareOf(lot, unused, payment) : null;
    const amount = wanted && payment ? least(wanted, greatest(payment.room, zero)) : zero;
    if (amount.greaterThan(zero)) plan.refunds.push({ purchaseId: lot.id, amount });
    if (wanted === null || amount.lessThan(wanted)) plan.forfeitedPurchases.push(lot.id);
  }
  return plan;
}

/** The part of what was captured that pays credits nobody used; what was paid beyond the invoice bought none. */
function shareOf(lot: CreditLot, unused: Decimal, { amountDue, amountPaid, currency }: CapturedPurchase): Decimal {
  return roundToCurrency(least(amountPaid, amountDue).times(unused).dividedBy(lot.creditAmount), currency);
}
